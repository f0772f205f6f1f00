"""What is common to the refusals of Messages: dotted paths, fields that are missing or unknown."""

from __future__ import annotations

import re
from typing import Any

from toolwire.proxy.demo.neutral import Json
from toolwire.proxy.demo.refusals import Refusal

ID = "^[a-zA-Z0-9_-]+$"
NAME = "^[a-zA-Z0-9_-]{1,128}$"
_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "dictionary": (dict,),
    "list": (list,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}


def field(holder: Json, key: str, *kinds: str, at: str = "", required: bool = True) -> Any:
    """The value of a field, None when it is absent or null and need not be there.

    Raises Refusal when it is missing or of another kind.
    """
    if holder.get(key) is None:
        if required:
            raise Refusal(f"{at}{key}: Field required")
        return None
    value = holder[key]
    if not any(isinstance(value, _KINDS[k]) for k in kinds) or _is_flag_as_number(value, kinds):
        raise Refusal(f"{at}{key}: Input should be a valid {' or '.join(kinds)}")
    return value


def dictionaries(holder: Json, key: str, at: str = "") -> list[Json]:
    """The objects of a list field, an empty list when it is absent."""
    items: list[Json] = field(holder, key, "list", at=at, required=False) or []
    for i, item in enumerate(items):
        if not isinstance(item, dict):
            raise Refusal(f"{at}{key}.{i}: Input should be a valid dictionary")
    return items


def no_extras(holder: Json, known: frozenset[str], at: str = "") -> None:
    """Refuses fields that the vendor does not know, as it does."""
    for key in holder:
        if key not in known:
            raise Refusal(f"{at}{key}: Extra inputs are not permitted")


def one_of(value: Any, allowed: tuple[str, ...], at: str) -> None:
    """Refuses a word that is not in the list."""
    if value not in allowed:
        listed = ", ".join(f"'{word}'" for word in allowed)
        raise Refusal(f"{at}: Input should be one of {listed}")


def matches(value: str, pattern: str, at: str) -> None:
    """Refuses a string that the pattern does not match."""
    if not re.fullmatch(pattern, value):
        raise Refusal(f"{at}: String should match pattern '{pattern}'")


def text_has_content(text: str, at: str) -> None:
    """Refuses empty text and text of white space only."""
    if not text:
        raise Refusal(f"{at}: text content blocks must be non-empty")
    if not text.strip():
        raise Refusal(f"{at}: text content blocks must contain non-whitespace text")


def thinking_type(body: Json) -> str:
    """How thinking was asked for; "disabled" when it was not."""
    thinking = body.get("thinking")
    return str(thinking.get("type")) if isinstance(thinking, dict) else "disabled"


def _is_flag_as_number(value: Any, kinds: tuple[str, ...]) -> bool:
    return isinstance(value, bool) and "boolean" not in kinds
