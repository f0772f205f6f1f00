"""Requests and answers of each protocol, and gateways to explain them with."""

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


CONFIGURATION = """
[[upstreams]]
name = "deepseek"
protocol = "chat"
provider = "deepseek"
base_url = "https://deepseek.invalid"
api_key = "${KEY}"
models = ["deepseek-*"]
"""
"""As a user writes it."""


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
