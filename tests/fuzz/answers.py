"""Rich answers of each protocol, whole and as the events of a stream."""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]

_CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
_CHAT_USAGE = {
    "prompt_tokens": 9,
    "completion_tokens": 5,
    "total_tokens": 14,
    "prompt_tokens_details": {"cached_tokens": 4},
    "completion_tokens_details": {"reasoning_tokens": 2},
}
_MESSAGES_USAGE = {
    "input_tokens": 5,
    "cache_read_input_tokens": 4,
    "cache_creation_input_tokens": 0,
    "output_tokens": 5,
}
_RESPONSES_USAGE = {
    "input_tokens": 9,
    "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 2},
    "total_tokens": 14,
}
_TEXT_PART = {"type": "output_text", "text": "hello", "annotations": [], "logprobs": []}
_OUTPUT: list[Json] = [
    {
        "id": "rs_1",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "hmm"}],
        "encrypted_content": "AAAA",
    },
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [_TEXT_PART],
    },
    {
        "id": "fc_1",
        "type": "function_call",
        "call_id": "call_1",
        "name": "f",
        "arguments": '{"a": 1}',
        "status": "completed",
    },
]


def _response(status: str, **more: Any) -> Json:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": status,
        "model": "m",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        **more,
    }


WHOLE: dict[str, list[Json]] = {
    "chat": [
        {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": "hello",
                        "reasoning_content": "hmm",
                        "tool_calls": [_CALL],
                        "annotations": [],
                    },
                    "finish_reason": "tool_calls",
                }
            ],
            "usage": _CHAT_USAGE,
        }
    ],
    "messages": [
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [
                {"type": "thinking", "thinking": "hmm", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "AA=="},
                {"type": "text", "text": "hello", "citations": None},
                {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
                {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}},
            ],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": _MESSAGES_USAGE,
        }
    ],
    "responses": [_response("completed", output=_OUTPUT, usage=_RESPONSES_USAGE)],
}


def _chunk(delta: Json, finish: str | None = None, **more: Any) -> Json:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [choice], **more}


def _piece(index: int, arguments: str, **begun: Any) -> Json:
    function = {"arguments": arguments, **({"name": begun.pop("name")} if begun else {})}
    return {"tool_calls": [{"index": index, **begun, "function": function}]}


def _block(index: int, block: Json, *deltas: Json) -> list[Json]:
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _item(index: int, item: Json, begun: Json, *events: Json) -> list[Json]:
    return [
        {
            "type": "response.output_item.added",
            "output_index": index,
            "item": {**item, "status": "in_progress", **begun},
        },
        *({**event, "output_index": index, "item_id": item["id"]} for event in events),
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _responses_events() -> list[Json]:
    summary = {"summary_index": 0}
    text = {"content_index": 0}
    reasoning, message, call = _OUTPUT
    events = [
        {"type": "response.created", "response": _response("in_progress")},
        {"type": "response.in_progress", "response": _response("in_progress")},
        *_item(
            0,
            reasoning,
            {"summary": [], "encrypted_content": None},
            {
                "type": "response.reasoning_summary_part.added",
                "part": {"type": "summary_text", "text": ""},
                **summary,
            },
            {"type": "response.reasoning_summary_text.delta", "delta": "hmm", **summary},
            {"type": "response.reasoning_summary_text.done", "text": "hmm", **summary},
            {
                "type": "response.reasoning_summary_part.done",
                "part": {"type": "summary_text", "text": "hmm"},
                **summary,
            },
        ),
        *_item(
            1,
            message,
            {"content": []},
            {"type": "response.content_part.added", "part": {**_TEXT_PART, "text": ""}, **text},
            {"type": "response.output_text.delta", "delta": "hel", "logprobs": [], **text},
            {"type": "response.output_text.delta", "delta": "lo", "logprobs": [], **text},
            {"type": "response.output_text.done", "text": "hello", "logprobs": [], **text},
            {"type": "response.content_part.done", "part": _TEXT_PART, **text},
        ),
        *_item(
            2,
            call,
            {"arguments": ""},
            {"type": "response.function_call_arguments.delta", "delta": '{"a":'},
            {"type": "response.function_call_arguments.delta", "delta": " 1}"},
            {
                "type": "response.function_call_arguments.done",
                "arguments": '{"a": 1}',
                "name": "f",
            },
        ),
        {
            "type": "response.completed",
            "response": _response("completed", output=_OUTPUT, usage=_RESPONSES_USAGE),
        },
    ]
    return [{"sequence_number": number, **event} for number, event in enumerate(events)]


STREAMS: dict[str, list[Json]] = {
    "chat": [
        _chunk({"role": "assistant", "content": ""}),
        _chunk({"reasoning_content": "hmm"}),
        _chunk({"content": "hel"}),
        _chunk({"content": "lo"}),
        _chunk(_piece(0, "", id="call_1", type="function", name="f")),
        _chunk(_piece(0, '{"a":')),
        _chunk(_piece(1, "", id="call_2", type="function", name="g")),
        _chunk(_piece(0, " 1}")),
        _chunk(_piece(1, '{"b": [2]}')),
        _chunk({}, "tool_calls"),
        {**_chunk({}), "choices": [], "usage": _CHAT_USAGE},
    ],
    "messages": [
        {
            "type": "message_start",
            "message": {
                **WHOLE["messages"][0],
                "content": [],
                "stop_reason": None,
                "usage": {"input_tokens": 5, "output_tokens": 1},
            },
        },
        *_block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "hmm"},
            {"type": "signature_delta", "signature": "c2ln"},
        ),
        {"type": "ping"},
        *_block(
            1,
            {"type": "text", "text": ""},
            {"type": "text_delta", "text": "hel"},
            {"type": "text_delta", "text": "lo"},
        ),
        *_block(
            2,
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
            {"type": "input_json_delta", "partial_json": ""},
            {"type": "input_json_delta", "partial_json": '{"a":'},
            {"type": "input_json_delta", "partial_json": " 1}"},
        ),
        *_block(3, {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}}),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": _MESSAGES_USAGE,
        },
        {"type": "message_stop"},
    ],
    "responses": _responses_events(),
}

LAST_NEEDED = {
    "chat": next(
        place
        for place, event in enumerate(STREAMS["chat"])
        if event["choices"] and event["choices"][0]["finish_reason"]
    ),
    "messages": len(STREAMS["messages"]) - 2,  # message_delta says why it stopped
    "responses": len(STREAMS["responses"]) - 1,
}
"""The event without which a stream is not complete."""


def encoded(protocol: str, events: list[Any]) -> list[bytes]:
    """The events as an upstream of the protocol sends them."""
    written = []
    for event in events:
        name = event.get("type") if isinstance(event, dict) and protocol != "chat" else None
        head = f"event: {name}\n" if isinstance(name, str) and name.isprintable() else ""
        written.append(f"{head}data: {json.dumps(event)}\n\n".encode())
    return [*written, b"data: [DONE]\n\n"] if protocol == "chat" else written
