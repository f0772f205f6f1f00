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
        none; in how many."""
        restored = 0
        for turn in turns:
            if turn.role is not Role.ASSISTANT:
                continue
            calls = [part.id for part in turn.parts if isinstance(part, Call)]
            if not calls or any(isinstance(part, Thinking) for part in turn.parts):
                continue
            found = self._find(vendor, calls)
            LOOKUPS.labels("hit" if found else "miss").inc()
            if found:
                turn.parts[:0] = found
                restored += 1
        return restored

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
