"""Neutral events, written as a Messages stream.

https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.collect import merged_usage
from toolwire.proxy.protocols.identifiers import random_id
from toolwire.proxy.protocols.messages.block_sequence import BlockSequence
from toolwire.proxy.protocols.messages.errors import write_failure
from toolwire.proxy.protocols.messages.response import (
    NO_CITATIONS,
    NO_OBJECT,
    write_stop,
    write_usage,
)
from toolwire.proxy.protocols.neutral import (
    Delta,
    End,
    Finish,
    Losses,
    PartEnd,
    PartStart,
    Ping,
    Request,
    Start,
    Stop,
    StreamEvent,
    StreamFailure,
    Usage,
    UsageReport,
)
from toolwire.proxy.protocols.sse import Event


class _State(Enum):
    NEW = "nothing yet"
    BETWEEN = "no block is open"
    IN_BLOCK = "a block is open"
    CLOSING = "the stop reason is out"
    OVER = "complete or failed"


# Bound once: before Python 3.12 it takes time to get at a member.
_NEW, _BETWEEN, _IN_BLOCK, _CLOSING, _OVER = _State

_MOVES: dict[tuple[_State, str], _State] = {
    (_NEW, "message_start"): _BETWEEN,
    (_BETWEEN, "content_block_start"): _IN_BLOCK,
    (_IN_BLOCK, "content_block_delta"): _IN_BLOCK,
    (_IN_BLOCK, "content_block_stop"): _BETWEEN,
    (_BETWEEN, "message_delta"): _CLOSING,
    (_CLOSING, "message_stop"): _OVER,
    (_NEW, "error"): _OVER,
    (_BETWEEN, "error"): _OVER,
    (_IN_BLOCK, "error"): _OVER,
}
"""A ping may stand anywhere before the end."""

_PING = b'{"type":"ping"}'


class MessagesStreamWriter:
    """The stop reason and the counts wait for the end: no block may come after them.

    ``losses`` are told what the client does not get, by its place in the answer.
    """

    def __init__(self, request: Request, losses: Losses) -> None:
        self._losses = losses
        self._model = request.model
        self._state = _NEW
        self._out: list[Event] = []
        self._blocks = BlockSequence(self._emit, self._append)
        self._finish = Finish(Stop.DONE)
        self._usage: Usage | None = None

    def write(self, event: StreamEvent) -> list[Event]:
        if self._state is _OVER:
            return []
        _WRITE[type(event)](self, event)
        out, self._out = self._out, []
        return out

    def _start(self, event: Start) -> None:
        if self._state is _NEW:
            if event.usage is not None:
                self._usage = merged_usage(self._usage, event.usage)
            self._begin(event.id, event.model)

    def _begin(self, message_id: str = "", model: str = "") -> None:
        message: dict[str, Any] = {
            "id": message_id or random_id("msg_"),
            "type": "message",
            "role": "assistant",
            "model": model or self._model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": write_usage(self._usage),
        }
        self._emit("message_start", {"type": "message_start", "message": message})

    def _part_start(self, event: PartStart) -> None:
        self._blocks.start(event)

    def _delta(self, event: Delta) -> None:
        self._blocks.fill(event)

    def _part_end(self, event: PartEnd) -> None:
        self._blocks.end(event)

    def _note_finish(self, event: Finish) -> None:
        self._finish = event

    def _note_usage(self, event: UsageReport) -> None:
        self._usage = merged_usage(self._usage, event.usage)

    def _end(self, event: End) -> None:
        if self._state is _NEW:
            self._begin()
        self._blocks.close()
        for index in self._blocks.cited:
            self._losses.drop(f"content[{index}].citations", NO_CITATIONS)
        # text that was cut short is no object; the stop reason tells of it
        if self._finish.stop is not Stop.LENGTH:
            for index in sorted(self._blocks.odd_inputs):
                self._losses.coerce(f"content[{index}].input", NO_OBJECT)
        reason, sequence = write_stop(
            self._finish.stop,
            self._finish.stop_sequence,
            called=self._blocks.called,
            refused=self._blocks.refused,
        )
        stop = {"stop_reason": reason, "stop_sequence": sequence}
        usage = write_usage(self._usage)
        self._emit("message_delta", {"type": "message_delta", "delta": stop, "usage": usage})
        self._emit("message_stop", {"type": "message_stop"})

    def _failure(self, event: StreamFailure) -> None:
        self._emit("error", write_failure(event.failure))

    def _ping(self, event: Ping) -> None:
        self._append(ping())

    def _emit(self, name: str, document: dict[str, Any]) -> None:
        if self._state is _NEW and name == "content_block_start":
            self._begin()
        self._state = _MOVES[self._state, name]
        self._out.append(Event(json.encode(document), name))

    def _append(self, event: Event) -> None:
        self._out.append(event)


_WRITE: dict[type, Callable[[MessagesStreamWriter, Any], None]] = {
    Start: MessagesStreamWriter._start,
    PartStart: MessagesStreamWriter._part_start,
    Delta: MessagesStreamWriter._delta,
    PartEnd: MessagesStreamWriter._part_end,
    Finish: MessagesStreamWriter._note_finish,
    UsageReport: MessagesStreamWriter._note_usage,
    StreamFailure: MessagesStreamWriter._failure,
    Ping: MessagesStreamWriter._ping,
    End: MessagesStreamWriter._end,
}


def ping() -> Event:
    """Shows that the connection lives; clients leave it out of account."""
    return Event(_PING, "ping")
