"""Remembers the thinking that belongs to tool calls, for clients that drop what they do not know.

An upstream that signs its thinking wants it back, first in its turn, with the results of the calls
that it led to (https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking); DeepSeek
wants its reasoning back.  Many clients send neither, but every client sends the ids of the calls.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from msgspec import Struct
from prometheus_client import Counter

from toolwire.config.model import ThinkingStore as Options
from toolwire.proxy.protocols.neutral import Call, Part, Role, Thinking, Turn

LOOKUPS = Counter(
    "toolwire_thinking_store_lookups", "Turns with calls and no thinking, by result", ("result",)
)
_HITS, _MISSES = LOOKUPS.labels("hit"), LOOKUPS.labels("miss")
_OVERHEAD_BYTES = 200
"""Of an entry beside its text, about."""


class _Entry(Struct):
    thinking: list[Thinking]
    calls: list[str]
    size: int
    used_at: float


class ThinkingStore:
    """Bounded by entries, bytes and age; the one unused for longest goes first.  In memory, so each
    worker has its own.

    ``vendor`` is who made the thinking: it is given back to nobody else.
    """

    def __init__(
        self, options: Options | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._options = options or Options()
        self._clock = clock
        self._entries: OrderedDict[tuple[str, str], _Entry] = OrderedDict()
        self._size = 0

    def remember(self, vendor: str, parts: list[Part]) -> None:
        """Keeps the thinking of an answer that calls tools."""
        thinking = [part for part in parts if isinstance(part, Thinking)]
        calls = [part.id for part in parts if isinstance(part, Call)]
        if not thinking or not calls or not self._options.enabled:
            return
        size = _OVERHEAD_BYTES + sum(_size(block) for block in thinking)
        if size > self._options.max_bytes:
            return
        entry = _Entry(thinking, calls, size, self._clock())
        for call in calls:
            self._forget((vendor, call))
            self._entries[vendor, call] = entry
        # calls of one answer share the entry; it is counted with the first
        self._size += size
        self._make_room()

    def restore(self, vendor: str, turns: list[Turn]) -> int:
        """Puts the thinking back, in place, first in the assistant turns that call tools and have
        none that ``vendor`` would know as its own; in how many."""
        if not self._entries:
            return 0
        hits = misses = 0
        for turn in turns:
            if turn.role is not Role.ASSISTANT or any(_is_signed(part) for part in turn.parts):
                continue
            calls = [part.id for part in turn.parts if isinstance(part, Call)]
            if not calls:
                continue
            if found := self._find(vendor, calls):
                rest = [part for part in turn.parts if not isinstance(part, Thinking)]
                turn.parts[:] = [*found, *rest]
                hits += 1
            else:
                misses += 1
        _HITS.inc(hits)
        _MISSES.inc(misses)
        return hits

    def _find(self, vendor: str, calls: list[str]) -> list[Thinking]:
        now = self._clock()
        for call in calls:
            entry = self._entries.get((vendor, call))
            if entry is None:
                continue
            if now - entry.used_at > self._options.max_age_seconds:
                self._forget((vendor, call))
                continue
            entry.used_at = now
            for name in entry.calls:
                if (vendor, name) in self._entries:
                    self._entries.move_to_end((vendor, name))
            return entry.thinking
        return []

    def _forget(self, key: tuple[str, str]) -> None:
        """Drops the entry behind ``key``, under all of its calls."""
        entry = self._entries.get(key)
        if entry is None:
            return
        self._size -= entry.size
        for call in entry.calls:
            if self._entries.get((key[0], call)) is entry:
                del self._entries[key[0], call]

    def _make_room(self) -> None:
        oldest = self._clock() - self._options.max_age_seconds
        while self._entries:
            key, entry = next(iter(self._entries.items()))
            over = len(self._entries) > self._options.max_entries
            if not (over or self._size > self._options.max_bytes or entry.used_at < oldest):
                return
            self._forget(key)


def _size(block: Thinking) -> int:
    opaque = (block.signature, block.redacted, block.encrypted)
    return len(block.text) + sum(len(text) for text in opaque if text)


def _is_signed(part: Part) -> bool:
    return isinstance(part, Thinking) and bool(part.signature or part.redacted or part.encrypted)
