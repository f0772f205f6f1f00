"""Fields of a client's document: each is of its type, or the client is told which one is not.

A JSON parser gives exact types, so a boolean is never taken for an integer here.  Paths are put
together only where there is something to tell.
"""

from __future__ import annotations

from collections.abc import Collection
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
_NUMBERS = (int, Decimal, float, Raw)


def required(document: dict[str, Any], name: str, kind: type[T], at: str = "") -> T:
    """The value of a field that must be there.  ``at`` is the path of ``document``, "" at the top.

    Raises ``InvalidRequest`` with the path of the field where it is missing or of another type.
    """
    value = document.get(name)
    if type(value) is kind:
        return value
    path = path_of(at, name)
    if name not in document:
        raise invalid(path, f"is missing; it must be {_WORDS[kind]}")
    raise wrong_type(value, _WORDS[kind], path)


def optional(document: dict[str, Any], name: str, kind: type[T], at: str = "") -> T | None:
    """The value of a field that may be absent or null."""
    value = document.get(name)
    if value is None or type(value) is kind:
        return value
    raise wrong_type(value, _WORDS[kind], path_of(at, name))


def optional_number(document: dict[str, Any], name: str) -> Any:
    """An integer or a fraction, as it was written; Raw where it is beyond all bounds."""
    value = document.get(name)
    if value is None or type(value) in _NUMBERS:
        return value
    raise wrong_type(value, "a number", name)


def objects(document: dict[str, Any], name: str, at: str = "") -> list[tuple[str, dict[str, Any]]]:
    """The objects of an array, each with its path; [] where it is absent or null."""
    value = document.get(name)
    if value is None:
        return []
    path = path_of(at, name)
    found = []
    for place, entry in enumerate(of_type(value, list, path)):
        where = f"{path}[{place}]"
        if type(entry) is not dict:
            raise wrong_type(entry, "an object", where)
        found.append((where, entry))
    return found


def of_type(value: Any, kind: type[T], path: str) -> T:
    """``value`` itself, if it is of that JSON type."""
    if type(value) is kind:
        return value
    raise wrong_type(value, _WORDS[kind], path)


def one_of(document: dict[str, Any], name: str, allowed: Collection[str], at: str = "") -> str:
    """A string that must be there, and among ``allowed``."""
    value = document.get(name)
    if type(value) is str and value in allowed:
        return value
    word = required(document, name, str, at)
    raise invalid(path_of(at, name), f"must be one of {', '.join(allowed)}, not {word!r}")


def unknown(document: dict[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """The fields that are none of ``known`` and neither null nor false nor empty."""
    if known.issuperset(document):
        return {}
    return {name: value for name, value in document.items() if name not in known and value}


def wrong_type(value: Any, expected: str, path: str) -> InvalidRequest:
    """What to raise for a value that is not ``expected``, in words."""
    return invalid(path, f"must be {expected}, not {type_name(value)}")


def invalid(path: str, fault: str) -> InvalidRequest:
    """What to raise for a field; ``fault`` is the rest of a sentence that begins with its path."""
    return InvalidRequest(f"{path} {fault}", param=path)


def path_of(at: str, name: str) -> str:
    """``name`` inside ``at``; the document itself is ""."""
    return f"{at}.{name}" if at else name
