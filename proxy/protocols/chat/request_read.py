"""A client's request, read into the neutral form.

https://platform.openai.com/docs/api-reference/chat/create
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.chat import fields, thinking
from toolwire.proxy.protocols.chat.history_read import read_turns
from toolwire.proxy.protocols.chat.tools_read import read_choice, read_tools
from toolwire.proxy.protocols.neutral import Request, Structured

_MODELLED = thinking.FIELDS | {
    "model",
    "messages",
    "tools",
    "functions",
    "tool_choice",
    "function_call",
    "parallel_tool_calls",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "stop",
    "response_format",
    "user",
    "stream",
    "stream_options",
    "store",
    "n",
}
"""The fields that have their own place in the neutral request."""

_SAYS_NOTHING: dict[str, Any] = {"logprobs": False, "modalities": ["text"]}
"""Defaults that clients write out: not worth a report where they cannot be carried."""


def read_request(document: dict[str, Any]) -> Request:
    """Raises ``InvalidRequest`` with the path of a field of a wrong type, and for ``n`` > 1: one
    answer is all that the other protocols have."""
    count = fields.optional_int(document, "n")
    if count is not None and count != 1:
        fields.refuse("n", "must be 1: the upstream's protocol gives one answer only")
    return Request(
        # servers of one model need no name, and some (Azure) have it in the path
        model=fields.optional_text(document, "model") or "",
        turns=read_turns(document),
        protocol="chat",
        tools=read_tools(document),
        choice=read_choice(document),
        parallel=fields.optional_bool(document, "parallel_tool_calls"),
        max_tokens=_max_tokens(document),
        temperature=fields.optional_number(document, "temperature"),
        top_p=fields.optional_number(document, "top_p"),
        stop=_stop(document),
        structured=_structured(document),
        thinking=thinking.read_thinking(document),
        user=fields.optional_text(document, "user"),
        stream=fields.optional_bool(document, "stream") or False,
        include_usage=_include_usage(document),
        store=fields.optional_bool(document, "store"),
        extra=_extra(document),
        document=document,
    )


def _max_tokens(document: dict[str, Any]) -> int | None:
    limit = fields.optional_int(document, "max_completion_tokens")
    deprecated = fields.optional_int(document, "max_tokens")
    return deprecated if limit is None else limit


def _stop(document: dict[str, Any]) -> list[str]:
    value = document.get("stop")
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        fields.wrong(value, "a string or an array", "stop")
    for place, sequence in enumerate(value):
        if not isinstance(sequence, str):
            fields.wrong(sequence, "a string", f"stop[{place}]")
    return list(value)


def _structured(document: dict[str, Any]) -> Structured | None:
    """https://platform.openai.com/docs/guides/structured-outputs"""
    wish = fields.optional_object(document, "response_format")
    if wish is None:
        return None
    at = "response_format"
    match fields.text(wish, "type", at):
        case "text":
            return None
        case "json_object":
            return Structured(at=at)
        case "json_schema":
            inner = f"{at}.json_schema"
            schema = fields.required_object(wish, "json_schema", at)
            return Structured(
                schema=fields.optional_object(schema, "schema", inner) or {},
                name=fields.optional_text(schema, "name", inner),
                description=fields.optional_text(schema, "description", inner),
                strict=fields.optional_bool(schema, "strict", inner),
                at=at,
            )
    fields.refuse(f"{at}.type", 'must be "text", "json_object" or "json_schema"')


def _include_usage(document: dict[str, Any]) -> bool:
    options = fields.optional_object(document, "stream_options") or {}
    return fields.optional_bool(options, "include_usage", "stream_options") or False


def _extra(document: dict[str, Any]) -> dict[str, Any]:
    """The other fields; null and empty ones say nothing."""
    return {
        name: value
        for name, value in document.items()
        if name not in _MODELLED
        and value is not None
        and value not in ([], {})
        and _SAYS_NOTHING.get(name, ...) != value
    }
