"""A complete stream of each protocol, one event at a time, as a perfect upstream sends it."""

from __future__ import annotations

import json
from typing import Any

PATHS = {"chat": "/v1/chat/completions", "messages": "/v1/messages", "responses": "/v1/responses"}
ASK: dict[str, dict[str, Any]] = {
    "chat": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    "messages": {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "hi"}],
    },
    "responses": {"model": "m", "input": "hi"},
}
"""A request of each protocol."""


def event(document: dict[str, Any]) -> bytes:
    """``document`` as an event; the white space and key order are nobody's convention."""
    name = f"event: {document['type']}\n" if "type" in document else ""
    return f"{name}data: {json.dumps(document, separators=(', ', ':'))}\n\n".encode()


def _chat(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


_MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 7, "output_tokens": 1},
}


def _text(text: str) -> dict[str, Any]:
    delta = {"type": "text_delta", "text": text}
    return {"type": "content_block_delta", "index": 0, "delta": delta}


_ITEM = {"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress"}
_PART = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
_AT = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
_WHOLE = {**_PART, "text": "héllo"}
_DONE_ITEM = {**_ITEM, "status": "completed", "content": [_WHOLE]}


def response(status: str, **more: Any) -> dict[str, Any]:
    """A response object with all that clients demand."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": status,
        "model": "m",
        "output": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        **more,
    }


_USAGE = {
    "input_tokens": 7,
    "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
    "output_tokens": 3,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 10,
}


def _numbered(*documents: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": document["type"], "sequence_number": number, **document}
        for number, document in enumerate(documents)
    ]


_DOCUMENTS = {
    "chat": [
        _chat({"role": "assistant", "content": ""}),
        _chat({"content": "hé"}, unknown={"z": 1.0, "a": [10**20]}),
        _chat({"content": "llo"}),
        _chat({}, "stop"),
        {
            **_chat({}),
            "choices": [],
            "usage": {
                "prompt_tokens": 7,
                "completion_tokens": 3,
                "total_tokens": 10,
                "prompt_tokens_details": {"cached_tokens": 4},
            },
        },
    ],
    "messages": [
        {"type": "message_start", "message": _MESSAGE},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        _text("hé"),
        {**_text("llo"), "unknown": 1.0},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 3},
        },
        {"type": "message_stop"},
    ],
    "responses": _numbered(
        {"type": "response.created", "response": response("in_progress")},
        {"type": "response.in_progress", "response": response("in_progress")},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**_ITEM, "content": []},
        },
        {"type": "response.content_part.added", **_AT, "part": _PART},
        {"type": "response.output_text.delta", **_AT, "delta": "hé", "logprobs": []},
        {"type": "response.output_text.delta", **_AT, "delta": "llo", "logprobs": [], "x": 1.0},
        {"type": "response.output_text.done", **_AT, "text": "héllo", "logprobs": []},
        {"type": "response.content_part.done", **_AT, "part": _WHOLE},
        {"type": "response.output_item.done", "output_index": 0, "item": _DONE_ITEM},
        {
            "type": "response.completed",
            "response": response("completed", output=[_DONE_ITEM], usage=_USAGE),
        },
    ),
}

EVENTS: dict[str, list[bytes]] = {
    protocol: [event(document) for document in documents]
    for protocol, documents in _DOCUMENTS.items()
}
EVENTS["chat"].append(b"data: [DONE]\n\n")
"""A text of two deltas, "hé" and "llo"; 7 tokens in, of which 4 cached, and 3 out."""
