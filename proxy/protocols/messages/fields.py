"""Fields of a client's document, by name and type; ``InvalidRequest`` says which one is wrong."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, TypeVar

from msgspec import Raw

from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols.json import type_name

T = TypeVar("T")

_WORDS: dict[type, str] = {
    str: "a string",
    int: "an integer",
    bool: "a boolean",
    list: "an array",
    dict: "an object",
}


def required(fields: dict[str, Any], name: str, kind: type[T], at: str = "") -> T:
    """The value of a field that must be there.  ``at`` is the path of ``fields``, "" at the top."""
    if name not in fields:
        raise invalid(_path(at, name), f"is missing; it must be {_WORDS[kind]}")
    return of_type(fields[name], kind, _path(at, name))


def optional(fields: dict[str, Any], name: str, kind: type[T], at: str = "") -> T | None:
    """The value of a field that may be absent or null."""
    value = fields.get(name)
    # a JSON parser gives these very types, so that a boolean is no integer here
    if value is None or type(value) is kind:
        return value
    return of_type(value, kind, _path(at, name))


def optional_number(fields: dict[str, Any], name: str) -> Any:
    """An integer or a fraction, as it was written; Raw where it is beyond all bounds."""
    value = fields.get(name)
    if value is None or type(value) in (int, Decimal, float, Raw):
        return value
    raise wrong_type(value, "a number", name)


def of_type(value: Any, kind: type[T], path: str) -> T:
    """``value`` itself, if it is of that JSON type."""
    if type(value) is kind:
        return value
    raise wrong_type(value, _WORDS[kind], path)


def wrong_type(value: Any, expected: str, path: str) -> InvalidRequest:
    return invalid(path, f"must be {expected}, not {type_name(value)}")


def invalid(path: str, fault: str) -> InvalidRequest:
    return InvalidRequest(f"{path}: {fault}", param=path)


def _path(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name
