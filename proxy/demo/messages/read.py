"""Reads a checked Messages request into a prompt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolwire.proxy.demo.documents import cached_part, fingerprint
from toolwire.proxy.demo.messages.check import cache_marks
from toolwire.proxy.demo.messages.history import turns
from toolwire.proxy.demo.messages.rules import thinking_type
from toolwire.proxy.demo.neutral import Choice, Json, Prompt, Tool, ToolResult

_CHOICES = {
    "auto": Choice.AUTO,
    "any": Choice.REQUIRED,
    "tool": Choice.REQUIRED,
    "none": Choice.NONE,
}


def read(body: Json) -> Prompt:
    """What matters of the request."""
    conversation = turns(body["messages"])
    fresh = conversation[-1].blocks
    choice = body.get("tool_choice") or {"type": "auto"}
    form = (body.get("output_config") or {}).get("format") or {}
    seed, size = fingerprint(body)
    called = [block for turn in conversation for block in turn.blocks]
    return Prompt(
        user_text=_last_user_text([turn.blocks for turn in conversation if turn.role == "user"]),
        results=tuple(_results(fresh, called)),
        images=sum(_is_image(part) for block in fresh for part in [block, *_inside(block)]),
        tools=tuple(_offered(body, choice)),
        choice=_CHOICES[choice["type"]],
        parallel=choice.get("disable_parallel_tool_use") is not True,
        json=bool(form),
        json_schema=form.get("schema"),
        max_tokens=body["max_tokens"],
        stop=tuple(body.get("stop_sequences") or ()),
        thinking=thinking_type(body) != "disabled",
        stream=bool(body.get("stream")),
        input_tokens=size,
        cached_tokens=cached_part(size) if cache_marks(body) else 0,
        seed=seed,
    )


def _last_user_text(user_turns: list[list[Json]]) -> str:
    """The text of the last user turn that has some; one with tool results alone has none."""
    texts = (_text(blocks) for blocks in reversed(user_turns))
    return next((text for text in texts if text), "")


def _results(fresh: list[Json], called: list[Json]) -> Iterable[ToolResult]:
    names = {block["id"]: block["name"] for block in called if block["type"] == "tool_use"}
    for block in fresh:
        if block["type"] == "tool_result":
            name, failed = names[block["tool_use_id"]], bool(block.get("is_error"))
            yield ToolResult(name=name, text=_text(_inside(block)), failed=failed)


def _inside(block: Json) -> list[Json]:
    """The blocks in a tool result."""
    content: Any = block.get("content") if block["type"] == "tool_result" else None
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def _text(blocks: list[Json]) -> str:
    return "\n".join(str(block["text"]) for block in blocks if block["type"] == "text")


def _is_image(block: Json) -> bool:
    return bool(block["type"] == "image")


def _offered(body: Json, choice: Json) -> Iterable[Tool]:
    """The tools that may be called; the vendor's own run at the vendor, so the demo leaves them."""
    for tool in body.get("tools") or ():
        named = choice["type"] != "tool" or choice["name"] == tool["name"]
        if named and tool.get("type") in (None, "custom"):
            yield Tool(name=tool["name"], schema=tool["input_schema"])
