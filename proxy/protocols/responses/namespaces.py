"""What a client calls its tools where other protocols know one flat name for each.

Namespaces are groups of tools, of which a call names both, the group and the tool.  Only Responses
has them, and only few upstreams; yet Codex puts every MCP tool into one.  Elsewhere a tool of a
namespace goes by one flat name, and a call of it comes back under both names.
https://platform.openai.com/docs/guides/function-calling#namespaces

The tool search that the client runs is a function elsewhere; its calls and results are items of
their own.  https://developers.openai.com/api/docs/guides/tools-tool-search
"""

from __future__ import annotations

from typing import NamedTuple

from toolwire.proxy.protocols.neutral import CustomTool, FunctionTool, Tool

SEARCH = "tool_search"
"""The name of the function that stands for the tool search."""

_BETWEEN = "__"


class OwnName(NamedTuple):
    """The name of a tool in its namespace, or that of the tool search."""

    name: str
    namespace: str | None = None
    search: bool = False


OwnNames = dict[str, OwnName]
"""By flat name; tools of one name alone are not in it."""


def flat_name(namespace: str | None, name: str) -> str:
    """``mcp__files`` and ``read`` become ``mcp__files__read``."""
    return _prefix(namespace) + name if namespace else name


def own_names(tools: list[Tool]) -> OwnNames:
    """Those of a client's tools, as they were read."""
    names: OwnNames = {}
    for tool in tools:
        if type(tool) is FunctionTool and tool.search:
            names[tool.name] = OwnName(tool.name, search=True)
        elif isinstance(tool, FunctionTool | CustomTool) and tool.namespace:
            own = tool.name.removeprefix(_prefix(tool.namespace))
            names[tool.name] = OwnName(own, tool.namespace)
    return names


def _prefix(namespace: str) -> str:
    return namespace if namespace.endswith(_BETWEEN) else namespace + _BETWEEN
