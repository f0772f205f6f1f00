"""What a case says must be true of a JSON document: ``{pointer: expected}``.

A pointer is a JSON pointer (https://www.rfc-editor.org/rfc/rfc6901), "" the whole document.
``expected`` is the value there, or an object of operators that all have to hold.  A place that is
missing fails every one of them but ``$absent``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

_MISSING = object()
_SHOWN_CHARACTERS = 300

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def failures(document: Any, expected: dict[str, Any]) -> Iterator[str]:
    """What does not hold."""
    for pointer, wanted in expected.items():
        found = at(document, pointer)
        operators = wanted if _is_operators(wanted) else {"$is": wanted}
        for name, argument in operators.items():
            if found is _MISSING:
                if name != "$absent":
                    yield f"{pointer} is missing, {name} {_shown(argument)} was expected"
            elif not _OPERATORS[name](found, argument):
                yield f"{pointer} is {_shown(found)}, not {name} {_shown(argument)}"


def at(document: Any, pointer: str) -> Any:
    """The value at ``pointer``."""
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list):
            document = document[int(step)] if int(step) < len(document) else _MISSING
        elif isinstance(document, dict):
            document = document.get(step, _MISSING)
        else:
            return _MISSING
    return document


def text_of(value: Any) -> str:
    """The string itself, or the value's compact JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _is_operators(wanted: Any) -> bool:
    return isinstance(wanted, dict) and any(name.startswith("$") for name in wanted)


def _shown(value: Any) -> str:
    return text_of(value)[:_SHOWN_CHARACTERS]


def _same(found: Any, wanted: Any) -> bool:
    """Equality of JSON: ``1`` and ``1.0`` are one number, ``true`` is none."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if isinstance(found, dict) and isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(_same(found[k], wanted[k]) for k in found)
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(_same, found, wanted))
    return bool(found == wanted)


def _has_type(found: Any, name: str) -> bool:
    if isinstance(found, bool):
        return name == "boolean"
    return isinstance(found, _TYPES[name])


def _parses_to(found: Any, wanted: Any) -> bool:
    try:
        return isinstance(found, str) and _same(json.loads(found), wanted)
    except ValueError:
        return False


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "$is": _same,
    "$absent": lambda found, _: False,
    "$type": _has_type,
    "$len": lambda found, length: isinstance(found, list | str | dict) and len(found) == length,
    "$one_of": lambda found, wanted: any(_same(found, value) for value in wanted),
    "$regex": lambda found, pattern: re.search(pattern, text_of(found)) is not None,
    "$contains": lambda found, text: text in text_of(found),
    "$json_equals": _parses_to,
}
