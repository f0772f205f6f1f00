"""A Messages stream, read into neutral events.

https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from msgspec import Struct, field

from toolwire.proxy.errors import UpstreamCut
from toolwire.proxy.protocols import sse
from toolwire.proxy.protocols.failure import from_exception
from toolwire.proxy.protocols.identifiers import random_id
from toolwire.proxy.protocols.messages import wire
from toolwire.proxy.protocols.messages.errors import stream_failure
from toolwire.proxy.protocols.messages.response import (
    STOPS,
    arguments_of,
    read_block,
    read_usage,
    refusal_in,
)
from toolwire.proxy.protocols.neutral import (
    Call,
    Delta,
    End,
    Failure,
    Finish,
    Opaque,
    Part,
    PartEnd,
    PartStart,
    Ping,
    Refusal,
    Start,
    Stop,
    StreamEvent,
    StreamFailure,
    Text,
    Thinking,
    UsageReport,
)

BROKEN_OFF = from_exception(UpstreamCut("the upstream's stream broke off before its end"))


class _State(Enum):
    NEW = "nothing yet"
    RUNNING = "the message has begun"
    STOPPED = "the stop reason came, the end is still owed"
    OVER = "complete or failed"


# Bound once: before Python 3.12 it takes time to get at a member.
_NEW, _RUNNING, _STOPPED, _OVER = _State


class _Block(Struct):
    """An open block: its part as it began, and what came since."""

    key: int
    part: Part
    pieces: list[str] = field(default_factory=list)
    whole_input: str = ""
    signature: str = ""
    citations: list[Any] = field(default_factory=list)


class MessagesStreamReader:
    """Lenient: text without a block opens one, a block without its end is ended."""

    def __init__(self) -> None:
        self._state = _NEW
        self._open: dict[int, _Block] = {}
        self._keys = 0
        self._usage: dict[str, Any] = {}

    def read(self, event: sse.Event) -> list[StreamEvent]:
        if event.data is None or event.data == sse.DONE or self._state is _OVER:
            return []
        try:
            parsed = wire.decode(event.data)
        except ValueError as error:
            return self._fail(Failure(502, f"the upstream sent what is no event: {error}"))
        return _READ[type(parsed)](self, parsed)

    def close(self) -> list[StreamEvent]:
        if self._state is _OVER:
            return []
        return self._end() if self._state is _STOPPED else self._fail(BROKEN_OFF)

    # ------------------------------------------------------------------------- the message
    def _message_start(self, event: wire.MessageStart) -> list[StreamEvent]:
        if self._state is not _NEW:
            return []
        self._state = _RUNNING
        message = event.message
        self._usage.update(message.usage or {})
        usage = read_usage(self._usage) if self._usage else None
        return [Start(message.id or random_id("msg_"), message.model or "", usage=usage)]

    def _message_delta(self, event: wire.MessageDelta) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        if reason := event.delta.stop_reason:
            events += self._end_blocks()
            if text := refusal_in(event.delta.stop_details):
                block = _Block(self._keys, Refusal(""))
                events += [*self._begin(-1, block), *_piece(block, text), *self._end_block(-1)]
            events.append(Finish(STOPS.get(reason, Stop.DONE), event.delta.stop_sequence))
            self._state = _STOPPED
        if event.usage:
            # running totals, not increments; what is not told again is as before
            self._usage.update({n: v for n, v in event.usage.items() if v is not None})
            if (usage := read_usage(self._usage)) is not None:
                events.append(UsageReport(usage))
        return events

    def _message_stop(self, event: wire.MessageStop) -> list[StreamEvent]:
        if self._state is _STOPPED:
            return self._end()
        return [*self._end_blocks(), Finish(Stop.DONE), *self._end()]

    def _end(self) -> list[StreamEvent]:
        self._state = _OVER
        return [*self._end_blocks(), End()]

    # -------------------------------------------------------------------------- the blocks
    def _block_start(self, event: wire.ContentBlockStart) -> list[StreamEvent]:
        ended = self._end_block(event.index)
        part = read_block(event.content_block)
        block = _Block(self._keys, part)
        given = ""
        match part:
            case Text():
                given, block.part = part.text, Text("")
                block.citations = list(part.citations.value) if part.citations else []
            case Thinking(redacted=None):
                given, block.part = part.text, Thinking()
                block.signature = part.signature or ""
            case Call():
                # an input that is whole at once is told at the end, should no delta come
                block.whole_input = arguments_of(event.content_block.get("input") or None)
                part.arguments = ""
        return [*ended, *self._begin(event.index, block), *_piece(block, given)]

    def _begin(self, index: int, block: _Block) -> list[StreamEvent]:
        self._open[index] = block
        self._keys += 1
        return [PartStart(block.key, block.part)]

    def _block_delta(self, event: wire.ContentBlockDelta) -> list[StreamEvent]:
        delta, block = event.delta, self._open.get(event.index)
        kind: type[Part]
        match delta.type:
            case "text_delta":
                text, kind = delta.text, Text
            case "thinking_delta":
                text, kind = delta.thinking, Thinking
            case "input_json_delta":
                text, kind = delta.partial_json, Call
            case _:
                if block is not None:
                    _complete(block, delta)
                return []
        if not text:
            return []
        if block is not None:
            return _piece(block, text) if type(block.part) is kind else []
        if kind is Call:  # neither its id nor its name is known
            return []
        block = _Block(self._keys, Text("") if kind is Text else Thinking())
        return [*self._begin(event.index, block), *_piece(block, text)]

    def _block_stop(self, event: wire.ContentBlockStop) -> list[StreamEvent]:
        return self._end_block(event.index)

    def _end_block(self, index: int) -> list[StreamEvent]:
        block = self._open.pop(index, None)
        if block is None:
            return []
        events: list[StreamEvent] = []
        if block.whole_input and not block.pieces:
            events += _piece(block, block.whole_input)
        events.append(PartEnd(block.key, _whole(block)))
        return events

    def _end_blocks(self) -> list[StreamEvent]:
        return [event for index in list(self._open) for event in self._end_block(index)]

    # ------------------------------------------------------------------------------ the rest
    def _ping(self, event: wire.PingEvent) -> list[StreamEvent]:
        return [Ping()]

    def _error(self, event: wire.ErrorEvent) -> list[StreamEvent]:
        return self._fail(stream_failure({"error": event.error, "request_id": event.request_id}))

    def _unknown(self, event: wire.UnknownEvent) -> list[StreamEvent]:
        """A type of event that is newer than this reader means nothing; an error is one anyhow."""
        document = event.document
        if isinstance(document, dict) and document.get("error"):
            return self._fail(stream_failure(document))
        return []

    def _fail(self, failure: Failure) -> list[StreamEvent]:
        self._state = _OVER
        return [StreamFailure(failure)]


_READ: dict[type, Callable[[MessagesStreamReader, Any], list[StreamEvent]]] = {
    wire.MessageStart: MessagesStreamReader._message_start,
    wire.ContentBlockStart: MessagesStreamReader._block_start,
    wire.ContentBlockDelta: MessagesStreamReader._block_delta,
    wire.ContentBlockStop: MessagesStreamReader._block_stop,
    wire.MessageDelta: MessagesStreamReader._message_delta,
    wire.MessageStop: MessagesStreamReader._message_stop,
    wire.PingEvent: MessagesStreamReader._ping,
    wire.ErrorEvent: MessagesStreamReader._error,
    wire.UnknownEvent: MessagesStreamReader._unknown,
}


def _piece(block: _Block, text: str) -> list[StreamEvent]:
    if not text:
        return []
    block.pieces.append(text)
    return [Delta(block.key, text)]


def _complete(block: _Block, delta: wire.Delta) -> None:
    if delta.type == "signature_delta":
        block.signature += delta.signature or ""
    elif delta.type == "citations_delta" and delta.citation is not None:
        block.citations.append(delta.citation)


def _whole(block: _Block) -> Part | None:
    """The part, where more is known of it at its end than its start and deltas told."""
    if isinstance(block.part, Thinking) and block.signature:
        text = "".join(block.pieces)
        return Thinking(text, signature=block.signature, origin="messages")
    if isinstance(block.part, Text) and block.citations:
        return Text("".join(block.pieces), citations=Opaque("messages", block.citations))
    return None
