"""What a chat stream says in words, read: visible text, thinking and refusal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Raw

from toolwire.proxy.protocols.chat import reasoning_blocks
from toolwire.proxy.protocols.chat.annotations import read_annotations
from toolwire.proxy.protocols.logprobs import add_tokens
from toolwire.proxy.protocols.neutral import (
    Delta,
    PartEnd,
    PartStart,
    Refusal,
    StreamEvent,
    Text,
    Thinking,
)

Kind = type[Text | Thinking | Refusal]


class Voice:
    """One voice for all: a part of one kind ends where another begins.

    ``keys`` are those for the parts to come.
    """

    def __init__(self, keys: Iterator[int]) -> None:
        self._keys = keys
        self._kind: Kind | None = None
        self._key = 0
        self._early: list[Raw] = []
        self._pieces: list[str] = []
        self._start = 0
        self._notes: list[Any] = []

    def say(self, kind: Kind, text: str, events: list[StreamEvent]) -> None:
        if self._kind is not kind:
            self.fall_silent(events)
            self._kind, self._key = kind, next(self._keys)
            part = Thinking(origin="chat") if kind is Thinking else kind("")
            events.append(PartStart(self._key, part))
        self._pieces.append(text)
        events.append(Delta(self._key, text))

    def cite(self, notes: list[Any]) -> None:
        """Citations of the text that is under way, or of the next one."""
        self._notes += notes

    def weigh(self, tokens: list[Raw], events: list[StreamEvent], *, calling: bool) -> None:
        """Tokens of what ``events`` say, or of none of it where their text comes later.

        Those of thinking and of calls, which some servers tell as well, have no place elsewhere.
        """
        if self._kind is Text:
            add_tokens([*self._early, *tokens], self._key, events)
            self._early = []
        elif self._kind is None and not calling:
            self._early += tokens
        else:
            self._early = []

    def sign(self, blocks: list[object], events: list[StreamEvent]) -> None:
        """The signed form of the thinking so far, which another gateway like this one adds."""
        signed = reasoning_blocks.read_blocks(blocks)
        if self._kind is Thinking and len(signed) == 1 and signed[0].signature:
            events.append(PartEnd(self._key, signed[0]))
            self._kind = None
            return
        self.fall_silent(events)
        for part in signed:
            key = next(self._keys)
            events += [PartStart(key, part), PartEnd(key)]

    def fall_silent(self, events: list[StreamEvent]) -> None:
        if self._kind is not None:
            events.append(PartEnd(self._key, self._cited() if self._kind is Text else None))
            self._kind = None
        self._pieces = []

    def end(self, events: list[StreamEvent]) -> None:
        """No more is said; citations that no text followed stand in an empty one."""
        self.fall_silent(events)
        if (cited := self._cited()) is not None:
            key = next(self._keys)
            events += [PartStart(key, Text("")), PartEnd(key, cited)]

    def _cited(self) -> Text | None:
        """The whole text that is over, where it has citations."""
        text = "".join(self._pieces)
        citations = read_annotations(self._notes, self._start)
        self._start += len(text)
        self._notes = []
        return Text(text, citations=citations) if citations is not None else None
