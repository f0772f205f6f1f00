"""A Responses stream, read: its events to neutral ones.

https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, ClassVar

from toolwire.proxy.errors import UpstreamCut
from toolwire.proxy.protocols import failure as failures
from toolwire.proxy.protocols.collect import of_input
from toolwire.proxy.protocols.neutral import (
    End,
    Failure,
    Finish,
    Ping,
    Start,
    Stop,
    StreamEvent,
    StreamFailure,
    UsageReport,
)
from toolwire.proxy.protocols.responses import wire
from toolwire.proxy.protocols.responses.response import (
    failed_response,
    read_error,
    seconds,
    stop_of,
    usage_of,
)
from toolwire.proxy.protocols.responses.stream_items import OutputItems
from toolwire.proxy.protocols.sse import DONE, Event

BROKEN_OFF = "the upstream's stream broke off before its end"


class State(Enum):
    BEFORE = "no response has begun"
    RUNNING = "the response has begun"
    ENDED = "the response is over, or has failed"


class ResponsesReader:
    """See ``codec.StreamReader``."""

    def __init__(self) -> None:
        self._state = State.BEFORE
        self._items = OutputItems()

    def read(self, event: Event) -> list[StreamEvent]:
        if self._state is State.ENDED or event.data is None or event.data == DONE:
            return []
        if event.parsed is None:
            wire.parse([event])
        chunk = event.parsed
        if not isinstance(chunk, wire.StreamEvent):
            return self._fail(Failure(502, "the upstream sent an event that is no JSON object"))
        kind = chunk.type or event.name or ""
        if (part_kind := wire.DELTAS.get(kind)) is not None:
            if self._state is State.RUNNING:
                return self._items.delta(chunk, part_kind)
            return self._begin({}) + self._items.delta(chunk, part_kind)
        if (part_kind := wire.WHOLES.get(kind)) is not None:
            return self._begin({}) + self._items.whole(chunk, part_kind)
        if kind == "" and chunk.error != wire.NULL:
            kind = "error"
        read = self._READ.get(kind)
        return read(self, chunk) if read is not None else []

    def close(self) -> list[StreamEvent]:
        if self._state is State.ENDED:
            return []
        return self._fail(failures.from_exception(UpstreamCut(BROKEN_OFF)))

    def _begin(self, response: dict[str, Any]) -> list[StreamEvent]:
        """The start, once, from what is known of the response."""
        if self._state is not State.BEFORE:
            return []
        self._state = State.RUNNING
        response_id, model = response.get("id"), response.get("model")
        return [
            Start(
                id=response_id if isinstance(response_id, str) else "",
                model=model if isinstance(model, str) else "",
                created=seconds(response.get("created_at")),
                usage=of_input(usage_of(response)),
            )
        ]

    def _created(self, chunk: wire.StreamEvent) -> list[StreamEvent]:
        if self._state is not State.BEFORE:
            return []
        return self._begin(wire.object_in(chunk.response))

    def _item_added(self, chunk: wire.StreamEvent) -> list[StreamEvent]:
        return self._begin({}) + self._items.added(chunk)

    def _item_done(self, chunk: wire.StreamEvent) -> list[StreamEvent]:
        return self._begin({}) + self._items.done(chunk)

    def _annotated(self, chunk: wire.StreamEvent) -> list[StreamEvent]:
        self._items.annotated(chunk)
        return self._begin({})

    def _completed(self, chunk: wire.StreamEvent) -> list[StreamEvent]:
        return self._end(chunk, "completed")

    def _incomplete(self, chunk: wire.StreamEvent) -> list[StreamEvent]:
        return self._end(chunk, "incomplete")

    def _end(self, chunk: wire.StreamEvent, status: str) -> list[StreamEvent]:
        """The last event repeats the whole response; it may tell more than its own name."""
        response = wire.object_in(chunk.response)
        events = self._begin(response)
        failed = failed_response(response)
        if failed is not None:
            return events + self._fail(failed)
        events += self._items.rest(response)
        usage = usage_of(response)
        if usage is not None:
            events.append(UsageReport(usage))
        if response.get("status") != "incomplete":
            response["status"] = status
        self._state = State.ENDED
        return [*events, Finish(stop_of(response, self._items.parts) or Stop.DONE), End()]

    def _failed(self, chunk: wire.StreamEvent) -> list[StreamEvent]:
        response = {"status": "failed", **wire.object_in(chunk.response)}
        failed = failed_response(response) or Failure(502, "the upstream's response failed")
        return self._begin(response) + self._fail(failed)

    def _error(self, chunk: wire.StreamEvent) -> list[StreamEvent]:
        return self._fail(read_error(error_in(chunk)))

    def _ping(self, _: wire.StreamEvent) -> list[StreamEvent]:
        return [Ping()]

    def _fail(self, failure: Failure) -> list[StreamEvent]:
        self._state = State.ENDED
        return [StreamFailure(failure)]

    _READ: ClassVar[dict[str, Callable[[ResponsesReader, wire.StreamEvent], list[StreamEvent]]]] = {
        "response.created": _created,
        "response.in_progress": _created,
        "response.queued": _created,
        "response.output_item.added": _item_added,
        "response.output_item.done": _item_done,
        "response.output_text.annotation.added": _annotated,
        "response.completed": _completed,
        wire.DONE_AT_ALL: _completed,
        "response.incomplete": _incomplete,
        "response.failed": _failed,
        "response.cancelled": _failed,
        "error": _error,
        wire.FAULT: _error,
        "keepalive": _ping,
    }


def error_in(chunk: wire.StreamEvent) -> dict[str, Any]:
    """The error of an ``error`` event: documented flat, and sent with an ``error`` object."""
    error = wire.value_in(chunk.error)
    if isinstance(error, dict):
        return error
    message = error if isinstance(error, str) else chunk.message
    return {"code": chunk.code, "message": message, "param": chunk.param}
