"""Types and values in words that an operator knows: what was expected, and what stands there."""

from __future__ import annotations

import json
from types import UnionType
from typing import Annotated, Literal, Union, get_args, get_origin

from msgspec import Meta, Struct

from toolwire.config.problems import listed
from toolwire.config.secret import Secret

_WORDS: dict[object, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    Secret: "a string",
    list: "a list",
    dict: "a table",
}
_LONGEST_SHOWN = 60


def describe(type_: object) -> str:
    """`a whole number from 1 to 65535`; empty for a type that has no words here."""
    origin, arguments = get_origin(type_), get_args(type_)
    if origin is Annotated:
        metas = [meta for meta in arguments[1:] if isinstance(meta, Meta)]
        kind = next((meta.description for meta in metas if meta.description), None)
        return kind or describe(arguments[0]) + "".join(map(_bounds, metas))
    if origin is Literal:
        return f"one of {listed(map(str, arguments))}"
    if origin in (list, tuple) and arguments:
        return f"a list of {_plural(arguments[0])}"
    if origin in (Union, UnionType):
        choices = [describe(choice) for choice in arguments if choice is not type(None)]
        return " or ".join(choices) if all(choices) else ""
    if isinstance(type_, type) and issubclass(type_, Struct):
        return "a table"
    return _WORDS.get(origin or type_, "")


def shown(raw: object, type_: object = None) -> str:
    """A value as it stands in the file, cut short; of a secret only what kind of value it is."""
    if _is_secret(type_) or not isinstance(raw, str | int | float):
        return _WORDS.get(type(raw), f"a {type(raw).__name__}")
    text = json.dumps(raw, ensure_ascii=False)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


def _bounds(meta: Meta) -> str:
    low, high = meta.ge, meta.le
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if meta.gt is not None:
        return f" greater than {meta.gt}"
    if low is not None:
        return f" of at least {low}"
    return f" of the form {meta.pattern}" if meta.pattern else ""


def _plural(type_: object) -> str:
    words = describe(type_) or "values"
    return {"a string": "strings", "a table": "tables"}.get(words, words)


def _is_secret(type_: object) -> bool:
    return type_ is Secret or any(map(_is_secret, get_args(type_)))
