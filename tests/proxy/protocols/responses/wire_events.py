"""Events of a Responses stream for the tests here, and what they say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.neutral import StreamEvent
from toolwire.proxy.protocols.responses import CODEC
from toolwire.proxy.protocols.sse import Event

RESPONSE = {
    "id": "resp_u1",
    "object": "response",
    "created_at": 1700000000,
    "status": "in_progress",
    "model": "demo-model",
    "output": [],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "error": None,
    "incomplete_details": None,
    "usage": None,
}
USAGE = {
    "input_tokens": 12,
    "input_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 2},
    "output_tokens": 3,
    "output_tokens_details": {"reasoning_tokens": 1},
    "total_tokens": 15,
}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Hello", "annotations": []}],
}
CALL = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "call_1",
    "name": "get_weather",
    "arguments": '{"city":"Oslo"}',
    "status": "completed",
}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


def created() -> dict[str, Any]:
    return event("response.created", response=RESPONSE)


def completed(output: list[Any], status: str = "completed", **fields: Any) -> dict[str, Any]:
    response = {**RESPONSE, "status": status, "output": output, "usage": USAGE, **fields}
    return event(f"response.{status}", response=response)


def message_events(index: int = 0) -> list[dict[str, Any]]:
    """The message ``MESSAGE``, told in two deltas."""
    place = {"item_id": "msg_1", "output_index": index, "content_index": 0}
    empty = {"type": "output_text", "text": "", "annotations": []}
    added = {**MESSAGE, "status": "in_progress", "content": []}
    return [
        event("response.output_item.added", output_index=index, item=added),
        event("response.content_part.added", **place, part=empty),
        event("response.output_text.delta", **place, delta="Hel", logprobs=[]),
        event("response.output_text.delta", **place, delta="lo", logprobs=[]),
        event("response.output_text.done", **place, text="Hello", logprobs=[]),
        event("response.content_part.done", **place, part=MESSAGE["content"][0]),
        event("response.output_item.done", output_index=index, item=MESSAGE),
    ]


def call_events(index: int = 1) -> list[dict[str, Any]]:
    """The call ``CALL``, told in two deltas."""
    place = {"item_id": "fc_1", "output_index": index}
    added = {**CALL, "status": "in_progress", "arguments": ""}
    return [
        event("response.output_item.added", output_index=index, item=added),
        event("response.function_call_arguments.delta", **place, delta='{"city":'),
        event("response.function_call_arguments.delta", **place, delta='"Oslo"}'),
        event("response.function_call_arguments.done", **place, arguments=CALL["arguments"]),
        event("response.output_item.done", output_index=index, item=CALL),
    ]


def whole_stream() -> list[dict[str, Any]]:
    """A text and a call, with nothing wrong."""
    return [created(), *message_events(), *call_events(), completed([MESSAGE, CALL])]


def numbered(documents: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**document, "sequence_number": number} for number, document in enumerate(documents)]


def wire(documents: Iterable[dict[str, Any]], *, named: bool = True) -> list[Event]:
    """The documents as events that came from an upstream."""
    events = []
    for document in documents:
        data = json.encode(document)
        name = document["type"] if named else None
        line = f"event: {name}\n".encode() if name else b""
        events.append(Event(data, name, raw=line + b"data: " + data))
    return events


def documents_of(events: Iterable[Event]) -> list[dict[str, Any]]:
    return [json.decode(event.data) for event in events if event.data is not None]


def read_all(events: Iterable[Event]) -> list[StreamEvent]:
    """What a reader makes of the events, and of the end of the body."""
    reader = CODEC.stream_reader()
    return [found for event in events for found in reader.read(event)] + reader.close()
