"""Documents that are almost right: a valid one with some of its values replaced, left out or
doubled."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

JUNK: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    10**30,
    "",
    "x",
    " ",
    "\ud83d",
    "a\x00b",
    "type",
    "auto",
    "\u00e9" * 70,
    [],
    [None],
    [[]],
    [1, "x"],
    [{}],
    {},
    {"type": None},
    {"type": "text"},
    {"type": "text", "text": None},
    {"type": "unheard_of", "text": 1},
    {"id": 1, "name": [], "function": {}, "arguments": {}},
]


@st.composite
def altered(draw: st.DrawFn, documents: list[Any], *, at_most: int = 3) -> Any:
    """One of ``documents`` with up to ``at_most`` places altered."""
    document = {"root": copy.deepcopy(draw(st.sampled_from(documents)))}
    for _ in range(draw(st.integers(0, at_most))):
        holder, key = draw(st.sampled_from(list(_places(document))))
        match draw(st.sampled_from(["replace", "replace", "leave out", "double", "swap"])):
            case "replace":
                holder[key] = copy.deepcopy(draw(st.sampled_from(JUNK)))
            case "leave out" if holder is not document:
                del holder[key]
            case "double" if isinstance(holder, list):
                holder.insert(key, copy.deepcopy(holder[key]))
            case "swap" if isinstance(holder, list):
                holder.reverse()
    return document["root"]


def every_alteration(document: Any) -> Iterator[Any]:
    """``document`` with one place replaced by some kinds of junk, or left out, in turn."""
    count = sum(1 for _ in _places({"root": document}))
    for place in range(count):
        for junk in [*JUNK[::5], _LEFT_OUT]:
            altered_one = {"root": copy.deepcopy(document)}
            holder, key = next(itertools.islice(_places(altered_one), place, None))
            if junk is not _LEFT_OUT:
                holder[key] = copy.deepcopy(junk)
            elif holder is not altered_one:
                del holder[key]
            yield altered_one["root"]


_LEFT_OUT = object()


def _places(value: Any) -> Any:
    """Each (holder, key) inside ``value``."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)
