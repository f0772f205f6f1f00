"""Ids and names that a target allows, made from those that it does not.

A made id or name is a function of the original alone, so that every request of a session renames
alike (and the upstream's prompt cache still hits), and different originals never collide.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable

_DIGEST_CHARACTERS = 24  # 96 bits
_SHORT_CHARACTERS = 9  # all that Mistral takes: 36 bits, which have to differ in one conversation
_NO_LIMIT = 1 << 30
_READABLE_CHARACTERS = 64
_OUTSIDE = re.compile(r"[^a-zA-Z0-9_-]+")


def legal_id(original: str, pattern: re.Pattern[str]) -> str:
    """``original`` where ``pattern`` matches the whole of it, else an id that stands for it.

    A pattern that matches none of the forms made here keeps the original: there is nothing better.
    """
    if pattern.fullmatch(original):
        return original
    digest = _digest(original)
    made = (f"toolu_{digest}", digest[:_SHORT_CHARACTERS])
    return next((found for found in made if pattern.fullmatch(found)), original)


def derived_id(prefix: str, *facts: object) -> str:
    """An id for something that has none, the same for the same facts."""
    return f"{prefix}{_digest(repr(facts))}"


def random_id(prefix: str) -> str:
    """A new id, for something of an answer that has none."""
    return prefix + os.urandom(16).hex()


def legal_names(names: Iterable[str], *, longest: int, pattern: re.Pattern[str]) -> dict[str, str]:
    """Each name that the target refuses, mapped to a legal one that is unique among all names.

    ``pattern`` must match a whole legal name; ``longest`` is in characters, 0 for no limit.
    """
    longest = longest or _NO_LIMIT
    fits = pattern.fullmatch if pattern.pattern else None
    return {
        name: legal_name(name, longest=min(longest, _READABLE_CHARACTERS))
        for name in names
        if len(name) > longest or (fits is not None and not fits(name))
    }


def legal_name(name: str, *, longest: int) -> str:
    """A readable beginning and a digest of the whole."""
    digest = _digest(name)[:12]
    readable = _OUTSIDE.sub("_", name)[: longest - len(digest) - 1]
    return f"{readable}_{digest}"


def _digest(text: str) -> str:
    # surrogatepass: an id may hold a lone surrogate, which is legal JSON
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARACTERS]
