"""A Responses stream, written: neutral events to those of a client.

https://platform.openai.com/docs/api-reference/responses-streaming

Items may be open side by side (``output_index`` tells them apart), so nothing is ever held back.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum
from typing import Any, ClassVar

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.collect import merged_usage, text_of
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
from toolwire.proxy.protocols.responses.echo import response_object
from toolwire.proxy.protocols.responses.namespaces import own_names
from toolwire.proxy.protocols.responses.output import cited, is_item, item_id
from toolwire.proxy.protocols.responses.response import (
    REASONS,
    close_response,
    corrected_stop,
    response_id_for,
    write_failed,
    write_usage,
)
from toolwire.proxy.protocols.responses.stream_part import Said, StreamedItem
from toolwire.proxy.protocols.sse import Event


class State(Enum):
    BEFORE = "response.created has not gone out"
    RUNNING = "items may be added"
    ENDED = "the terminal event has gone out"


_LEGAL: dict[State, frozenset[type]] = {
    State.BEFORE: frozenset({Start}),
    State.RUNNING: frozenset({PartStart, Delta, PartEnd, Finish, UsageReport, StreamFailure, End}),
    State.ENDED: frozenset(),
}
"""Which events move a stream in which state; the others are ignored."""

_Written = list[Event]


class ResponsesWriter:
    """See ``codec.StreamWriter``.

    An item is added when it has something to show: a call at once, text with its first delta.  It
    is done with the event after its end, which may tell that the answer was cut off there.

    ``losses`` are told what the client does not get, by its place in the response.
    """

    def __init__(self, request: Request, losses: Losses) -> None:
        self._request = request
        self._losses = losses
        self._names = own_names(request.tools)
        self._state = State.BEFORE
        self._response: dict[str, Any] = {}
        self._sequence = 0
        self._waiting: dict[int, Part] = {}
        self._open: dict[int, StreamedItem] = {}
        self._items: list[StreamedItem] = []
        self._ended: PartEnd | None = None
        self._stop = Stop.DONE
        self._usage: Usage | None = None

    def write(self, event: StreamEvent) -> list[Event]:
        if self._ended is None and isinstance(event, Delta):
            item = self._open.get(event.key)
            if item is not None and event.logprobs is None:
                return self._delta_event(item, event.text)
        begun = self._settle(event)
        if self._state is State.BEFORE and not isinstance(event, Start | Ping):
            begun += self._start(Start("", ""))
        kind = type(event)
        return begun + self._MOVES[kind](self, event) if kind in _LEGAL[self._state] else begun

    # ------------------------------------------------------------------------------ moves
    def _start(self, start: Start) -> _Written:
        self._state = State.RUNNING
        if start.usage is not None:
            self._usage = merged_usage(self._usage, start.usage)
        self._response = response_object(
            self._request.document,
            response_id=response_id_for(start.id),
            model=start.model or self._request.model,
            created=int(time.time()) if start.created is None else start.created,
        )
        said = {"response": self._response}
        return self._events([("response.created", said), ("response.in_progress", said)])

    def _part_start(self, start: PartStart) -> _Written:
        events = self._close(start.key, None, None)
        self._waiting.pop(start.key, None)
        if is_item(start.part):
            return events + self._add(start.key, start.part)
        if isinstance(start.part, Text | Refusal | Thinking):
            self._waiting[start.key] = start.part
        return events

    def _delta(self, delta: Delta) -> _Written:
        """The first text of a part, or tokens; other deltas take the shorter way in ``write``."""
        events: _Written = []
        if delta.text and (part := self._waiting.pop(delta.key, None)) is not None:
            events = self._add(delta.key, part)
        if (item := self._open.get(delta.key)) is None:
            return []
        if not delta.logprobs or not isinstance(item.part, Text):
            return events + self._delta_event(item, delta.text)
        opening = [] if item.said else item.part_opening()
        return events + self._events([*opening, item.weighed(delta.text, delta.logprobs)])

    def _part_end(self, end: PartEnd) -> _Written:
        """A part that showed nothing so far may come whole now, or be a signature alone."""
        events: _Written = []
        waiting = self._waiting.pop(end.key, None)
        if waiting is not None:
            part = end.part or waiting
            events = self._add(end.key, part) if is_item(part) else []
            if not events and isinstance(part, Text):
                cited(part, len(self._items), self._losses)  # which have no text to stand at
        self._ended = end
        return events

    def _settle(self, event: StreamEvent) -> _Written:
        """Closes the item that ended last, now that it is known what came then."""
        if (end := self._ended) is None or isinstance(event, UsageReport | Ping):
            return []
        self._ended = None
        if isinstance(event, Finish):
            self._stop = event.stop
        # the finish may come before the end of the last item, too
        cut = isinstance(event, Finish | End) and self._corrected(self._stop) in REASONS
        return self._close(end.key, end.part, "incomplete" if cut else None)

    def _corrected(self, stop: Stop) -> Stop:
        return corrected_stop(stop, [item.part for item in self._items])

    def _finish(self, finish: Finish) -> _Written:
        self._stop = finish.stop
        return []

    def _report(self, report: UsageReport) -> _Written:
        self._usage = merged_usage(self._usage, report.usage)
        return []

    def _end(self, _: End) -> _Written:
        stop = self._corrected(self._stop)
        status = "incomplete" if stop in REASONS else None
        events = [event for key in list(self._open) for event in self._close(key, None, status)]
        close_response(self._response, stop, self._usage)
        return events + self._terminate()

    def _fail(self, failed: StreamFailure) -> _Written:
        """What was shown is kept; an unfinished call is not done, or a client would run it."""
        events: _Written = []
        for key, item in list(self._open.items()):
            if isinstance(item.part, Call):
                item.cut()
            else:
                events += self._close(key, None, "incomplete")
        self._response["status"] = "failed"
        self._response["error"] = write_failed(failed.failure)
        self._response["usage"] = write_usage(self._usage)
        return events + self._terminate()

    # ----------------------------------------------------------------------------- inside
    def _add(self, key: int, part: Part) -> _Written:
        index = len(self._items)
        item = StreamedItem(
            part, item_id(part, self._response["id"], index, self._names), index, self._names
        )
        self._open[key] = item
        self._items.append(item)
        return self._events(item.opening()) + self._delta_event(item, text_of(part))

    def _close(self, key: int, whole: Part | None, status: str | None) -> _Written:
        item = self._open.pop(key, None)
        if item is None:
            return []
        whole = whole if type(whole) is type(item.part) else None
        owed = self._delta_event(item, item.owed(whole, cut=status == "incomplete"))
        if isinstance(whole, Text):
            whole = cited(whole, item.index, self._losses)
        return owed + self._events(item.closing(whole, status))

    def _terminate(self) -> _Written:
        self._state = State.ENDED
        self._open = {}
        self._response["output"] = [item.item for item in self._items]
        return self._events(
            [(f"response.{self._response['status']}", {"response": self._response})]
        )

    def _delta_event(self, item: StreamedItem, text: str) -> _Written:
        if not text:
            return []
        if not item.delta_head:
            item.said.append(text)
            return []
        opening = [] if item.said else self._events(item.part_opening())
        item.said.append(text)
        number = self._sequence
        self._sequence = number + 1
        data = b'%b%d,"delta":%b}' % (item.delta_head, number, json.encode(text))
        return [*opening, Event(data, item.delta_name)]

    def _events(self, said: list[Said]) -> _Written:
        events = []
        for name, fields in said:
            document = {"type": name, "sequence_number": self._sequence, **fields}
            self._sequence += 1
            events.append(Event(json.encode(document), name))
        return events

    _MOVES: ClassVar[dict[type, Callable[[ResponsesWriter, Any], _Written]]] = {
        Start: _start,
        PartStart: _part_start,
        Delta: _delta,
        PartEnd: _part_end,
        Finish: _finish,
        UsageReport: _report,
        StreamFailure: _fail,
        End: _end,
    }
