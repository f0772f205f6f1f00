"""Fields of a client's request: each has its type, or the client is told where it has not."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NoReturn

from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols.json import type_name


def wrong(path: str, expected: str, value: object) -> NoReturn:
    """Raises ``InvalidRequest`` that names the place and what was expected there."""
    raise InvalidRequest(f"{path} must be {expected}, not {type_name(value)}", param=path)


def path_of(at: str, name: str) -> str:
    """``name`` inside ``at``; the document itself is ""."""
    return f"{at}.{name}" if at else name


def text(document: dict[str, Any], name: str, at: str) -> str:
    """A string that must be there."""
    value = document.get(name)
    if not isinstance(value, str):
        if name not in document:
            path = path_of(at, name)
            raise InvalidRequest(f"{path} is missing; it must be a string", param=path)
        wrong(path_of(at, name), "a string", value)
    return value


def optional_text(document: dict[str, Any], name: str, at: str = "") -> str | None:
    value = document.get(name)
    if value is not None and not isinstance(value, str):
        wrong(path_of(at, name), "a string", value)
    return value


def optional_bool(document: dict[str, Any], name: str, at: str = "") -> bool | None:
    value = document.get(name)
    if value is not None and not isinstance(value, bool):
        wrong(path_of(at, name), "a boolean", value)
    return value


def optional_int(document: dict[str, Any], name: str, at: str = "") -> int | None:
    value = document.get(name)
    if value is not None and type(value) is not int:
        wrong(path_of(at, name), "an integer", value)
    return value


def optional_number(document: dict[str, Any], name: str, at: str = "") -> int | Decimal | None:
    value = document.get(name)
    if value is not None and type(value) is not int and not isinstance(value, Decimal):
        wrong(path_of(at, name), "a number", value)
    return value


def optional_object(document: dict[str, Any], name: str, at: str = "") -> dict[str, Any] | None:
    value = document.get(name)
    if value is not None and not isinstance(value, dict):
        wrong(path_of(at, name), "an object", value)
    return value


def objects(document: dict[str, Any], name: str, at: str = "") -> list[tuple[str, dict[str, Any]]]:
    """The objects of a list, each with its path; [] where the list is null or absent."""
    value = document.get(name)
    if value is None:
        return []
    path = path_of(at, name)
    if not isinstance(value, list):
        wrong(path, "an array", value)
    for index, entry in enumerate(value):
        if not isinstance(entry, dict):
            wrong(f"{path}[{index}]", "an object", entry)
    return [(f"{path}[{index}]", entry) for index, entry in enumerate(value)]


def one_of(value: str, allowed: tuple[str, ...], path: str) -> str:
    if value not in allowed:
        raise InvalidRequest(f"{path} must be one of {', '.join(allowed)}", param=path)
    return value
