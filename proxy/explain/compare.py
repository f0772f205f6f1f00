"""What became of a body: the lines that differ, and apart from them what is only written otherwise.

Two objects with the same members in another order mean the same, and so do two strings of JSON
(the arguments of calls).  That is counted, not shown: a diff of it would hide what matters.
"""

from __future__ import annotations

from difflib import unified_diff
from typing import Any

from msgspec import Struct, field

from toolwire.proxy.explain.pretty import pretty
from toolwire.proxy.protocols import json

CONTEXT_LINES = 3


class BodyChange(Struct):
    """``diff`` holds the lines of a unified diff of the pretty-printed bodies, without its head;
    ``reordered`` counts objects whose keys have another order, ``rewritten`` strings of JSON that
    say the same in other words.  With none of them the bytes differ in white space or escapes."""

    diff: list[str] = field(default_factory=list)
    reordered: int = 0
    rewritten: int = 0

    @property
    def told(self) -> str:
        """What is not in the diff, in words; empty where the diff says it all."""
        facts = []
        if self.reordered:
            facts.append(f"keys reordered in {_counted(self.reordered, 'object')}")
        if self.rewritten:
            facts.append(f"{_counted(self.rewritten, 'arguments string')} rewritten")
        if facts:
            return ", ".join(facts)
        return "" if self.diff else "encoded anew: the same document in other bytes"


def compare(before: bytes, after: bytes, *, same_protocol: bool = True) -> BodyChange | None:
    """What changed; None where nothing did.

    Bodies of two protocols have nothing in common that could be in another order.
    """
    if before == after:
        return None
    change = BodyChange()
    if same_protocol:
        before = _in_order_of(before, after, change)
    lines = unified_diff(
        pretty(before).splitlines(), pretty(after).splitlines(), n=CONTEXT_LINES, lineterm=""
    )
    change.diff = list(lines)[2:]
    return change


def _in_order_of(before: bytes, after: bytes, change: BodyChange) -> bytes:
    """``before`` written as ``after`` is, where both say the same."""
    try:
        return json.encode(_aligned(json.decode(before), json.decode(after), change))
    except (ValueError, RecursionError):
        change.reordered = change.rewritten = 0
        return before


def _aligned(before: Any, after: Any, change: BodyChange) -> Any:
    match before, after:
        case dict(), dict():
            return _aligned_object(before, after, change)
        case list(), list() if len(before) == len(after):
            return [_aligned(*pair, change) for pair in zip(before, after, strict=True)]
        case str(), str() if before != after and _same_json(before, after):
            change.rewritten += 1
            return after
    return before


def _aligned_object(
    before: dict[str, Any], after: dict[str, Any], change: BodyChange
) -> dict[str, Any]:
    """The keys that both have in the order of ``after``; each that is gone after the one that it
    stood behind."""
    common = [key for key in after if key in before]
    order = list(before)
    if [key for key in order if key in after] != common:
        change.reordered += 1
        gone_behind: dict[str | None, list[str]] = {}
        last: str | None = None
        for key in order:
            if key in after:
                last = key
            else:
                gone_behind.setdefault(last, []).append(key)
        order = gone_behind.get(None, [])[:]
        for key in common:
            order += [key, *gone_behind.get(key, [])]
    return {
        key: _aligned(before[key], after[key], change) if key in after else before[key]
        for key in order
    }


def _same_json(before: str, after: str) -> bool:
    if before[:1].strip() not in ("{", "[", "") or after[:1] not in ("{", "["):
        return False
    try:
        return bool(json.decode(before) == json.decode(after))
    except ValueError:
        return False


def _counted(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count} {what}s"
