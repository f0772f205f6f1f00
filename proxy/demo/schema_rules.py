"""What is wrong with a JSON Schema: that it is none, or that it breaks the rules of `strict`.

https://json-schema.org/draft/2020-12/schema
https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_DEEPEST = 100
_NUMBER = (int, float)
_KEYWORDS: dict[str, tuple[type, ...]] = {
    "type": (str, list),
    "properties": (dict,),
    "required": (list,),
    "items": (dict, bool, list),
    "prefixItems": (list,),
    "additionalProperties": (dict, bool),
    "enum": (list,),
    "examples": (list,),
    "anyOf": (list,),
    "oneOf": (list,),
    "allOf": (list,),
    "$ref": (str,),
    "$defs": (dict,),
    "definitions": (dict,),
    "minimum": _NUMBER,
    "maximum": _NUMBER,
    "exclusiveMinimum": (*_NUMBER, bool),
    "exclusiveMaximum": (*_NUMBER, bool),
    "multipleOf": _NUMBER,
    "minLength": _NUMBER,
    "maxLength": _NUMBER,
    "minItems": _NUMBER,
    "maxItems": _NUMBER,
    "minProperties": _NUMBER,
    "format": (str,),
}
_MAPS_OF_SCHEMAS = ("properties", "$defs", "definitions")
_LISTS_OF_SCHEMAS = ("prefixItems", "anyOf", "oneOf", "allOf")


def fault(schema: Any) -> str | None:
    """The first place where this is no JSON Schema, in words; None when it is one."""
    for path, part in _parts(schema):
        if len(path) > _DEEPEST:
            return f"{_shown(path)}: nested deeper than {_DEEPEST} levels"
        if not isinstance(part, dict):
            if isinstance(part, bool):
                continue
            return f"{_shown(path)}: {_json_name(part)} is not a schema"
        for keyword, kinds in _KEYWORDS.items():
            if keyword in part and not _is_one_of(part[keyword], kinds):
                where, what = _shown((*path, keyword)), _json_name(part[keyword])
                return f"{where}: {what} is not allowed here"
        if part.get("multipleOf", 1) <= 0:
            return f"{_shown((*path, 'multipleOf'))}: must be greater than 0"
    return None


def strict_fault(schema: Any) -> str | None:
    """The first object of the schema that `strict` refuses, in OpenAI's words; None without one."""
    for path, part in _parts(schema):
        if not isinstance(part, dict) or not ("properties" in part or part.get("type") == "object"):
            continue
        must = f"In context={path!r}, %s is required to be supplied and to be %s."
        if part.get("additionalProperties") is not False:
            return must % ("'additionalProperties'", "false")
        required = part.get("required", ())
        missing = [key for key in part.get("properties", ()) if key not in required]
        if missing:
            every = "an array including every key in properties"
            return must % ("'required'", every) + f" Missing '{missing[0]}'."
    return None


def _parts(schema: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The schema and all schemas in it, outermost first, each with its path."""
    yield path, schema
    if not isinstance(schema, dict) or len(path) > _DEEPEST:
        return
    for keyword in _MAPS_OF_SCHEMAS:
        if isinstance(inner := schema.get(keyword), dict):
            for key, part in inner.items():
                yield from _parts(part, (*path, keyword, key))
    for keyword in _LISTS_OF_SCHEMAS:
        if isinstance(inner := schema.get(keyword), list):
            for i, part in enumerate(inner):
                yield from _parts(part, (*path, keyword, str(i)))
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            yield from _parts(schema[keyword], (*path, keyword))


def _is_one_of(value: Any, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def _json_name(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"}
    return "null" if value is None else names.get(type(value), "a number")


def _shown(path: tuple[str, ...]) -> str:
    return "/".join(("#", *path))
