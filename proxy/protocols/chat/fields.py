"""Fields of a client's document: each is of its type, or the client is told which is not."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NoReturn

import msgspec

from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols.json import type_name


def wrong(value: Any, expected: str, path: str) -> NoReturn:
    """Raises ``InvalidRequest`` that names the place, what it should be and what it is."""
    refuse(path, f"must be {expected}, not {type_name(value)}")


def refuse(path: str, fault: str) -> NoReturn:
    raise InvalidRequest(f"{path}: {fault}", param=path)


def text(document: dict[str, Any], name: str, at: str = "") -> str:
    """A string that must be there.  ``at`` is the path of ``document``, "" at the top."""
    value = document.get(name)
    if isinstance(value, str):
        return value
    path = path_of(at, name)
    if name not in document:
        refuse(path, "is missing; it must be a string")
    wrong(value, "a string", path)


def optional_text(document: dict[str, Any], name: str, at: str = "") -> str | None:
    value = document.get(name)
    if value is None or isinstance(value, str):
        return value
    wrong(value, "a string", path_of(at, name))


def optional_bool(document: dict[str, Any], name: str, at: str = "") -> bool | None:
    value = document.get(name)
    if value is None or isinstance(value, bool):
        return value
    wrong(value, "a boolean", path_of(at, name))


def optional_int(document: dict[str, Any], name: str, at: str = "") -> int | None:
    value = document.get(name)
    if value is None or type(value) is int:
        return value
    wrong(value, "an integer", path_of(at, name))


def optional_number(document: dict[str, Any], name: str, at: str = "") -> Any:
    """As it was written: an int, a Decimal, or Raw for one beyond all bounds."""
    value = document.get(name)
    if value is None or type(value) in (int, Decimal, msgspec.Raw):
        return value
    wrong(value, "a number", path_of(at, name))


def optional_object(document: dict[str, Any], name: str, at: str = "") -> dict[str, Any] | None:
    value = document.get(name)
    if value is None or isinstance(value, dict):
        return value
    wrong(value, "an object", path_of(at, name))


def required_object(document: dict[str, Any], name: str, at: str = "") -> dict[str, Any]:
    value = document.get(name)
    if isinstance(value, dict):
        return value
    path = path_of(at, name)
    if name not in document:
        refuse(path, "is missing; it must be an object")
    wrong(value, "an object", path)


def objects(document: dict[str, Any], name: str, at: str = "") -> list[tuple[str, dict[str, Any]]]:
    """The objects of an array, each with its path; [] where it is absent or null."""
    value = document.get(name)
    if value is None:
        return []
    path = path_of(at, name)
    if not isinstance(value, list):
        wrong(value, "an array", path)
    for place, entry in enumerate(value):
        if not isinstance(entry, dict):
            wrong(entry, "an object", f"{path}[{place}]")
    return [(f"{path}[{place}]", entry) for place, entry in enumerate(value)]


def path_of(at: str, name: str) -> str:
    """``name`` inside ``at``."""
    return f"{at}.{name}" if at else name
