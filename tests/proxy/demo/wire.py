"""Raw access to the demo, and the SDKs' own types as the judges of what it sends.

The SDKs construct their objects without validating them, so every body is validated here as well.
"""

from __future__ import annotations

import json
from typing import Any

import anthropic.types as messages_types
import httpx2
import openai.types.chat as chat_types
import openai.types.responses as responses_types
from pydantic import TypeAdapter

PATHS = {"chat": "/v1/chat/completions", "messages": "/v1/messages", "responses": "/v1/responses"}
HEADERS = {"anthropic-version": "2023-06-01"}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {
    "chat": {"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}},
    "messages": {"name": "get_weather", "input_schema": SCHEMA},
    "responses": {"type": "function", "name": "get_weather", "parameters": SCHEMA},
}
CUSTOM = {
    "chat": {"type": "custom", "custom": {"name": "shell"}},
    "responses": {"type": "custom", "name": "shell"},
}
THINK: dict[str, dict[str, Any]] = {
    "chat": {"reasoning_effort": "low"},
    "messages": {"thinking": {"type": "enabled", "budget_tokens": 1024}},
    "responses": {"reasoning": {"effort": "low"}, "include": ["reasoning.encrypted_content"]},
}
_ANSWERS: dict[str, TypeAdapter[Any]] = {
    "chat": TypeAdapter(chat_types.ChatCompletion),
    "messages": TypeAdapter(messages_types.Message),
    "responses": TypeAdapter(responses_types.Response),
}
_EVENTS: dict[str, TypeAdapter[Any]] = {
    "chat": TypeAdapter(chat_types.ChatCompletionChunk),
    "messages": TypeAdapter(messages_types.RawMessageStreamEvent),
    "responses": TypeAdapter(responses_types.ResponseStreamEvent),
}


def body(protocol: str, text: str = "What is the weather in Oslo?", **more: Any) -> dict[str, Any]:
    """A small request."""
    said = [{"role": "user", "content": text}]
    if protocol == "responses":
        return {"model": "demo", "input": said, **more}
    limit = {"max_tokens": 2000} if protocol == "messages" else {}
    return {"model": "demo", "messages": said, **limit, **more}


async def post(url: str, protocol: str, request: Any, **headers: str) -> httpx2.Response:
    """The whole answer to a request."""
    async with httpx2.AsyncClient() as client:
        return await client.post(
            url + PATHS[protocol], json=request, headers={**HEADERS, **headers}, timeout=20
        )


def valid_answer(protocol: str, answer: dict[str, Any]) -> dict[str, Any]:
    """The answer, which the SDK's type accepts as it is."""
    _ANSWERS[protocol].validate_json(json.dumps(answer), strict=True)
    return answer


def events(raw: str) -> list[Any]:
    """The data of each event, parsed; an event line says what the data says."""
    out = []
    for block in raw.split("\n\n")[:-1]:
        *names, data = block.split("\n")
        assert data.startswith("data: "), block
        event = data.removeprefix("data: ")
        out.append("[DONE]" if event == "[DONE]" else json.loads(event))
        assert names == ([f"event: {out[-1]['type']}"] if names else []), block
    assert raw.endswith("\n\n")
    return out


def valid_events(protocol: str, raw: str) -> list[Any]:
    """The events, each of which the SDK's type accepts as it is."""
    found = events(raw)
    for event in found:
        if event != "[DONE]" and event.get("type") != "ping":
            _EVENTS[protocol].validate_json(json.dumps(event), strict=True)
    return found
