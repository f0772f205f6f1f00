"""Neutral events as a chat stream.

https://platform.openai.com/docs/api-reference/chat-streaming
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum
from typing import Any

from msgspec import Struct

from toolwire.proxy.protocols import json, sse
from toolwire.proxy.protocols.chat import calls_write, finish, reasoning_blocks
from toolwire.proxy.protocols.chat import usage as token_counts
from toolwire.proxy.protocols.chat.annotations import StreamAnnotations
from toolwire.proxy.protocols.chat.envelope import OBJECT
from toolwire.proxy.protocols.chat.errors import write_failure
from toolwire.proxy.protocols.collect import merged_usage
from toolwire.proxy.protocols.identifiers import random_id
from toolwire.proxy.protocols.logprobs import Token
from toolwire.proxy.protocols.neutral import (
    Call,
    Delta,
    End,
    Finish,
    Losses,
    Part,
    PartEnd,
    PartStart,
    Ping,
    Refusal,
    Request,
    Start,
    Stop,
    StreamEvent,
    StreamFailure,
    Text,
    Thinking,
    Usage,
    UsageReport,
)
from toolwire.proxy.protocols.sse import Event


class _State(Enum):
    WAITING = "waiting"
    SPEAKING = "speaking"
    FINISHED = "finished"
    """A finish reason is out."""
    CLOSED = "closed"


class _Open(Struct):
    """A part that was begun.  ``before`` and ``after`` stand around the JSON string of a piece of
    its text; ``sent`` counts the characters so far, ``tokens`` those that were told beside them."""

    part: Part
    before: bytes
    after: bytes
    sent: int = 0
    tokens: int = 0


_FIELDS: dict[type, bytes] = {
    Text: b'{"content":',
    Thinking: b'{"reasoning_content":',
    Refusal: b'{"refusal":',
}


class StreamWriter:
    """See ``codec.StreamWriter``.  What comes out of order does what little it may, or nothing."""

    def __init__(self, request: Request, losses: Losses) -> None:
        self._request = request
        self._legacy = calls_write.is_legacy(request)
        self._enter(_State.WAITING)
        self._parts: dict[int, _Open] = {}
        self._calls: list[_Open] = []
        self._blocks = 0
        self._annotations = StreamAnnotations(losses)
        self._usage: Usage | None = None
        self._stop = Stop.DONE
        self._word = ""
        self._head: dict[str, Any] = {}
        self._before = self._after = b""

    def write(self, event: StreamEvent) -> list[Event]:
        move = self._moves.get(type(event))
        if move is not None:
            return move(self, event)
        if self._state is not _State.WAITING:
            return []
        started = self._start(Start("", ""))
        move = self._moves.get(type(event))
        return started + move(self, event) if move is not None else started

    def _enter(self, state: _State) -> None:
        self._state, self._moves = state, _MOVES[state]

    def _start(self, event: Start) -> list[Event]:
        self._enter(_State.SPEAKING)
        if event.usage is not None:
            self._usage = merged_usage(self._usage, event.usage)
        self._head = {
            "id": event.id or random_id("chatcmpl-"),
            "object": OBJECT,
            "created": int(time.time()) if event.created is None else event.created,
            "model": event.model or self._request.model,
        }
        # the same bytes around every delta: encoded once
        usage = b',"usage":null' if self._request.include_usage else b""
        self._before = json.encode(self._head)[:-1] + b',"choices":[{"index":0,"delta":'
        self._after = b',"finish_reason":null}]%b}' % usage
        return [self._chunk(b'{"role":"assistant","content":""}')]

    def _part_start(self, event: PartStart) -> list[Event]:
        part = event.part
        if isinstance(part, Call):
            return self._call_start(event.key, part)
        field = _FIELDS.get(type(part))
        if field is None:
            return []  # images and other protocols' parts have no place here
        opened = self._parts[event.key] = _Open(part, field, b"}")
        return self._rest(opened, part)

    def _call_start(self, key: int, call: Call) -> list[Event]:
        if self._legacy and self._calls:
            return []  # there is place for one
        opening = calls_write.opening(call, None if self._legacy else len(self._calls))
        opened = self._parts[key] = _Open(call, opening.before, opening.after)
        self._calls.append(opened)
        return [self._chunk(json.encode(opening.delta)), *self._rest(opened, call)]

    def _delta(self, event: Delta) -> list[Event]:
        if (opened := self._parts.get(event.key)) is None:
            return []
        if event.logprobs:
            return [self._weighed(opened, event.text, event.logprobs)]
        return self._piece(opened, event.text) if event.text else []

    def _weighed(self, opened: _Open, text: str, tokens: list[Token]) -> Event:
        """A piece of text with the log probabilities of its tokens."""
        opened.sent += len(text)
        opened.tokens += len(tokens)
        told = json.encode({"content": tokens, "refusal": None})
        piece = opened.before + json.encode(text) + opened.after
        return Event(self._before + piece + b',"logprobs":' + told + self._after)

    def _part_end(self, event: PartEnd) -> list[Event]:
        opened = self._parts.pop(event.key, None)
        if opened is None:
            return []
        part = opened.part if event.part is None else event.part
        events = self._rest(opened, part) if type(part) is type(opened.part) else []
        if isinstance(part, Thinking) and (block := reasoning_blocks.block_of(part)) is not None:
            signed = reasoning_blocks.delta_of(block, part.vendor, self._blocks)
            events.append(self._chunk(json.encode(signed)))
            self._blocks += 1
        elif isinstance(part, Text):
            self._annotations.add(part, opened.sent)
        return events

    def _rest(self, opened: _Open, part: Part) -> list[Event]:
        """The text of the whole ``part`` that no delta has carried yet."""
        text = part.arguments if isinstance(part, Call) else getattr(part, "text", "")
        rest = text[opened.sent :]
        if isinstance(part, Text) and part.logprobs and (owed := part.logprobs[opened.tokens :]):
            return [self._weighed(opened, rest, owed)]
        return self._piece(opened, rest) if rest else []

    def _piece(self, opened: _Open, text: str) -> list[Event]:
        opened.sent += len(text)
        return [self._chunk(opened.before + json.encode(text) + opened.after)]

    def _finish(self, event: Finish) -> list[Event]:
        """The reason is said again where what came after it makes it another."""
        self._stop = event.stop
        events: list[Event] = []
        for key in list(self._parts):
            events += self._part_end(PartEnd(key))
        if (cited := self._annotations.delta()) is not None:
            events.append(self._chunk(json.encode(cited)))
        if event.stop is not Stop.LENGTH:
            # a call that the limit cut off must not look whole
            for call in self._calls:
                if not call.sent and not _is_custom(call.part):
                    events += self._piece(call, "{}")
        word = finish.word_of(event.stop, calls=bool(self._calls), legacy=self._legacy)
        if word != self._word:
            after = self._after.replace(b"null", b'"%b"' % word.encode(), 1)
            events.append(Event(self._before + b"{}" + after))
            self._word = word
        self._enter(_State.FINISHED)
        return events

    def _usage_report(self, event: UsageReport) -> list[Event]:
        self._usage = merged_usage(self._usage, event.usage)
        return []

    def _failure(self, event: StreamFailure) -> list[Event]:
        self._enter(_State.CLOSED)
        return [Event(json.encode(write_failure(event.failure)))]

    def _ping(self, event: Ping) -> list[Event]:
        return [sse.comment()]

    def _end(self, event: End) -> list[Event]:
        events = self._finish(Finish(self._stop))
        self._enter(_State.CLOSED)
        if self._request.include_usage and self._usage is not None:
            usage = token_counts.write(self._usage)
            events.append(Event(json.encode({**self._head, "choices": [], "usage": usage})))
        events.append(Event(sse.DONE))
        return events

    def _chunk(self, delta: bytes) -> Event:
        return Event(self._before + delta + self._after)


def _is_custom(part: Part) -> bool:
    return isinstance(part, Call) and part.custom


_Move = Callable[[StreamWriter, Any], list[Event]]

_ALWAYS: dict[type, _Move] = {
    UsageReport: StreamWriter._usage_report,
    StreamFailure: StreamWriter._failure,
    Ping: StreamWriter._ping,
}
_SPEAKING_MOVES: dict[type, _Move] = {
    **_ALWAYS,
    PartStart: StreamWriter._part_start,
    Delta: StreamWriter._delta,
    PartEnd: StreamWriter._part_end,
    Finish: StreamWriter._finish,
    End: StreamWriter._end,
}
_MOVES: dict[_State, dict[type, _Move]] = {
    _State.WAITING: {**_ALWAYS, Start: StreamWriter._start},
    _State.SPEAKING: _SPEAKING_MOVES,
    # some upstreams say more after they said that they had finished
    _State.FINISHED: _SPEAKING_MOVES,
    _State.CLOSED: {},
}
"""What each state allows; what it does not allow is passed over."""
