"""Schemas of structured output: here every object must say that it has no further properties.

OpenAI demands that of strict schemas alone.
https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
"""

from __future__ import annotations

from typing import Any

_NAMED = ("properties", "$defs", "definitions")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE = ("items", "additionalProperties")


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """``schema`` with ``additionalProperties: false`` in each object that says nothing about them;
    the very ``schema`` where none was silent, or where it is nested deeper than can be followed."""
    try:
        found: dict[str, Any] = _closed(schema)
    except RecursionError:
        return schema
    return found


def _closed(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    changed: dict[str, Any] = {}
    for name in schema.keys() & {*_NAMED, *_LISTED, *_SINGLE}:
        value = schema[name]
        inner = _inside(name, value)
        if inner is not value:
            changed[name] = inner
    if "additionalProperties" not in schema and _is_object(schema):
        changed["additionalProperties"] = False
    return {**schema, **changed} if changed else schema


def _inside(name: str, value: Any) -> Any:
    if name in _NAMED and isinstance(value, dict):
        inner = {key: _closed(each) for key, each in value.items()}
        return inner if any(inner[key] is not each for key, each in value.items()) else value
    if name in _LISTED and isinstance(value, list):
        found = [_closed(each) for each in value]
        return found if any(a is not b for a, b in zip(found, value, strict=True)) else value
    return _closed(value) if name in _SINGLE else value


def _is_object(schema: dict[str, Any]) -> bool:
    kind = schema.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind)
