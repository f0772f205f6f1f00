"""What Responses refuse. https://platform.openai.com/docs/api-reference/responses/create"""

from __future__ import annotations

from collections.abc import Mapping

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
    unknown_keys,
    within,
)
from toolwire.proxy.demo.responses.items import check_pairs, conversation
from toolwire.proxy.demo.responses.memory import ResponseMemory

KNOWN = frozenset(
    "access_programs background background_options client_metadata context_management conversation"
    " image include input instructions max_output_tokens max_tool_calls metadata model moderation"
    " parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options"
    " prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options"
    " temperature text tool_choice tools top_logprobs top_p truncation user".split()
)
"""The parameters of the vendor, and ``client_metadata``, which Codex sends it."""

_FEWEST_TOKENS = 16
_OF_A_NAMED_TOOL = ("function", "custom")
_CHOICES = (
    *_OF_A_NAMED_TOOL,
    *"allowed_tools mcp file_search web_search web_search_preview web_search_preview_2025_03_11"
    " computer computer_use computer_use_preview code_interpreter image_generation shell"
    " apply_patch".split(),
)
_NOT_IN_THE_DEMO = ("background", "conversation", "prompt")


def check(memory: ResponseMemory, body: Json, headers: Mapping[str, str]) -> None:
    """Raises Refusal where the request is not one that the vendor answers."""
    for key in unknown_keys(body, KNOWN):
        raise invalid(f"Unknown parameter: '{key}'.", key, "unknown_parameter")
    for key in _NOT_IN_THE_DEMO:
        if body.get(key):
            raise invalid(f"The demo upstream has no '{key}'.", key)
    given(body, "model", "a string", required=True)
    previous = body.get("previous_response_id") is not None
    given(body, "input", "a string", "an array", required=not previous)
    check_pairs(conversation(body, memory))
    _check_choice(body, _check_tools(body))
    limit = given(body, "max_output_tokens", "an integer")
    within(limit, "an integer", _FEWEST_TOKENS, float("inf"), "max_output_tokens")
    check_ranges(body)
    _check_format(body)
    _check_plain_fields(body)


def _check_plain_fields(body: Json) -> None:
    for key in ("stream", "store", "parallel_tool_calls"):
        given(body, key, "a boolean")
    for key in ("instructions", "user", "safety_identifier", "prompt_cache_key"):
        given(body, key, "a string")
    given(body, "include", "an array")
    given(body, "metadata", "an object")
    reasoning = given(body, "reasoning", "an object") or {}
    check_effort(reasoning, "effort", "reasoning.")
    if (summary := given(reasoning, "summary", "a string", at="reasoning.")) is not None:
        one_of(summary, ("auto", "concise", "detailed"), "reasoning.summary")


def _check_tools(body: Json) -> list[Json]:
    """The tools offered, hosted ones included."""
    tools = objects(body, "tools", may_be_empty=True)
    for i, tool in enumerate(tools):
        kind = given(tool, "type", "a string", at=f"tools[{i}].", required=True)
        if kind == "function":
            check_function(tool, f"tools[{i}].")
        elif kind == "custom":
            check_name(tool, f"tools[{i}].")
            form = given(tool, "format", "an object", at=f"tools[{i}].") or {"type": "text"}
            one_of(form.get("type"), ("text", "grammar"), f"tools[{i}].format.type")
    return tools


def _check_choice(body: Json, tools: list[Json]) -> None:
    choice = given(body, "tool_choice", "a string", "an object")
    if choice in (None, "auto", "none"):
        return
    if not tools:
        kind = choice if isinstance(choice, str) else choice.get("type")
        raise invalid(
            f"Tool choice '{kind}' must be specified with 'tools' parameter.", "tool_choice"
        )
    if isinstance(choice, str):
        one_of(choice, ("none", "auto", "required"), "tool_choice")
        return
    kind = given(choice, "type", "a string", at="tool_choice.", required=True)
    one_of(kind, _CHOICES, "tool_choice.type")
    chosen = [choice]
    if kind == "allowed_tools":
        mode = given(choice, "mode", "a string", at="tool_choice.", required=True)
        one_of(mode, ("auto", "required"), "tool_choice.mode")
        chosen = objects(choice, "tools", "tool_choice.", required=True)
    offered = [(tool["type"], tool.get("name")) for tool in tools]
    for tool in chosen:
        name = (given(tool, "type", "a string", at="tool_choice.", required=True), tool.get("name"))
        if name[0] in _OF_A_NAMED_TOOL and name not in offered:
            raise invalid(f"Tool choice '{name[1]}' not found in 'tools' parameter.", "tool_choice")


def _check_format(body: Json) -> None:
    form = given(given(body, "text", "an object") or {}, "format", "an object", at="text.")
    if form is None:
        return
    kind = given(form, "type", "a string", at="text.format.", required=True)
    one_of(kind, ("text", "json_object", "json_schema"), "text.format.type")
    if kind == "json_schema":
        check_json_format(form, "text.format.")
    elif kind == "json_object" and "json" not in text_of(body.get("input")).lower():
        raise invalid(
            "Response input messages must contain the word 'json' in some form to use 'text.format'"
            " of type 'json_object'.",
            "input",
        )
