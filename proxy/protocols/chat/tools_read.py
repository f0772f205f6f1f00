"""Tools, and the choice among them, as a client gives them.

https://platform.openai.com/docs/api-reference/chat/create (tools, tool_choice)
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.fields import (
    invalid,
    objects,
    optional,
    required,
    unknown,
    wrong_type,
)
from toolwire.proxy.protocols.known_tools import KNOWN_TOOLS
from toolwire.proxy.protocols.neutral import (
    Cache,
    Choice,
    CustomTool,
    FunctionTool,
    HostedTool,
    Loss,
    Tool,
)

_KNOWN_OF_TOOL = frozenset({"type", "name", "function", "custom", "cache_control"})
_KNOWN_OF_FUNCTION = frozenset(
    {"type", "name", "description", "parameters", "strict", "cache_control"}
)
"""Some clients say type and name twice, inside and outside of the function."""

_USUAL_OF_TOOL = _KNOWN_OF_TOOL - {"cache_control"}
_USUAL_OF_FUNCTION = _KNOWN_OF_FUNCTION - {"cache_control"}
"""All that most of them have: there is no need to look for more."""


def read_tools(document: dict[str, Any]) -> list[Tool]:
    """``tools``, then the deprecated ``functions``."""
    tools, _ = KNOWN_TOOLS.derived(optional(document, "tools", list) or [], _read)
    if legacy := objects(document, "functions"):
        tools = tools + [_read_function(function, at, {}, at) for at, function in legacy]
    return tools


def _read(tools: list[Any]) -> tuple[list[Tool], list[Loss]]:
    return [_read_tool(tool, at) for at, tool in objects({"tools": tools}, "tools")], []


def _read_tool(tool: dict[str, Any], at: str) -> Tool:
    kind = optional(tool, "type", str, at) or ("function" if "function" in tool else "")
    if kind in ("", "function", "custom") and kind not in tool and "name" in tool:
        return _read_flat(tool, at)
    if kind == "function":
        function = required(tool, "function", dict, at)
        return _read_function(function, f"{at}.function", tool, at)
    if kind == "custom":
        return _read_custom(required(tool, "custom", dict, at), f"{at}.custom", tool, at)
    if not kind:
        raise invalid(f"{at}.type", "is missing; it must be a string")
    return HostedTool("chat", tool, at)


def _read_function(
    function: dict[str, Any], inner: str, tool: dict[str, Any], at: str
) -> FunctionTool:
    read = FunctionTool(
        name=required(function, "name", str, inner),
        description=optional(function, "description", str, inner),
        schema=optional(function, "parameters", dict, inner),
        strict=optional(function, "strict", bool, inner),
        at=at,
    )
    if not (_USUAL_OF_FUNCTION.issuperset(function) and _USUAL_OF_TOOL.issuperset(tool)):
        # some clients put the mark inside: https://docs.litellm.ai/docs/completion/prompt_caching
        read.cache = read_cache(tool, at) or read_cache(function, inner)
        extra = unknown(function, _KNOWN_OF_FUNCTION) | unknown(tool, _KNOWN_OF_TOOL)
        read.extra = extra or None
    return read


def _read_flat(tool: dict[str, Any], at: str) -> Tool:
    """A tool in the form of Responses or Messages, which editors send here, too.

    https://github.com/heyhuynhgiabuu/proxypal/issues/114
    """
    flat = {name: value for name, value in tool.items() if name not in ("type", "input_schema")}
    if "input_schema" in tool:
        flat["parameters"] = tool["input_schema"]
    elif tool.get("type") == "custom":
        return _read_custom(flat, at, flat, at)
    return _read_function(flat, at, {}, at)


def _read_custom(custom: dict[str, Any], inner: str, tool: dict[str, Any], at: str) -> CustomTool:
    form = optional(custom, "format", dict, inner)
    if form is not None and isinstance(grammar := form.get("grammar"), dict):
        form = {"type": "grammar", **grammar}  # flat, as Responses has it
    return CustomTool(
        name=required(custom, "name", str, inner),
        description=optional(custom, "description", str, inner),
        format=form,
        cache=read_cache(tool, at),
        at=at,
    )


def read_cache(holder: dict[str, Any], at: str) -> Cache | None:
    """A cache mark of Messages, which several upstreams take here too."""
    value = holder.get("cache_control")
    return Cache(value, f"{at}.cache_control") if value is not None else None


def read_choice(document: dict[str, Any]) -> Choice | None:
    """``tool_choice``, or the deprecated ``function_call``; None where the client did not say."""
    value = document.get("tool_choice")
    if value is None:
        return _read_legacy_choice(document.get("function_call"))
    if isinstance(value, str):
        # "any" is Mistral's word: https://docs.mistral.ai/capabilities/function_calling
        match value:
            case "auto" | "none" | "required":
                return Choice(value)
            case "any":
                return Choice("required")
        raise invalid("tool_choice", 'must be "auto", "none", "required" or an object')
    if not isinstance(value, dict):
        raise wrong_type(value, "a string or an object", "tool_choice")
    match value.get("type"):
        case "allowed_tools":
            return _read_allowed(value)
        case "function" | "custom" | "tool" as kind:
            return Choice("tool", _chosen_name(value, "tool_choice"), custom=kind == "custom")
        case "auto" | "none" | "required" as mode:
            return Choice(mode)
        case "any":
            return Choice("required")
    raise invalid("tool_choice.type", 'must be "function", "custom" or "allowed_tools"')


def _read_legacy_choice(value: Any) -> Choice | None:
    if value is None:
        return None
    if isinstance(value, dict):
        return Choice("tool", required(value, "name", str, "function_call"), at="function_call")
    if value not in ("auto", "none"):
        raise invalid("function_call", 'must be "auto", "none" or an object with a name')
    return Choice("none" if value == "none" else "auto", at="function_call")


def _read_allowed(value: dict[str, Any]) -> Choice:
    at = "tool_choice.allowed_tools"
    allowed = required(value, "allowed_tools", dict, "tool_choice")
    mode = required(allowed, "mode", str, at)
    if mode not in ("auto", "required"):
        raise invalid(f"{at}.mode", 'must be "auto" or "required"')
    names = [_chosen_name(tool, path) for path, tool in objects(allowed, "tools", at)]
    return Choice("required" if mode == "required" else "auto", allowed=names)


def _chosen_name(value: dict[str, Any], at: str) -> str:
    """The name in ``{"type": "function", "function": {"name"}}``, or in a flat one."""
    kind = "custom" if value.get("type") == "custom" else "function"
    if kind not in value and "name" in value:
        return required(value, "name", str, at)
    return required(required(value, kind, dict, at), "name", str, f"{at}.{kind}")
