"""What Messages refuses. https://docs.anthropic.com/en/api/messages and .../errors"""

from __future__ import annotations

from collections.abc import Mapping

from toolwire.proxy.demo import schema_rules
from toolwire.proxy.demo.messages.history import check_messages
from toolwire.proxy.demo.messages.rules import (
    NAME,
    dictionaries,
    field,
    matches,
    no_extras,
    one_of,
    text_has_content,
    thinking_type,
)
from toolwire.proxy.demo.neutral import Json
from toolwire.proxy.demo.refusals import Refusal

KNOWN = frozenset(
    "max_tokens messages model cache_control container diagnostics inference_geo metadata"
    " output_config service_tier speed stop_sequences stream system thinking tool_choice tools"
    " temperature top_k top_p"  # no longer listed, still taken
    " user_profile_id workspace_id billing_policy compaction context_management"
    " fallback_credit_token fallbacks mcp_servers output_format thread".split()
)
"""The parameters of the vendor, those of its betas included."""

_TOOL = frozenset(
    "name description input_schema type cache_control strict allowed_callers defer_loading"
    " eager_input_streaming input_examples".split()
)
_CHOICES = {  # the fields that a choice of this type has
    "auto": frozenset({"type", "disable_parallel_tool_use"}),
    "any": frozenset({"type", "disable_parallel_tool_use"}),
    "tool": frozenset({"type", "name", "disable_parallel_tool_use"}),
    "none": frozenset({"type"}),
}
_THINKING = ("enabled", "adaptive", "between_tools", "disabled")
_SMALLEST_BUDGET = 1024
_MOST_CACHE_MARKS = 4


def check(body: Json, headers: Mapping[str, str]) -> None:
    """Raises Refusal where the request is not one that the vendor answers."""
    limit = field(body, "max_tokens", "integer")
    if limit < 0:
        raise Refusal("max_tokens: Input should be greater than or equal to 0")
    field(body, "stream", "boolean", required=False)
    thinks = _check_thinking(body)
    _check_sampling(body, thinks)
    check_countable(body, headers)


def check_countable(body: Json, headers: Mapping[str, str]) -> None:
    """Raises Refusal where not even the tokens of the request can be counted."""
    if "anthropic-version" not in headers:
        raise Refusal("anthropic-version: header is required")
    field(body, "model", "string")
    no_extras(body, KNOWN)
    _check_thread(body)
    _check_system(body)
    _check_choice(body, _check_tools(body))
    check_messages(body)
    _check_format(body)
    if (marks := cache_marks(body)) > _MOST_CACHE_MARKS:
        rule = f"A maximum of {_MOST_CACHE_MARKS} blocks with cache_control may be provided."
        raise Refusal(f"{rule} Found {marks}.")


def cache_marks(body: Json) -> int:
    """How many cache breakpoints the request sets."""
    holders = [body, *(body.get("tools") or ())]
    for content in [body.get("system"), *(m["content"] for m in body["messages"])]:
        for block in content if isinstance(content, list) else ():
            inner = block.get("content")
            holders += [block, *(inner if isinstance(inner, list) else ())]
    return sum(isinstance(h, dict) and h.get("cache_control") is not None for h in holders)


def _check_thread(body: Json) -> None:
    """The demo holds no threads; told so in these words, the official clients go on without."""
    if body.get("thread") is not None:
        raise Refusal(
            "Threads are not supported here: send the full conversation without `thread`.",
            details={"error_code": "thread_unsupported_request"},
        )


def _check_thinking(body: Json) -> bool:
    thinking = field(body, "thinking", "dictionary", required=False)
    if thinking is None:
        return False
    one_of(thinking.get("type"), _THINKING, "thinking.type")
    if thinking["type"] == "enabled":
        budget = field(thinking, "budget_tokens", "integer", at="thinking.enabled.")
        if budget < _SMALLEST_BUDGET:
            raise Refusal(
                "thinking.enabled.budget_tokens: Input should be greater than or equal to"
                f" {_SMALLEST_BUDGET}"
            )
        if budget >= body["max_tokens"]:
            raise Refusal("`max_tokens` must be greater than `thinking.budget_tokens`.")
    return thinking_type(body) != "disabled"


def _check_sampling(body: Json, thinks: bool) -> None:
    for param in ("temperature", "top_p"):
        value = field(body, param, "number", required=False)
        if value is not None and not 0 <= value <= 1:
            raise Refusal(f"{param}: range: 0..1")
    if thinks and body.get("temperature") not in (None, 1):
        raise Refusal("`temperature` may only be set to 1 when thinking is enabled.")
    if thinks and body.get("top_k") is not None:
        raise Refusal("`top_k` must be unset when thinking is enabled.")
    for stop in field(body, "stop_sequences", "list", required=False) or ():
        if not isinstance(stop, str) or not stop.strip():
            raise Refusal("stop_sequences: each stop sequence must contain non-whitespace")


def _check_system(body: Json) -> None:
    if isinstance(field(body, "system", "string", "list", required=False), list):
        for i, block in enumerate(dictionaries(body, "system")):
            one_of(block.get("type"), ("text",), f"system.{i}.type")
            text_has_content(field(block, "text", "string", at=f"system.{i}."), "system")


def _check_tools(body: Json) -> set[str]:
    """The names of the tools offered, the vendor's own included."""
    names: list[str] = []
    for i, tool in enumerate(dictionaries(body, "tools")):
        if tool.get("type") in (None, "custom"):
            _check_tool(tool, f"tools.{i}.custom.")
        names.append(field(tool, "name", "string", at=f"tools.{i}."))
    if len(set(names)) < len(names):
        raise Refusal("tools: Tool names must be unique.")
    return set(names)


def _check_tool(tool: Json, at: str) -> None:
    no_extras(tool, _TOOL, at)
    matches(field(tool, "name", "string", at=at), NAME, f"{at}name")
    field(tool, "description", "string", at=at, required=False)
    field(tool, "strict", "boolean", at=at, required=False)
    schema = field(tool, "input_schema", "dictionary", at=at)
    if schema.get("type") != "object":
        raise Refusal(f"{at}input_schema.type: Input should be 'object'")
    if any(keyword in schema for keyword in ("oneOf", "allOf", "anyOf")):
        rule = "input_schema does not support oneOf, allOf, or anyOf at the top level"
        raise Refusal(f"{at}input_schema: {rule}")
    if problem := schema_rules.fault(schema):
        raise Refusal(f"{at}input_schema: JSON schema is invalid. {problem}")


def _check_choice(body: Json, names: set[str]) -> None:
    choice = field(body, "tool_choice", "dictionary", required=False)
    if choice is None:
        return
    kind = choice.get("type")
    one_of(kind, tuple(_CHOICES), "tool_choice.type")
    no_extras(choice, _CHOICES[str(kind)], f"tool_choice.{kind}.")
    field(choice, "disable_parallel_tool_use", "boolean", at="tool_choice.", required=False)
    if not names:
        raise Refusal("tool_choice: tool_choice may only be specified while providing tools.")
    if kind in ("any", "tool") and thinking_type(body) != "disabled":
        raise Refusal("Thinking may not be enabled when tool_choice forces tool use.")
    if kind == "tool" and field(choice, "name", "string", at="tool_choice.tool.") not in names:
        raise Refusal(f"tool_choice.tool.name: Tool '{choice['name']}' not found in provided tools")


def _check_format(body: Json) -> None:
    config = field(body, "output_config", "dictionary", required=False) or {}
    form = field(config, "format", "dictionary", at="output_config.", required=False)
    if form is not None:
        at = "output_config.format."
        one_of(form.get("type"), ("json_schema",), f"{at}type")
        schema = field(form, "schema", "dictionary", at=at)
        if problem := schema_rules.fault(schema):
            raise Refusal(f"{at}schema: JSON schema is invalid. {problem}")
