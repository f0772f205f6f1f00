"""Tools and the tool choice, as a Messages upstream takes them.

https://docs.anthropic.com/en/api/messages#body-tools
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.codec import Quirks
from toolwire.proxy.protocols.freeform import wrap
from toolwire.proxy.protocols.known_tools import KNOWN_TOOLS
from toolwire.proxy.protocols.neutral import (
    PARALLEL_PATHS,
    CustomTool,
    FunctionTool,
    HostedTool,
    Loss,
    Losses,
    Protocol,
    Request,
    Tool,
)

_TOOL_FIELDS = {"allowed_callers", "defer_loading", "eager_input_streaming", "input_examples"}
"""Fields of a tool that have no twin elsewhere, but pass under their own name."""


def write_tools(document: dict[str, Any], request: Request, quirks: Quirks, losses: Losses) -> None:
    """Adds ``tools`` and ``tool_choice``; neither where no tool is left."""
    tools, lost = KNOWN_TOOLS.derived(
        _allowed(request, losses), _written, request.protocol, quirks.strict
    )
    losses.entries += lost
    if not tools:
        if request.choice is not None and request.choice.mode in ("required", "tool"):
            losses.drop(request.choice.at, "no tools are left to choose from")
        return
    document["tools"] = tools
    choice = _write_choice(request, {tool.get("name") for tool in tools}, losses)
    if request.parallel is False and choice != {"type": "none"}:
        if quirks.parallel_tool_calls:
            choice = choice or {"type": "auto"}
            choice["disable_parallel_tool_use"] = True
        else:
            losses.drop(PARALLEL_PATHS[request.protocol], "the upstream has no such switch")
    if choice is not None:
        document["tool_choice"] = choice


def _allowed(request: Request, losses: Losses) -> list[Tool]:
    """The tools, without those that the choice leaves out."""
    choice = request.choice
    if choice is None or choice.allowed is None:
        return request.tools
    names = set(choice.allowed)
    allowed = [t for t in request.tools if isinstance(t, HostedTool) or t.name in names]
    if any(not isinstance(tool, HostedTool) for tool in allowed):
        return allowed
    losses.coerce(choice.at, "none of the allowed tools is there: all tools are sent")
    return request.tools


def _written(
    tools: list[Tool], client: Protocol, strict: bool
) -> tuple[list[dict[str, Any]], list[Loss]]:
    losses = Losses()
    written = [_write_tool(tool, client, strict, losses) for tool in tools]
    return [tool for tool in written if tool is not None], losses.entries


def _write_tool(
    tool: Tool, client: Protocol, strict: bool, losses: Losses
) -> dict[str, Any] | None:
    if type(tool) is FunctionTool:
        return _function(tool, client, strict, losses)
    if type(tool) is CustomTool:
        return _function(wrap(tool), client, strict, losses)
    if type(tool) is HostedTool and tool.protocol == client == "messages":
        return tool.value
    losses.drop(tool.at, "a tool that another vendor runs")
    return None


def _function(tool: FunctionTool, client: Protocol, strict: bool, losses: Losses) -> dict[str, Any]:
    written: dict[str, Any] = {"name": tool.name}
    if tool.description is not None:
        written["description"] = tool.description
    written["input_schema"] = _schema(tool.schema)
    if tool.strict is not None and strict:
        written["strict"] = tool.strict
    elif tool.strict:
        losses.drop(f"{tool.at}.strict", "the upstream knows no strict tools")
    if tool.cache is not None:
        written["cache_control"] = tool.cache.value
    for name, value in (tool.extra or {}).items():
        if name in _TOOL_FIELDS or client == "messages":
            written[name] = value
        else:
            losses.drop(f"{tool.at}.{name}", "has no equivalent in Messages")
    return written


def _schema(schema: dict[str, Any] | None) -> dict[str, Any]:
    """The schema as it is, but that it must have the type ``object``."""
    if schema is None:
        return {"type": "object", "properties": {}}
    return schema if schema.get("type") == "object" else {**schema, "type": "object"}


def _write_choice(
    request: Request, names: set[str | None], losses: Losses
) -> dict[str, Any] | None:
    choice = request.choice
    if choice is None:
        return None
    if choice.mode == "tool":
        if choice.name in names:
            return {"type": "tool", "name": choice.name}
        losses.drop(choice.at, f"the tool {choice.name!r} is not among the tools")
        return None
    return {"type": "any" if choice.mode == "required" else choice.mode}
