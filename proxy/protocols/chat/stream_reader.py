"""A chat stream, already repaired, as neutral events."""

from __future__ import annotations

import itertools
from enum import Enum
from typing import Any

from toolwire.proxy.errors import BadUpstreamAnswer, ToolwireError, UpstreamCut
from toolwire.proxy.protocols import json, sse
from toolwire.proxy.protocols.chat import finish
from toolwire.proxy.protocols.chat import usage as token_counts
from toolwire.proxy.protocols.chat.calls_read import OpenCall, begun_by, text_in
from toolwire.proxy.protocols.chat.errors import error_document, read_error
from toolwire.proxy.protocols.chat.oddities import detailed
from toolwire.proxy.protocols.chat.voice import Voice
from toolwire.proxy.protocols.chat.wire import (
    CallDelta,
    Chunk,
    ChunkChoice,
    Delta,
    FunctionDelta,
    decode_chunk,
    lenient_chunk,
)
from toolwire.proxy.protocols.collect import of_input
from toolwire.proxy.protocols.failure import from_exception
from toolwire.proxy.protocols.identifiers import random_id
from toolwire.proxy.protocols.neutral import (
    Call,
    End,
    Finish,
    PartEnd,
    PartStart,
    Ping,
    Refusal,
    Start,
    StreamEvent,
    StreamFailure,
    Text,
    Thinking,
    Usage,
    UsageReport,
)
from toolwire.proxy.protocols.sse import Event

_LEGACY_CALL = -1
"""The place of the one call of the old ``function_call`` field."""


class _State(Enum):
    WAITING = "waiting"
    SPEAKING = "speaking"
    FINISHED = "finished"
    CLOSED = "closed"


# Bound once: before Python 3.12 it takes time to get at a member, and each event asks for several.
_WAITING, _SPEAKING, _FINISHED, _CLOSED = _State


class StreamReader:
    """See ``codec.StreamReader``.

    Calls are open side by side until the finish, for their pieces may be interleaved.  Where more
    comes after the finish, which then was none, another one follows it.
    """

    def __init__(self) -> None:
        self._state = _WAITING
        self._keys = itertools.count()
        self._voice = Voice(self._keys)
        self._calls: dict[int, OpenCall] = {}
        self._reason: tuple[str, Any] = ("", None)
        self._early: Usage | None = None

    def read(self, event: Event) -> list[StreamEvent]:
        if self._state is _CLOSED:
            return []
        if event.data is None:
            return [] if self._state is _WAITING else [Ping()]
        chunk = event.parsed
        if type(chunk) is not Chunk:
            chunk = decode_chunk(event.data)
        if chunk is None or chunk.error is not None:
            return self._odd(event)
        return self._chunk(chunk)

    def close(self) -> list[StreamEvent]:
        if self._state is _CLOSED:
            return []
        if self._state is _FINISHED:
            return self._end()
        return self._fail(UpstreamCut("the upstream's stream broke off before it was complete"))

    def _odd(self, event: Event) -> list[StreamEvent]:
        """``[DONE]``, an error, a chunk of odd types, or nonsense."""
        data = event.data or b""
        if data.strip() == sse.DONE:
            return self._done()
        try:
            document = json.decode(data)
        except ValueError:
            document = None
        if (error := error_document(document, event.name)) is not None:
            self._state = _CLOSED
            return [StreamFailure(read_error(error))]
        if isinstance(document, dict):
            return self._chunk(lenient_chunk(document))
        return self._fail(BadUpstreamAnswer("the upstream sent what is no chunk"))

    def _done(self) -> list[StreamEvent]:
        if self._state is _WAITING:
            return self._fail(UpstreamCut("the upstream's stream ended before it began"))
        return self._end()

    def _end(self) -> list[StreamEvent]:
        """The finish that is still owed, and the end."""
        owed: list[StreamEvent] = []
        self._voice.end(owed)
        self._end_calls(owed)
        if self._state is not _FINISHED:
            owed.append(self._stop())
        self._state = _CLOSED
        return [*owed, End()]

    def _fail(self, error: ToolwireError) -> list[StreamEvent]:
        self._state = _CLOSED
        return [StreamFailure(from_exception(error))]

    def _chunk(self, chunk: Chunk) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        says = False
        choice = _first(chunk)
        told = token_counts.of_chunk(chunk)
        counts = token_counts.read(told) if told is not None else None
        if self._state is _WAITING:
            if choice is None:
                self._early = counts or self._early
                return events
            events += self._start(chunk, counts)
        if choice is not None and choice.delta is not None:
            before = len(events)
            self._delta(choice.delta, events)
            if choice.logprobs is not None and choice.logprobs.content:
                self._voice.weigh(choice.logprobs.content, events, calling=bool(self._calls))
            if says := len(events) > before:
                self._state = _SPEAKING
        if counts is not None:
            events.append(UsageReport(counts))
        if choice is not None and choice.finish_reason:
            sequence = choice.stop_reason or choice.matched_stop
            if not says:  # else it may be one that says so in every chunk
                self._voice.fall_silent(events)
            self._finish(choice.finish_reason, sequence, events)
        return events

    def _start(self, chunk: Chunk, counts: Usage | None) -> list[StreamEvent]:
        """Some upstreams tell their counts with every chunk, some before the first that speaks."""
        self._state = _SPEAKING
        early: list[StreamEvent] = [UsageReport(self._early)] if self._early is not None else []
        known = of_input(counts or self._early)
        start = Start(chunk.id or random_id("chatcmpl-"), chunk.model or "", chunk.created, known)
        return [start, *early]

    def _delta(self, delta: Delta, events: list[StreamEvent]) -> None:
        if text := (
            delta.reasoning_content
            or delta.reasoning
            or delta.reasoning_text
            or detailed(delta.reasoning_details)
        ):
            self._voice.say(Thinking, text, events)
        if delta.reasoning_blocks:
            self._voice.sign(delta.reasoning_blocks, events)
        if delta.content:
            self._voice.say(Text, delta.content, events)
        if delta.annotations:
            self._voice.cite(delta.annotations)
        if delta.refusal:
            self._voice.say(Refusal, delta.refusal, events)
        for piece in delta.tool_calls or ():
            self._call(piece, events)
        if delta.function_call is not None:
            self._legacy_call(delta.function_call, events)

    def _call(self, piece: CallDelta, events: list[StreamEvent]) -> None:
        place = piece.index or 0
        called = self._calls.get(place)
        if called is None:
            called = self._begin_call(place, begun_by(piece), events)
        called.add(text_in(piece), events)

    def _legacy_call(self, piece: FunctionDelta, events: list[StreamEvent]) -> None:
        """https://platform.openai.com/docs/api-reference/chat-streaming (function_call)"""
        called = self._calls.get(_LEGACY_CALL)
        if called is None:
            if not piece.name:
                return
            call = Call(random_id("call_"), piece.name)
            called = self._begin_call(_LEGACY_CALL, call, events)
        called.add(piece.arguments, events)

    def _begin_call(self, place: int, call: Call, events: list[StreamEvent]) -> OpenCall:
        self._voice.fall_silent(events)
        called = self._calls[place] = OpenCall(next(self._keys), custom=call.custom)
        events.append(PartStart(called.key, call))
        return called

    def _finish(self, word: str, sequence: Any, events: list[StreamEvent]) -> None:
        if word in finish.FAILED:
            events += self._fail(BadUpstreamAnswer(f"the upstream's finish_reason is {word!r}"))
            return
        before, _ = self._reason
        self._reason = (finish.of_two(before, word) if before else word, sequence)
        self._end_calls(events, but_cut=word != "length")
        events.append(self._stop())
        self._state = _FINISHED

    def _stop(self) -> Finish:
        word, sequence = self._reason
        return Finish(*finish.matched(finish.stop_of(word, calls=bool(self._calls)), sequence))

    def _end_calls(self, events: list[StreamEvent], *, but_cut: bool = False) -> None:
        """``but_cut``: a call that lacks some of its arguments, though nothing cut them off, is
        left open."""
        for called in self._calls.values():
            if not (called.over or (but_cut and called.is_cut())):
                called.over = True
                events.append(PartEnd(called.key))


def _first(chunk: Chunk) -> ChunkChoice | None:
    """The one choice that other protocols have a place for."""
    for choice in chunk.choices or ():
        if choice.index == 0:
            return choice
    return None
