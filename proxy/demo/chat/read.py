"""Reads a checked Chat Completions request into a prompt."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from toolwire.proxy.demo.chat.check import tool_name
from toolwire.proxy.demo.documents import cached_part, fingerprint
from toolwire.proxy.demo.neutral import Choice, Json, Prompt, Tool, ToolResult


def read(body: Json) -> Prompt:
    """What matters of the request."""
    messages: list[Json] = body["messages"]
    fresh = _after_last_assistant(messages)
    tools, choice = _offered(body)
    form = body.get("response_format") or {}
    stop = body.get("stop") or []
    seed, size = fingerprint(body)
    return Prompt(
        user_text=_last_user_text(messages),
        results=tuple(_results(messages, fresh)),
        images=sum(part.get("type") == "image_url" for m in fresh for part in _parts(m)),
        tools=tools,
        choice=choice,
        parallel=body.get("parallel_tool_calls") is not False,
        json=form.get("type") in ("json_object", "json_schema"),
        json_schema=(form.get("json_schema") or {}).get("schema"),
        max_tokens=body.get("max_completion_tokens") or body.get("max_tokens"),
        stop=(stop,) if isinstance(stop, str) else tuple(filter(None, map(str, stop))),
        thinking=_asks_for_thinking(body),
        stream=bool(body.get("stream")),
        include_usage=bool((body.get("stream_options") or {}).get("include_usage")),
        input_tokens=size,
        cached_tokens=cached_part(size),
        seed=seed,
    )


def _after_last_assistant(messages: list[Json]) -> list[Json]:
    newest_first = itertools.takewhile(lambda m: m["role"] != "assistant", reversed(messages))
    return list(newest_first)[::-1]


def _last_user_text(messages: list[Json]) -> str:
    last = next((m for m in reversed(messages) if m["role"] == "user"), {})
    return _text(last)


def _results(messages: list[Json], fresh: list[Json]) -> Iterable[ToolResult]:
    names = {call["id"]: tool_name(call) for m in messages for call in m.get("tool_calls") or ()}
    for message in fresh:
        if message["role"] == "tool":
            yield ToolResult(name=names[message["tool_call_id"]], text=_text(message))


def _text(message: Json) -> str:
    return "\n".join(str(p["text"]) for p in _parts(message) if p.get("type") == "text")


def _parts(message: Json) -> list[Json]:
    content = message.get("content") or []
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _offered(body: Json) -> tuple[tuple[Tool, ...], Choice]:
    """The tools that may be called, and whether they may or must."""
    tools = {tool_name(tool): _tool(tool) for tool in body.get("tools") or ()}
    choice = body.get("tool_choice") or "auto"
    if isinstance(choice, str):
        return tuple(tools.values()), Choice(choice)
    if choice["type"] == "allowed_tools":
        allowed = choice["allowed_tools"]
        names = [tool_name(tool) for tool in allowed["tools"]]
        return tuple(tools[name] for name in names), Choice(allowed["mode"])
    return (tools[tool_name(choice)],), Choice.REQUIRED


def _tool(tool: Json) -> Tool:
    if tool["type"] == "custom":
        return Tool(name=tool_name(tool), free_form=True)
    return Tool(name=tool_name(tool), schema=tool["function"].get("parameters"))


def _asks_for_thinking(body: Json) -> bool:
    """By OpenAI's own field, or by the switches of Alibaba, DeepSeek and OpenRouter."""
    if body.get("enable_thinking") is not None:
        return bool(body["enable_thinking"])
    switches: list[Any] = [
        body.get("reasoning_effort"),
        _inner(body, "thinking", "type"),
        _inner(body, "reasoning", "effort"),
        body.get("thinking_budget"),
    ]
    return any(value not in (None, "none", "disabled", 0) for value in switches)


def _inner(body: Json, key: str, inner: str) -> Any:
    return body[key].get(inner) if isinstance(body.get(key), dict) else None
