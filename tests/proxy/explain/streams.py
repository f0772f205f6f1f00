"""Streams of each protocol, and what chat streams are made of."""

from __future__ import annotations

import json
from typing import Any

from tests.proxy.explain.samples import ANSWERS


def _chat_stream() -> bytes:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    deltas: list[tuple[dict[str, Any], str | None]] = [
        ({"role": "assistant", "content": ""}, None),
        ({"content": "Take "}, None),
        ({"content": "an "}, None),
        ({"content": "umbrella."}, None),
        ({}, "stop"),
    ]
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        for delta, finish in deltas
    ]
    return b"".join(b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in chunks)


def _typed_stream(events: list[dict[str, Any]]) -> bytes:
    return b"".join(
        b"event: %b\ndata: %b\n\n" % (event["type"].encode(), json.dumps(event).encode())
        for event in events
    )


_TEXT = {"type": "text", "text": ""}
_STARTED = {
    **ANSWERS["messages"],
    "content": [],
    "stop_reason": None,
    "usage": {"input_tokens": 9, "output_tokens": 1},
}
_MESSAGES_EVENTS: list[dict[str, Any]] = [
    {"type": "message_start", "message": _STARTED},
    {"type": "content_block_start", "index": 0, "content_block": _TEXT},
    *(
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": text},
        }
        for text in ("Take ", "an ", "umbrella.")
    ),
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 4},
    },
    {"type": "message_stop"},
]

_ITEM = ANSWERS["responses"]["output"][0]
_PART = _ITEM["content"][0]
_BEGUN = {**ANSWERS["responses"], "status": "in_progress", "output": [], "usage": None}
_WHERE = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
_RESPONSES_EVENTS: list[dict[str, Any]] = [
    {"type": "response.created", "response": _BEGUN},
    {"type": "response.in_progress", "response": _BEGUN},
    {
        "type": "response.output_item.added",
        "output_index": 0,
        "item": {**_ITEM, "status": "in_progress", "content": []},
    },
    {"type": "response.content_part.added", **_WHERE, "part": {**_PART, "text": ""}},
    {"type": "response.output_text.delta", **_WHERE, "delta": "Take an ", "logprobs": []},
    {"type": "response.output_text.delta", **_WHERE, "delta": "umbrella.", "logprobs": []},
    {"type": "response.output_text.done", **_WHERE, "text": _PART["text"], "logprobs": []},
    {"type": "response.content_part.done", **_WHERE, "part": _PART},
    {"type": "response.output_item.done", "output_index": 0, "item": _ITEM},
    {"type": "response.completed", "response": ANSWERS["responses"]},
]

STREAMS: dict[str, bytes] = {
    "chat": _chat_stream(),  # without [DONE]: there is something to repair
    "messages": _typed_stream(_MESSAGES_EVENTS),
    "responses": _typed_stream(
        [{**event, "sequence_number": n} for n, event in enumerate(_RESPONSES_EVENTS)]
    ),
}


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def call(index: int, arguments: str, **more: Any) -> dict[str, Any]:
    """A piece of a call; ``id`` and ``name`` begin one."""
    named = {"id": more["id"], "type": "function"} if "id" in more else {}
    function = {"name": more["name"]} if "name" in more else {}
    return {
        "tool_calls": [{"index": index, **named, "function": {**function, "arguments": arguments}}]
    }


CALLS = [
    chunk({"role": "assistant", "content": None}),
    chunk({"reasoning_content": "Hm"}),
    chunk(call(0, "", id="call_a", name="get")),
    chunk(call(1, "", id="call_b", name="put")),
    chunk(call(0, '{"a"')),
    chunk(call(1, "{}")),
    chunk(call(0, ":1}")),
    chunk({}, "tool_calls"),
    {**chunk({}), "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
]


def stream_of(documents: list[dict[str, Any]]) -> bytes:
    return b"".join(b"data: %b\n\n" % json.dumps(document).encode() for document in documents)
