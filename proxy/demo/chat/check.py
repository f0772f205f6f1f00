"""What Chat Completions refuses. https://platform.openai.com/docs/api-reference/chat/create"""

from __future__ import annotations

from collections.abc import Mapping

from toolwire.proxy.demo.chat.history import check_messages
from toolwire.proxy.demo.documents import text_of
from toolwire.proxy.demo.neutral import Json
from toolwire.proxy.demo.openai_rules import (
    check_effort,
    check_function,
    check_json_format,
    check_name,
    check_ranges,
    given,
    invalid,
    objects,
    one_of,
    within,
)

_MOST_STOPS = 4
_FORMATS = ("text", "json_object", "json_schema")
_CHOICES = ("none", "auto", "required")


def check(body: Json, headers: Mapping[str, str]) -> None:
    """Raises Refusal where the request is not one that the vendor answers."""
    given(body, "model", "a string", required=True)
    check_messages(body)
    tools = _check_tools(body)
    _check_choice(body, tools)
    _check_limits(body)
    check_ranges(body)
    check_effort(body, "reasoning_effort")
    _check_stop(body)
    _check_format(body)
    given(body, "stream", "a boolean")
    if given(body, "stream_options", "an object") is not None and not body.get("stream"):
        raise invalid(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            "stream_options",
        )


def tool_name(tool: Json) -> str:
    """The name of a tool, of a tool call or of a named choice; empty when it has none."""
    inner = tool.get("custom" if tool.get("type") == "custom" else "function")
    return str(inner.get("name", "")) if isinstance(inner, dict) else ""


def _check_tools(body: Json) -> set[str]:
    """The names of the tools offered."""
    if body.get("functions") is not None:
        raise invalid("The demo upstream takes 'tools', not 'functions'.", "functions")
    tools = objects(body, "tools")
    for i, tool in enumerate(tools):
        at = f"tools[{i}]."
        kind = given(tool, "type", "a string", at=at, required=True)
        one_of(kind, ("function", "custom"), at + "type")
        inner = given(tool, kind, "an object", at=at, required=True)
        if kind == "function":
            check_function(inner, f"{at}function.")
        else:
            check_name(inner, f"{at}custom.")
    return {tool_name(tool) for tool in tools}


def _check_choice(body: Json, tools: set[str]) -> None:
    for param in ("tool_choice", "parallel_tool_calls"):
        if body.get(param) is not None and not tools:
            rule = f"'{param}' is only allowed when 'tools' are specified."
            raise invalid(f"Invalid value for '{param}': {rule}", param)
    given(body, "parallel_tool_calls", "a boolean")
    choice = given(body, "tool_choice", "a string", "an object")
    if isinstance(choice, str):
        one_of(choice, _CHOICES, "tool_choice")
    elif choice is not None:
        _check_choice_object(choice, tools)


def _check_choice_object(choice: Json, tools: set[str]) -> None:
    kind = given(choice, "type", "a string", at="tool_choice.", required=True)
    one_of(kind, ("allowed_tools", "function", "custom"), "tool_choice.type")
    inner = given(choice, kind, "an object", at="tool_choice.", required=True)
    chosen = [choice]
    if kind == "allowed_tools":
        at = "tool_choice.allowed_tools."
        one_of(given(inner, "mode", "a string", at=at), ("auto", "required"), at + "mode")
        chosen = objects(inner, "tools", at, required=True)
    for tool in chosen:
        if tool_name(tool) not in tools:
            raise invalid(
                f"Tool choice '{tool_name(tool)}' not found in 'tools' parameter.", "tool_choice"
            )


def _check_limits(body: Json) -> None:
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        raise invalid(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
            "max_tokens",
        )
    for param in ("max_tokens", "max_completion_tokens"):
        value = given(body, param, "an integer")
        within(value, "an integer", 1, float("inf"), param)
    if given(body, "n", "an integer") not in (None, 1):
        raise invalid("The demo upstream makes one choice: 'n' has to be 1.", "n")


def _check_stop(body: Json) -> None:
    stop = given(body, "stop", "a string", "an array")
    if isinstance(stop, list) and len(stop) > _MOST_STOPS:
        raise invalid(
            f"Invalid 'stop': array too long. Expected an array with maximum length {_MOST_STOPS},"
            f" but got an array with length {len(stop)} instead.",
            "stop",
            "array_above_max_length",
        )


def _check_format(body: Json) -> None:
    form = given(body, "response_format", "an object")
    if form is None:
        return
    kind = given(form, "type", "a string", at="response_format.", required=True)
    one_of(kind, _FORMATS, "response_format.type")
    if kind == "json_schema":
        inner = given(form, "json_schema", "an object", at="response_format.", required=True)
        check_json_format(inner, "response_format.json_schema.")
    elif kind == "json_object" and "json" not in text_of(body["messages"]).lower():
        raise invalid(
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type"
            " 'json_object'.",
            "messages",
        )
