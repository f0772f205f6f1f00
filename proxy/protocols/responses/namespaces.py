"""Namespaces: groups of tools, of which a call names both, the group and the tool.

Only Responses has them, and only few upstreams; yet Codex puts every MCP tool into one. Elsewhere
a tool of a namespace goes by one flat name, and a call of it comes back under both names.
https://platform.openai.com/docs/guides/function-calling#namespaces
"""

from __future__ import annotations

from typing import Any

_BETWEEN = "__"


def flat_name(namespace: str | None, name: str) -> str:
    """``mcp__files`` and ``read`` become ``mcp__files__read``."""
    if not namespace:
        return name
    return namespace + name if namespace.endswith(_BETWEEN) else namespace + _BETWEEN + name


def namespaced_names(document: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Each flat name of the tools in a client's document, with its namespace and own name."""
    tools = document.get("tools")
    return {
        flat_name(group["name"], tool["name"]): (group["name"], tool["name"])
        for group in (tools if isinstance(tools, list) else ())
        if isinstance(group, dict) and group.get("type") == "namespace"
        if isinstance(group.get("name"), str) and isinstance(group.get("tools"), list)
        for tool in group["tools"]
        if isinstance(tool, dict) and isinstance(tool.get("name"), str)
    }
