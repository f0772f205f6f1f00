"""Tools and the choice among them, both ways.

https://platform.openai.com/docs/api-reference/responses/create (``tools``, ``tool_choice``)
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols.codec import Quirks
from toolwire.proxy.protocols.neutral import (
    Choice,
    CustomTool,
    FunctionTool,
    HostedTool,
    Losses,
    Request,
    Tool,
)
from toolwire.proxy.protocols.responses import fields, namespaces
from toolwire.proxy.protocols.responses.content import drop_cache

_MODES = ("auto", "none", "required")
_FUNCTION_FIELDS = frozenset({"type", "name", "description", "parameters", "strict"})
_UNWISHED: tuple[Any, ...] = (None, False, [], {})


# ----------------------------------------------------------------------------------- reading
def read_tools(document: dict[str, Any]) -> list[Tool]:
    """The tools, those of a namespace under their flat names (see ``namespaces``)."""
    found: list[Tool] = []
    for at, tool in fields.objects(document, "tools"):
        if tool.get("type") == "namespace":
            found += _read_namespace(tool, at)
        else:
            found.append(_read_tool(tool, at, None))
    return found


def _read_namespace(tool: dict[str, Any], at: str) -> list[Tool]:
    name = fields.text(tool, "name", at)
    return [_read_tool(inner, where, name) for where, inner in fields.objects(tool, "tools", at)]


def _read_tool(tool: dict[str, Any], at: str, namespace: str | None) -> Tool:
    kind = fields.text(tool, "type", at)
    if kind == "function":
        return FunctionTool(
            name=namespaces.flat_name(namespace, fields.text(tool, "name", at)),
            description=fields.optional_text(tool, "description", at),
            schema=fields.optional_object(tool, "parameters", at),
            strict=fields.optional_bool(tool, "strict", at),
            extra={name: tool[name] for name in tool if name not in _FUNCTION_FIELDS} or None,
            at=at,
        )
    if kind == "custom":
        return CustomTool(
            name=namespaces.flat_name(namespace, fields.text(tool, "name", at)),
            description=fields.optional_text(tool, "description", at),
            format=fields.optional_object(tool, "format", at),
            at=at,
        )
    return HostedTool("responses", tool, at=at)


def read_choice(document: dict[str, Any]) -> Choice | None:
    """The choice; None where there is none, or where it names a tool that the vendor runs."""
    value = document.get("tool_choice")
    if value is None:
        return None
    if isinstance(value, str):
        fields.one_of(value, _MODES, "tool_choice")
        return Choice(mode=value)  # type: ignore[arg-type] # one of the modes
    if not isinstance(value, dict):
        fields.wrong("tool_choice", "a string or an object", value)
    match fields.text(value, "type", "tool_choice"):
        case "function" | "custom" as kind:
            name = fields.text(value, "name", "tool_choice")
            return Choice("tool", name, custom=kind == "custom")
        case "allowed_tools":
            return _read_allowed(value)
    return None


def _read_allowed(value: dict[str, Any]) -> Choice:
    mode = fields.text(value, "mode", "tool_choice")
    fields.one_of(mode, ("auto", "required"), "tool_choice.mode")
    allowed = []
    for at, tool in fields.objects(value, "tools", "tool_choice"):
        if tool.get("type") in ("function", "custom"):
            allowed.append(fields.text(tool, "name", at))
    return Choice(mode, allowed=allowed)  # type: ignore[arg-type] # one of the two


# ----------------------------------------------------------------------------------- writing
def write_tools(request: Request, quirks: Quirks, losses: Losses) -> list[dict[str, Any]]:
    """What is left of the tools."""
    written = [_write_tool(tool, request, quirks, losses) for tool in request.tools]
    return [tool for tool in written if tool is not None]


def _write_tool(
    tool: Tool, request: Request, quirks: Quirks, losses: Losses
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
    written["parameters"] = _schema(tool.schema)
    # An absent ``strict`` means that the API tries to make the schema strict, which no other
    # protocol does: https://platform.openai.com/docs/guides/function-calling#strict-mode
    if quirks.strict:
        written["strict"] = bool(tool.strict)
    elif tool.strict:
        losses.drop(f"{tool.at}.strict", "the upstream does not know strict")
    _write_extra(tool, request, written, losses)
    return written


def _write_extra(
    tool: FunctionTool, request: Request, written: dict[str, Any], losses: Losses
) -> None:
    for name, value in (tool.extra or {}).items():
        if request.protocol == "responses":
            written[name] = value
        elif value not in _UNWISHED:
            losses.drop(f"{tool.at}.{name}", "Responses has no such field of a tool")


def _schema(schema: dict[str, Any] | None) -> dict[str, Any]:
    """A schema that the API takes: an object's needs a type and properties."""
    if schema is None:
        return {"type": "object", "properties": {}}
    if "type" not in schema:
        schema = {"type": "object", **schema}
    if schema["type"] == "object" and "properties" not in schema:
        schema = {**schema, "properties": {}}
    return schema


def _without_nulls(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def write_choice(request: Request) -> Any:
    """The value of ``tool_choice``; None for none."""
    choice = request.choice
    if choice is None:
        return None
    custom = {tool.name for tool in request.tools if isinstance(tool, CustomTool)}
    if choice.mode == "tool":
        return _named(choice.name, custom)
    if choice.allowed is not None and choice.mode != "none":
        allowed = [_named(name, custom) for name in choice.allowed]
        return {"type": "allowed_tools", "mode": choice.mode, "tools": allowed}
    return choice.mode


def _named(name: str | None, custom: set[str]) -> dict[str, Any]:
    if name is None:
        raise InvalidRequest("tool_choice names no tool", param="tool_choice")
    return {"type": "custom" if name in custom else "function", "name": name}
