"""What a Responses upstream left out or got wrong, put right on the wire: unknown fields stay.

The faults and who makes them: llama.cpp leaves out ``sequence_number``, ``output_index``, much of
the response, and the end of what it thinks and calls; OpenRouter the ``event:`` lines, and adds a
``[DONE]``; GitHub Copilot gives an item another id in every event; ChatGPT's last event has no
output; LM Studio sends no deltas of arguments.
"""

from __future__ import annotations

import time
from typing import Any

from toolwire.proxy.errors import UpstreamCut
from toolwire.proxy.protocols import failure as failures
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.identifiers import random_id
from toolwire.proxy.protocols.neutral import Failure, Usage
from toolwire.proxy.protocols.responses import wire
from toolwire.proxy.protocols.responses.echo import response_object
from toolwire.proxy.protocols.responses.output import arguments_text
from toolwire.proxy.protocols.responses.placeholder import Placeholder, placeholder
from toolwire.proxy.protocols.responses.repair_fields import fill_part, fill_response
from toolwire.proxy.protocols.responses.repair_items import (
    PART_EVENTS,
    Changes,
    RepairedItems,
)
from toolwire.proxy.protocols.responses.repaired_item import Said
from toolwire.proxy.protocols.responses.response import usage_of, write_failed
from toolwire.proxy.protocols.responses.stream_reader import BROKEN_OFF, error_in
from toolwire.proxy.protocols.sse import DONE, Event, says_nothing

_LAST_NUMBER = 2**31 - 1
"""Greater than the number of any event before it, where nobody knows that number."""

_HAS_LOGPROBS = tuple(f"{wire.PartKind.TEXT.value}.{step}" for step in ("delta", "done"))


def repair_answer(
    document: dict[str, Any], request: dict[str, Any] | None = None
) -> dict[str, int]:
    """Repairs a whole response in place: ids of items, arguments that are no text, and what clients
    demand (see ``repair_fields``)."""
    repairs: dict[str, int] = {}
    if document.get("object") == "response" and fill_response(document, request, int(time.time())):
        repairs["response_fields"] = 1
    output = document.get("output")
    for index, item in enumerate(output if isinstance(output, list) else []):
        if not isinstance(item, dict):
            continue
        prefix = wire.ID_PREFIX.get(str(item.get("type")))
        if prefix is not None and not isinstance(item.get("id"), str):
            item["id"] = f"{prefix}{str(document.get('id', '')).removeprefix('resp_')}_{index}"
            repairs["item_id"] = repairs.get("item_id", 0) + 1
        if item.get("type") == "function_call" and not isinstance(item.get("arguments"), str):
            item["arguments"] = arguments_text(item.get("arguments"))
            repairs["arguments_not_text"] = repairs.get("arguments_not_text", 0) + 1
        content = item.get("content")
        for part in content if isinstance(content, list) else []:
            if isinstance(part, dict) and fill_part(part):
                repairs["part_fields"] = repairs.get("part_fields", 0) + 1
    return repairs


def failed_event(
    failure: Failure, response: dict[str, Any] | None = None, number: int = _LAST_NUMBER
) -> Event:
    """``response.failed``: the one error in a stream that every client understands."""
    if not response:
        response = response_object(
            {}, response_id=random_id("resp_"), model="", created=int(time.time())
        )
    name = "response.failed"
    response = {**response, "status": "failed", "error": write_failed(failure)}
    data = {"type": name, "sequence_number": number, "response": response}
    return Event(json.encode(data), name)


class ResponsesRepair:
    """See ``codec.StreamRepair``."""

    def __init__(self, request: dict[str, Any] | None = None) -> None:
        self._request = request
        self._created = int(time.time())
        self.repairs: dict[str, int] = {}
        self.usage: Usage | None = None
        self.finished = False
        self._errored = False
        self._last_number = -1
        self._response = wire.NULL
        self._items = RepairedItems(self._count)
        self._held: Placeholder | None = None

    def feed(self, events: list[Event]) -> list[Event]:
        wire.parse(events)
        passed: list[Event] = []
        items = self._items.by_index
        for event in events:
            chunk = event.parsed
            # the common case, written out: a delta with nothing wrong about it
            if (
                chunk is not None
                and (kind := chunk.type) in wire.DELTAS
                and event.name == kind
                and (number := chunk.sequence_number) is not None
                and number > self._last_number
                and (item := items.get(chunk.output_index)) is not None
                and item.id == chunk.item_id
                and not self.finished
                and self._held is None
            ):
                part = chunk.content_index if chunk.summary_index is None else chunk.summary_index
                # the first of a part goes another way, and is noted there
                heard = item.heard.get((kind, part))
                if heard is not None and type(chunk.delta) is str:
                    self._last_number = number
                    heard.append(chunk.delta)
                    passed.append(event)
                    continue
            passed += self._repaired(event, chunk)
        return passed

    def passes(self, data: bytes) -> bool:
        return False

    def close(self, failure: Failure | None = None) -> list[Event]:
        if self.finished:
            return []
        held = [self._held.event] if self._held is not None else []
        self.finished = True
        self._count("broken_off")
        response = wire.object_in(self._response)
        if response:
            fill_response(response, self._request, self._created)
            response["output"] = self._items.done_items()
        if failure is None:
            failure = failures.from_exception(UpstreamCut(BROKEN_OFF))
        return [*held, failed_event(failure, response, self._last_number + 1)]

    def _repaired(self, event: Event, chunk: wire.StreamEvent | None) -> list[Event]:
        if event.data is None:
            return [event]
        if event.data == DONE or says_nothing(event.data):
            self._count("done_marker" if event.data == DONE else "empty_event")
            return []
        if chunk is None:
            return [] if self.finished else [event]
        if (held := self._held) is not None:
            self._held, first = None, held.told(chunk)
            if first is not held.event:
                self._count("arguments_placeholder")
            return [first, *self._repaired(event, chunk)]
        changes: Changes = {}
        kind = self._kind(event, chunk, changes)
        if kind == wire.DONE_AT_ALL:
            kind = self._end_by_status(chunk, changes)
        if self.finished and not (self._errored and kind == "response.failed"):
            self._count("after_the_end")
            return []
        if kind is None:
            return [event]
        inserted = self._apply(kind, chunk, changes)
        passed = [self._new(name, fields) for name, fields in inserted]
        number = chunk.sequence_number
        if number is None or number <= self._last_number:
            changes["sequence_number"] = number = self._last_number + 1
            self._count("sequence_number")
        self._last_number = number
        event = self._changed(event, kind, chunk, changes)
        item = self._items.by_index.get(changes.get("output_index", chunk.output_index))
        self._held = placeholder(event, kind, chunk, item)
        return passed if self._held is not None else [*passed, event]

    def _kind(self, event: Event, chunk: wire.StreamEvent, changes: Changes) -> str | None:
        """The type of an event; None of what is no event of this protocol."""
        if chunk.type is not None and chunk.type != wire.FAULT:
            return chunk.type
        kind = event.name
        if chunk.type is not None or (kind is None and chunk.error != wire.NULL):
            # the error of a server that thinks of chat
            kind = "error"
            error = error_in(chunk)
            changes |= {name: error.get(name) for name in ("code", "message", "param")}
        if kind is not None:
            changes["type"] = kind
            self._count("type")
        return kind

    def _end_by_status(self, chunk: wire.StreamEvent, changes: Changes) -> str:
        """The documented event in the place of ``response.done``, which several gateways send."""
        status = wire.object_in(chunk.response).get("status", "completed")
        changes["type"] = kind = f"response.{status}"
        self._count("type")
        return kind

    def _apply(self, kind: str, chunk: wire.StreamEvent, changes: Changes) -> list[Said]:
        """Takes note of an event and what to change in it; the events that it lacks before it."""
        if kind in PART_EVENTS:
            return self._items.part(kind, chunk, changes)
        if kind == "response.output_item.added":
            self._items.added(chunk, changes)
        elif kind == "response.output_item.done":
            return self._items.done(chunk, changes)
        elif kind in wire.TERMINAL:
            return self._end(kind, chunk, changes)
        elif kind == "error":
            self.finished = self._errored = True
        elif chunk.response != wire.NULL:
            self._response = chunk.response
            self._fill(wire.object_in(chunk.response), changes)
        return []

    def _end(self, kind: str, chunk: wire.StreamEvent, changes: Changes) -> list[Said]:
        self.finished = True
        self._errored = False
        response = wire.object_in(chunk.response)
        self.usage = usage_of(response)
        self._fill(response, changes)
        if not response:
            return []
        ahead, changed = self._items.end(response, tell=kind != "response.failed")
        if changed:
            changes["response"] = response
        return ahead

    def _fill(self, response: dict[str, Any], changes: Changes) -> None:
        if response and fill_response(response, self._request, self._created):
            changes["response"] = response
            self._count("response_fields")

    def _new(self, name: str, fields: dict[str, Any]) -> Event:
        self._last_number += 1
        document = {"type": name, **fields, "sequence_number": self._last_number}
        return Event(json.encode(document), name)

    def _changed(self, event: Event, kind: str, chunk: wire.StreamEvent, changes: Changes) -> Event:
        if event.name != kind:
            self._count("event_line")
        elif not changes:
            return event
        if not changes:
            return Event(event.data, kind, parsed=chunk)
        document = {**wire.document_in(event.data or b""), **changes}
        if kind in _HAS_LOGPROBS:  # clients demand them, but nothing is read for them alone
            document.setdefault("logprobs", [])
        return Event(json.encode(document), kind)

    def _count(self, kind: str) -> None:
        self.repairs[kind] = self.repairs.get(kind, 0) + 1
