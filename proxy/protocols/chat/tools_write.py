"""Tools, and the choice among them, as an upstream takes them.

https://platform.openai.com/docs/api-reference/chat/create (tools, tool_choice, parallel_tool_calls)
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.codec import Quirks
from toolwire.proxy.protocols.known_tools import KNOWN_TOOLS
from toolwire.proxy.protocols.neutral import (
    PARALLEL_PATHS,
    Choice,
    CustomTool,
    FunctionTool,
    HostedTool,
    Loss,
    Losses,
    Request,
    Tool,
)
from toolwire.proxy.protocols.openai import parameters


def write_tools(request: Request, quirks: Quirks, losses: Losses) -> dict[str, Any]:
    """``tools``, ``tool_choice`` and ``parallel_tool_calls``; none of them without tools."""
    tools, lost = KNOWN_TOOLS.derived(request.tools, _written, quirks.strict, quirks.cache_control)
    losses.entries += lost
    choice = request.choice
    if choice is not None and choice.allowed is not None:
        tools = _allowed(tools, choice.allowed, losses)
    if not tools:
        if choice is not None and choice.mode in ("required", "tool"):
            losses.drop(choice.at, "no tools are left to choose from")
        return {}
    document: dict[str, Any] = {"tools": tools}
    if choice is not None:
        _write_choice(document, choice, {_name(tool) for tool in tools}, losses)
    if request.parallel is False and (choice is None or choice.mode != "none"):
        if quirks.parallel_tool_calls:
            document["parallel_tool_calls"] = False
        else:
            losses.drop(PARALLEL_PATHS[request.protocol], "the upstream has no switch for this")
    return document


def _written(
    tools: list[Tool], strict: bool, cache_control: bool
) -> tuple[list[dict[str, Any]], list[Loss]]:
    losses = Losses()
    written = [
        _write_tool(tool, place, strict, cache_control, losses) for place, tool in enumerate(tools)
    ]
    return [tool for tool in written if tool is not None], losses.entries


def _write_tool(
    tool: Tool, place: int, strict: bool, cache_control: bool, losses: Losses
) -> dict[str, Any] | None:
    if type(tool) is FunctionTool:
        document = {"type": "function", "function": _write_function(tool, strict, losses)}
    elif type(tool) is CustomTool:
        document = {"type": "custom", "custom": _write_custom(tool)}
    elif type(tool) is HostedTool and tool.protocol == "chat":
        return tool.value
    else:
        losses.drop(f"tools[{place}]", "a tool that its own vendor runs means nothing elsewhere")
        return None
    if tool.cache is not None:
        if cache_control:
            document["cache_control"] = tool.cache.value
        else:
            losses.drop(tool.cache.at, "the upstream takes no cache marks")
    return document


def _write_function(tool: FunctionTool, strict: bool, losses: Losses) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    function["parameters"] = parameters(tool.schema)
    if tool.strict is not None and strict:
        function["strict"] = tool.strict
    elif tool.strict:
        losses.drop(f"{tool.at}.strict", "the upstream does not know it")
    for name in tool.extra or {}:
        losses.drop(f"{tool.at}.{name}", "Chat Completions has no such field")
    return function


def _write_custom(tool: CustomTool) -> dict[str, Any]:
    custom: dict[str, Any] = {"name": tool.name}
    if tool.description is not None:
        custom["description"] = tool.description
    form = tool.format
    if form is not None and form.get("type") == "grammar" and "grammar" not in form:
        grammar = {name: value for name, value in form.items() if name != "type"}
        form = {"type": "grammar", "grammar": grammar}
    if form is not None:
        custom["format"] = form
    return custom


def _name(tool: dict[str, Any]) -> str | None:
    """None for a tool that the vendor runs."""
    named = tool.get("function") or tool.get("custom")
    return named["name"] if tool.get("type") in ("function", "custom") and named else None


def _allowed(tools: list[dict[str, Any]], names: list[str], losses: Losses) -> list[dict[str, Any]]:
    """The tools of that subset; all of them where it is empty."""
    subset = [tool for tool in tools if _name(tool) in names]
    if tools and not subset:
        losses.coerce("tool_choice", "none of the allowed tools is among the tools")
    return subset or tools


def _write_choice(
    document: dict[str, Any], choice: Choice, names: set[str | None], losses: Losses
) -> None:
    if choice.mode != "tool":
        document["tool_choice"] = choice.mode
    elif choice.name not in names:
        losses.drop(choice.at, f"the tool {choice.name!r} is not among the tools")
    else:
        kind = "custom" if choice.custom else "function"
        document["tool_choice"] = {"type": kind, kind: {"name": choice.name}}
