"""What OpenAI refuses, in its own words: the checks that Chat Completions and Responses share.

https://platform.openai.com/docs/api-reference/chat/create
https://platform.openai.com/docs/api-reference/responses/create
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolwire.proxy.demo import schema_rules
from toolwire.proxy.demo.neutral import Json
from toolwire.proxy.demo.refusals import Refusal

LONGEST_NAME = 64
_NAME = re.compile(r"^[a-zA-Z0-9_-]+\Z")
_KINDS: dict[str, tuple[type, ...]] = {
    "a string": (str,),
    "an object": (dict,),
    "an array": (list,),
    "a boolean": (bool,),
    "an integer": (int,),
    "a decimal": (int, float),
}
_RANGES = {  # parameter: (kind, lowest, highest)
    "temperature": ("a decimal", 0, 2),
    "top_p": ("a decimal", 0, 1),
    "presence_penalty": ("a decimal", -2, 2),
    "frequency_penalty": ("a decimal", -2, 2),
    "top_logprobs": ("an integer", 0, 20),
}
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_NOT_AT_TOP = ("oneOf", "anyOf", "allOf", "enum", "not")
_NOT_AT_TOP_LISTED = "/".join(f"'{keyword}'" for keyword in _NOT_AT_TOP)


def invalid(message: str, param: str | None = None, code: str | None = None) -> Refusal:
    """A 400 in OpenAI's shape."""
    return Refusal(message, param=param, code=code)


def given(holder: Json, key: str, *kinds: str, at: str = "", required: bool = False) -> Any:
    """The value of a field, None when it is absent or null.

    Raises Refusal when a required one is absent and when the value is of another kind.
    """
    param = at + key
    if holder.get(key) is None:
        if required:
            raise invalid(
                f"Missing required parameter: '{param}'.", param, "missing_required_parameter"
            )
        return None
    if not any(_is_a(holder[key], kind) for kind in kinds):
        raise invalid(
            f"Invalid type for '{param}': expected {' or '.join(kinds)}, but got"
            f" {kind_of(holder[key])} instead.",
            param,
            "invalid_type",
        )
    return holder[key]


def one_of(value: Any, allowed: tuple[str, ...], param: str) -> None:
    """Refuses a word that is not in the list."""
    if value not in allowed:
        listed = ", ".join(f"'{word}'" for word in allowed)
        raise invalid(
            f"Invalid value: '{value}'. Supported values are: {listed}.", param, "invalid_value"
        )


def objects(
    holder: Json, key: str, at: str = "", *, may_be_empty: bool = False, required: bool = False
) -> list[Json]:
    """The objects of an array field, an empty list when it is absent and need not be there."""
    items = given(holder, key, "an array", at=at, required=required)
    if items == [] and not may_be_empty:
        raise invalid(
            f"Invalid '{at}{key}': empty array. Expected an array with minimum length 1, but got an"
            " empty array instead.",
            at + key,
            "empty_array",
        )
    for i, item in enumerate(items or ()):
        if not isinstance(item, dict):
            raise invalid(
                f"Invalid type for '{at}{key}[{i}]': expected an object, but got {kind_of(item)}"
                " instead.",
                f"{at}{key}[{i}]",
                "invalid_type",
            )
    return items or []


def no_longer(value: str, limit: int, param: str) -> None:
    """Refuses a string over the limit, in characters."""
    if len(value) > limit:
        raise invalid(
            f"Invalid '{param}': string too long. Expected a string with maximum length {limit},"
            f" but got a string with length {len(value)} instead.",
            param,
            "string_above_max_length",
        )


def within(value: float | None, kind: str, low: float, high: float, param: str) -> None:
    """Refuses a number out of range, both ends allowed."""
    if value is None or low <= value <= high:
        return
    side, bound = ("below minimum", f">= {low}") if value < low else ("above maximum", f"<= {high}")
    word = kind.split()[1]
    raise invalid(
        f"Invalid '{param}': {word} {side} value. Expected a value {bound}, but got {value}"
        " instead.",
        param,
        f"{word}_below_min_value" if value < low else f"{word}_above_max_value",
    )


def check_ranges(body: Json) -> None:
    """Refuses sampling parameters out of range."""
    for param, (kind, low, high) in _RANGES.items():
        within(given(body, param, kind), kind, low, high, param)


def check_effort(holder: Json, key: str, at: str = "") -> None:
    """Refuses an effort of reasoning that the vendor does not know."""
    if (effort := given(holder, key, "a string", at=at)) is not None:
        one_of(effort, _EFFORTS, at + key)


def check_name(holder: Json, at: str) -> str:
    """The name of a tool; refuses none, too long ones and characters that are not allowed."""
    name: str = given(holder, "name", "a string", at=at, required=True)
    no_longer(name, LONGEST_NAME, at + "name")
    if not _NAME.match(name):
        raise invalid(
            f"Invalid '{at}name': string does not match pattern. Expected a string that matches the"
            " pattern '^[a-zA-Z0-9_-]+$'.",
            at + "name",
            "invalid_value",
        )
    return name


def check_function(function: Json, at: str) -> None:
    """Refuses a function whose name or schema the vendor does not take."""
    name = check_name(function, at)
    given(function, "description", "a string", at=at)
    given(function, "strict", "a boolean", at=at)
    schema = given(function, "parameters", "an object", at=at)
    if schema is None:
        return
    problem = _function_schema_fault(schema, strict=bool(function.get("strict")))
    if problem:
        param, code = at + "parameters", "invalid_function_parameters"
        raise invalid(f"Invalid schema for function '{name}': {problem}", param, code)


def check_json_format(form: Json, at: str) -> None:
    """Refuses a structured output format without a name, or whose schema the vendor refuses."""
    name = check_name(form, at)
    schema = given(form, "schema", "an object", at=at, required=True)
    problem = schema_rules.fault(schema)
    if problem is None and form.get("strict"):
        problem = schema_rules.strict_fault(schema)
    if problem:
        param, code = at.removesuffix("."), "invalid_json_schema"
        raise invalid(f"Invalid schema for response_format '{name}': {problem}", param, code)


def unknown_keys(body: Mapping[str, Any], known: frozenset[str]) -> list[str]:
    """The parameters that the vendor does not know."""
    return [key for key in body if key not in known]


def kind_of(value: Any) -> str:
    """What a JSON value is, with its article."""
    return "null" if value is None else next(kind for kind in _KINDS if _is_a(value, kind))


def _function_schema_fault(schema: Json, strict: bool) -> str | None:
    if (kind := schema.get("type")) != "object":
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."
    if any(keyword in schema for keyword in _NOT_AT_TOP):
        return f"schema must have type 'object' and not have {_NOT_AT_TOP_LISTED} at the top level."
    return schema_rules.fault(schema) or (schema_rules.strict_fault(schema) if strict else None)


def _is_a(value: Any, kind: str) -> bool:
    return isinstance(value, _KINDS[kind]) and (kind == "a boolean" or not isinstance(value, bool))
