"""Requests, answers and streams of each protocol, and gateways to explain them with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolwire.config.load import loads
from toolwire.config.model import Settings
from toolwire.proxy.explain.explanation import Explanation, explain
from toolwire.proxy.explain.given import Source, given
from toolwire.proxy.stack import OPTIONS

PROTOCOLS = ("chat", "messages", "responses")
PAIRS = [(client, upstream) for client in PROTOCOLS for upstream in PROTOCOLS]
PATHS = {
    "chat": "/v1/chat/completions",
    "messages": "/v1/messages",
    "responses": "/v1/responses",
}

SCHEMA = {"type": "object", "properties": {"unit": {"type": "string"}, "city": {"type": "string"}}}
ARGUMENTS = '{"unit":"c","city":"Oslo"}'

REQUESTS: dict[str, dict[str, Any]] = {
    "chat": {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "get_weather", "arguments": ARGUMENTS},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "Rain"},
        ],
        "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}],
        "max_tokens": 100,
    },
    "messages": {
        "model": "m",
        "max_tokens": 100,
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "tool_use",
                        "id": "toolu_1",
                        "name": "get_weather",
                        "input": json.loads(ARGUMENTS),
                    }
                ],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "Rain"}],
            },
        ],
        "tools": [{"name": "get_weather", "input_schema": SCHEMA}],
    },
    "responses": {
        "model": "m",
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": "Weather?"},
            {
                "type": "function_call",
                "call_id": "call_1",
                "name": "get_weather",
                "arguments": ARGUMENTS,
            },
            {"type": "function_call_output", "call_id": "call_1", "output": "Rain"},
        ],
        "tools": [{"type": "function", "name": "get_weather", "parameters": SCHEMA}],
        "max_output_tokens": 100,
        "store": False,
    },
}

ANSWERS: dict[str, dict[str, Any]] = {
    "chat": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Take an umbrella."},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13},
    },
    "messages": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "Take an umbrella."}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 4},
    },
    "responses": {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "m",
        "output": [
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [
                    {"type": "output_text", "text": "Take an umbrella.", "annotations": []}
                ],
            }
        ],
        "usage": {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13},
    },
}


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


def settings_for(
    protocol: str = "chat", base_url: str = "https://upstream.invalid", more: str = ""
) -> Settings:
    """A gateway in front of one upstream; ``more`` is TOML, first of the upstream."""
    text = f"""
[responses_store]
url = "sqlite://"

[[upstreams]]
name = "upstream"
protocol = "{protocol}"
base_url = "{base_url}"
{more}
"""
    return loads(text, environ={}, options=OPTIONS)


async def explained(
    request: Mapping[str, Any] | None,
    settings: Settings | None = None,
    answer: bytes | Mapping[str, Any] | None = None,
    *,
    upstream: str | None = None,
    **more: Any,
) -> Explanation:
    """What is told of a request, and of ``answer``; ``more`` is what ``given`` takes."""
    asked = Source("request.json", json.dumps(request).encode()) if request is not None else None
    if answer is not None:
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        more["answer"] = Source("answer", data)
    what = given(asked, **more)
    return await explain(
        settings or settings_for(), what, upstream=upstream, configuration="toolwire.toml"
    )
