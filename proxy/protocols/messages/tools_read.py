"""A client's tools and tool choice.

https://docs.anthropic.com/en/api/messages#body-tools
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.fields import invalid, of_type, optional, required
from toolwire.proxy.protocols.messages.blocks_read import beside, read_cache
from toolwire.proxy.protocols.neutral import Choice, FunctionTool, HostedTool, Tool

_FUNCTION_FIELDS = frozenset(
    {"type", "name", "description", "input_schema", "strict", "cache_control"}
)

_CHOICES = ("auto", "any", "tool", "none")


def read_tools(tools: list[Any]) -> list[Tool]:
    return [
        _read_tool(of_type(tool, dict, f"tools[{i}]"), f"tools[{i}]")
        for i, tool in enumerate(tools)
    ]


def _read_tool(tool: dict[str, Any], at: str) -> Tool:
    kind = optional(tool, "type", str, at)
    if kind not in (None, "custom") and "input_schema" not in tool:
        return HostedTool("messages", tool, at)
    return FunctionTool(
        name=required(tool, "name", str, at),
        description=optional(tool, "description", str, at),
        schema=optional(tool, "input_schema", dict, at),
        strict=optional(tool, "strict", bool, at),
        cache=read_cache(tool, at),
        extra=beside(tool, _FUNCTION_FIELDS),
        at=at,
    )


def read_choice(choice: dict[str, Any] | None) -> tuple[Choice | None, bool | None]:
    """The choice, and False where the client wants one call at a time."""
    if choice is None:
        return None, None
    at = "tool_choice"
    one_at_a_time = optional(choice, "disable_parallel_tool_use", bool, at)
    parallel = False if one_at_a_time else None
    match required(choice, "type", str, at):
        case "auto":
            return Choice("auto"), parallel
        case "any":
            return Choice("required"), parallel
        case "tool":
            return Choice("tool", name=required(choice, "name", str, at)), parallel
        case "none":
            return Choice("none"), parallel
        case other:
            raise invalid(f"{at}.type", f"must be one of {', '.join(_CHOICES)}, not {other!r}")
