"""Tools and the choice among them, both ways.

https://platform.openai.com/docs/api-reference/responses/create (``tools``, ``tool_choice``)
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols.codec import Quirks
from toolwire.proxy.protocols.fields import objects, one_of, optional, required, wrong_type
from toolwire.proxy.protocols.known_tools import KNOWN_TOOLS
from toolwire.proxy.protocols.neutral import (
    Choice,
    CustomTool,
    FunctionTool,
    HostedTool,
    Loss,
    Losses,
    Protocol,
    Request,
    Tool,
)
from toolwire.proxy.protocols.openai import parameters
from toolwire.proxy.protocols.responses import namespaces
from toolwire.proxy.protocols.responses.content import drop_cache

_MODES = ("auto", "none", "required")
_FUNCTION_FIELDS = frozenset({"type", "name", "description", "parameters", "strict"})
_UNWISHED: tuple[Any, ...] = (None, False, [], {})


# ----------------------------------------------------------------------------------- reading
def read_tools(document: dict[str, Any]) -> list[Tool]:
    """The tools, those of a namespace under their flat names (see ``namespaces``)."""
    return KNOWN_TOOLS.derived(optional(document, "tools", list) or [], _read)[0]


def _read(tools: list[Any]) -> tuple[list[Tool], list[Loss]]:
    return _read_all({"tools": tools}, ""), []


def _read_all(document: dict[str, Any], at: str) -> list[Tool]:
    found: list[Tool] = []
    for where, tool in objects(document, "tools", at):
        if tool.get("type") == "namespace":
            found += _read_namespace(tool, where)
        else:
            found.append(_read_tool(tool, where, None))
    return found


class Toolbox:
    """The tools of a request: those that it names, and those that items of its input bring along.

    Codex has all its tools in an item: https://github.com/SaladDay/cc-switch-cli/issues/466
    """

    def __init__(self, tools: list[Tool]) -> None:
        self.tools = tools
        self._own_names = namespaces.own_names(tools)

    def add(self, item: dict[str, Any], at: str) -> list[str]:
        """The flat names of an item's tools; each tool is there once, as it was known first."""
        brought = _read_all(item, at)
        names = {tool.name for tool in self.tools if not isinstance(tool, HostedTool)}
        added: list[Tool] = []
        for tool in brought:
            if isinstance(tool, HostedTool) or tool.name not in names:
                added.append(tool)
                names.update([] if isinstance(tool, HostedTool) else [tool.name])
        self.tools = self.tools + added  # a new list: the old one may belong to other requests, too
        self._own_names |= namespaces.own_names(added)
        return [tool.name for tool in brought if not isinstance(tool, HostedTool)]

    def called(self, namespace: str | None, name: str) -> str:
        """The flat name of a tool that was called."""
        flat = namespaces.flat_name(namespace, name)
        return flat if flat in self._own_names else name


def _read_namespace(tool: dict[str, Any], at: str) -> list[Tool]:
    name = required(tool, "name", str, at)
    return [_read_tool(inner, where, name) for where, inner in objects(tool, "tools", at)]


def _read_tool(tool: dict[str, Any], at: str, namespace: str | None) -> Tool:
    kind = required(tool, "type", str, at)
    if kind == "function":
        return FunctionTool(
            name=namespaces.flat_name(namespace, required(tool, "name", str, at)),
            description=optional(tool, "description", str, at),
            schema=optional(tool, "parameters", dict, at),
            strict=optional(tool, "strict", bool, at),
            extra={name: tool[name] for name in tool if name not in _FUNCTION_FIELDS} or None,
            at=at,
            namespace=namespace,
        )
    if kind == "custom":
        return CustomTool(
            name=namespaces.flat_name(namespace, required(tool, "name", str, at)),
            description=optional(tool, "description", str, at),
            format=optional(tool, "format", dict, at),
            at=at,
            namespace=namespace,
        )
    if kind == "tool_search" and tool.get("execution") == "client":
        return FunctionTool(
            name=namespaces.SEARCH,
            description=optional(tool, "description", str, at),
            schema=optional(tool, "parameters", dict, at),
            at=at,
            search=True,
        )
    return HostedTool("responses", tool, at=at)


def read_choice(document: dict[str, Any]) -> Choice | None:
    """The choice; None where there is none, or where it names a tool that the vendor runs."""
    value = document.get("tool_choice")
    if value is None:
        return None
    if isinstance(value, str):
        one_of(document, "tool_choice", _MODES)
        return Choice(mode=value)  # type: ignore[arg-type] # one of the modes
    if not isinstance(value, dict):
        raise wrong_type(value, "a string or an object", "tool_choice")
    match required(value, "type", str, "tool_choice"):
        case "function" | "custom" as kind:
            name = required(value, "name", str, "tool_choice")
            return Choice("tool", name, custom=kind == "custom")
        case "allowed_tools":
            return _read_allowed(value)
    return None


def _read_allowed(value: dict[str, Any]) -> Choice:
    mode = one_of(value, "mode", ("auto", "required"), "tool_choice")
    allowed = []
    for at, tool in objects(value, "tools", "tool_choice"):
        if tool.get("type") in ("function", "custom"):
            allowed.append(required(tool, "name", str, at))
    return Choice(mode, allowed=allowed)  # type: ignore[arg-type] # one of the two


# ----------------------------------------------------------------------------------- writing
def write_tools(request: Request, quirks: Quirks, losses: Losses) -> list[dict[str, Any]]:
    """What is left of the tools."""
    written, lost = KNOWN_TOOLS.derived(request.tools, _written, request.protocol, quirks.strict)
    losses.entries += lost
    return written


def _written(
    tools: list[Tool], client: Protocol, strict: bool
) -> tuple[list[dict[str, Any]], list[Loss]]:
    losses = Losses()
    written = [_write_tool(tool, client, strict, losses) for tool in tools]
    return [tool for tool in written if tool is not None], losses.entries


def _write_tool(
    tool: Tool, client: Protocol, strict: bool, losses: Losses
) -> dict[str, Any] | None:
    if isinstance(tool, HostedTool):
        if tool.protocol == "responses":
            return tool.value
        losses.drop(tool.at, "a tool that another vendor runs")
        return None
    drop_cache(tool, losses)
    if isinstance(tool, CustomTool):
        return _without_nulls(
            type="custom", name=tool.name, description=tool.description, format=tool.format
        )
    written = _without_nulls(type="function", name=tool.name, description=tool.description)
    written["parameters"] = parameters(tool.schema)
    # An absent ``strict`` means that the API tries to make the schema strict, which no other
    # protocol does: https://platform.openai.com/docs/guides/function-calling#strict-mode
    if strict:
        written["strict"] = bool(tool.strict)
    elif tool.strict:
        losses.drop(f"{tool.at}.strict", "the upstream does not know strict")
    _write_extra(tool, client, written, losses)
    return written


def _write_extra(
    tool: FunctionTool, client: Protocol, written: dict[str, Any], losses: Losses
) -> None:
    for name, value in (tool.extra or {}).items():
        if client == "responses":
            written[name] = value
        elif value not in _UNWISHED:
            losses.drop(f"{tool.at}.{name}", "Responses has no such field of a tool")


def _without_nulls(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def write_choice(request: Request, tools: list[dict[str, Any]], losses: Losses) -> Any:
    """The value of ``tool_choice``; None for none.  ``tools`` are those that were written."""
    choice = request.choice
    if choice is None:
        return None
    if not tools and choice.mode in ("required", "tool"):
        losses.drop(choice.at, "no tools are left to choose from")
        return None
    custom = {tool.name for tool in request.tools if isinstance(tool, CustomTool)}
    if choice.mode == "tool":
        if choice.name in {tool.get("name") for tool in tools}:
            return _named(choice.name, custom)
        losses.drop(choice.at, f"the tool {choice.name!r} is not among the tools")
        return None
    if choice.allowed is not None and choice.mode != "none":
        allowed = [_named(name, custom) for name in choice.allowed]
        return {"type": "allowed_tools", "mode": choice.mode, "tools": allowed}
    return choice.mode


def _named(name: str | None, custom: set[str]) -> dict[str, Any]:
    if name is None:
        raise InvalidRequest("tool_choice names no tool", param="tool_choice")
    return {"type": "custom" if name in custom else "function", "name": name}
