"""A client's tools and tool choice.

https://docs.anthropic.com/en/api/messages#body-tools
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.fields import invalid, optional, required, wrong_type
from toolwire.proxy.protocols.known_tools import KNOWN_TOOLS
from toolwire.proxy.protocols.messages.blocks_read import beside, read_cache
from toolwire.proxy.protocols.neutral import Choice, FunctionTool, HostedTool, Loss, Tool

_FUNCTION_FIELDS = frozenset(
    {"type", "name", "description", "input_schema", "strict", "cache_control"}
)

_USUAL_FIELDS = frozenset({"type", "name", "description", "input_schema"})
"""All that most tools have: there is no need to look for more."""

_CHOICES = ("auto", "any", "tool", "none")


def read_tools(tools: list[Any]) -> list[Tool]:
    return KNOWN_TOOLS.derived(tools, _read)[0]


def _read(tools: list[Any]) -> tuple[list[Tool], list[Loss]]:
    read = []
    for index, tool in enumerate(tools):
        at = f"tools[{index}]"
        if type(tool) is not dict:
            raise wrong_type(tool, "an object", at)
        read.append(_read_tool(tool, at))
    return read, []


def _read_tool(tool: dict[str, Any], at: str) -> Tool:
    kind = optional(tool, "type", str, at)
    if kind not in (None, "custom") and "input_schema" not in tool:
        return HostedTool("messages", tool, at)
    function = FunctionTool(
        name=required(tool, "name", str, at),
        description=optional(tool, "description", str, at),
        schema=optional(tool, "input_schema", dict, at),
        at=at,
    )
    if not _USUAL_FIELDS.issuperset(tool):
        function.strict = optional(tool, "strict", bool, at)
        function.cache = read_cache(tool, at)
        function.extra = beside(tool, _FUNCTION_FIELDS)
    return function


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
