"""Reads a checked Responses request into a prompt."""

from __future__ import annotations

from collections.abc import Iterable

from toolwire.proxy.demo.documents import cached_part, fingerprint
from toolwire.proxy.demo.neutral import Choice, Json, Prompt, Tool, ToolResult
from toolwire.proxy.demo.responses.items import conversation, kind_of_item
from toolwire.proxy.demo.responses.memory import ResponseMemory


def read(memory: ResponseMemory, body: Json) -> Prompt:
    """What matters of the request and of the conversation that it continues."""
    items = conversation(body, memory)
    fresh = _after_last_answer(items)
    tools, choice = _offered(body)
    form = (body.get("text") or {}).get("format") or {"type": "text"}
    reasoning = body.get("reasoning") or {}
    seed, size = fingerprint({**body, "input": items})
    return Prompt(
        user_text=next((_text(i, "content") for i in reversed(items) if _is_user(i)), ""),
        results=tuple(_results(fresh, items)),
        images=sum(part.get("type") == "input_image" for i in fresh for part in _all_parts(i)),
        tools=tools,
        choice=choice,
        parallel=body.get("parallel_tool_calls") is not False,
        json=form["type"] != "text",
        json_schema=form.get("schema"),
        max_tokens=body.get("max_output_tokens"),
        thinking=any(reasoning.get(key) not in (None, "none") for key in ("effort", "summary")),
        stream=bool(body.get("stream")),
        input_tokens=size,
        cached_tokens=cached_part(size),
        seed=seed,
    )


def _after_last_answer(items: list[Json]) -> list[Json]:
    """What stands after the last assistant message. An output stands there whether the other calls
    of its turn stand before it or after it."""
    answers = [i for i, item in enumerate(items) if item.get("role") == "assistant"]
    return items[answers[-1] + 1 :] if answers else items


def _is_user(item: Json) -> bool:
    return kind_of_item(item) == "message" and item.get("role") == "user"


def _results(fresh: list[Json], items: list[Json]) -> Iterable[ToolResult]:
    names = {i["call_id"]: i["name"] for i in items if "call_id" in i and "name" in i}
    for item in fresh:
        if kind_of_item(item) in ("function_call_output", "custom_tool_call_output"):
            yield ToolResult(name=names[item["call_id"]], text=_text(item, "output"))


def _text(item: Json, key: str) -> str:
    texts = (str(p.get("text")) for p in _parts(item, key) if p.get("type") == "input_text")
    return "\n".join(texts)


def _parts(item: Json, key: str) -> list[Json]:
    content = item.get(key) or []
    return [{"type": "input_text", "text": content}] if isinstance(content, str) else content


def _all_parts(item: Json) -> list[Json]:
    if kind_of_item(item) == "message":
        return _parts(item, "content")
    return _parts(item, "output") if kind_of_item(item).endswith("_call_output") else []


def _offered(body: Json) -> tuple[tuple[Tool, ...], Choice]:
    """The tools that may be called, and whether they may or must.

    Hosted tools run at the vendor, so the demo leaves them, chosen or not.
    """
    tools = {(t["type"], t.get("name")): _tool(t) for t in body.get("tools") or () if _is_ours(t)}
    choice = body.get("tool_choice") or "auto"
    if isinstance(choice, str):
        return tuple(tools.values()), Choice(choice)
    allowed = choice["tools"] if choice["type"] == "allowed_tools" else [choice]
    names = [(tool.get("type"), tool.get("name")) for tool in allowed]
    mode = Choice(choice.get("mode", "required"))
    return tuple(tools[name] for name in names if name in tools), mode


def _is_ours(tool: Json) -> bool:
    return tool["type"] in ("function", "custom")


def _tool(tool: Json) -> Tool:
    return Tool(
        name=tool["name"], schema=tool.get("parameters"), free_form=tool["type"] == "custom"
    )
