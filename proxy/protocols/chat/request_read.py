"""A client's request, read into the neutral form.

https://platform.openai.com/docs/api-reference/chat/create
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.chat import thinking
from toolwire.proxy.protocols.chat.history_read import read_turns
from toolwire.proxy.protocols.chat.tools_read import read_choice, read_tools
from toolwire.proxy.protocols.fields import invalid, optional, optional_number, required, wrong_type
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
    "n",
}
"""The fields that have their own place in the neutral request."""

_SAYS_NOTHING: dict[str, Any] = {"logprobs": False, "modalities": ["text"], "store": False}
"""Defaults that clients write out: not worth a report where they cannot be carried."""


def read_request(document: dict[str, Any]) -> Request:
    """Raises ``InvalidRequest`` with the path of a field of a wrong type, and for ``n`` > 1: one
    answer is all that the other protocols have."""
    count = optional(document, "n", int)
    if count is not None and count != 1:
        raise invalid("n", "must be 1: the upstream's protocol gives one answer only")
    return Request(
        # servers of one model need no name, and some (Azure) have it in the path
        model=optional(document, "model", str) or "",
        turns=read_turns(document),
        protocol="chat",
        tools=read_tools(document),
        choice=read_choice(document),
        parallel=optional(document, "parallel_tool_calls", bool),
        max_tokens=_max_tokens(document),
        temperature=optional_number(document, "temperature"),
        top_p=optional_number(document, "top_p"),
        stop=_stop(document),
        structured=_structured(document),
        thinking=thinking.read_thinking(document),
        user=optional(document, "user", str),
        stream=optional(document, "stream", bool) or False,
        include_usage=_include_usage(document),
        store=optional(document, "store", bool),
        extra=_extra(document),
        document=document,
    )


def _max_tokens(document: dict[str, Any]) -> int | None:
    limit = optional(document, "max_completion_tokens", int)
    deprecated = optional(document, "max_tokens", int)
    return deprecated if limit is None else limit


def _stop(document: dict[str, Any]) -> list[str]:
    value = document.get("stop")
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise wrong_type(value, "a string or an array", "stop")
    for place, sequence in enumerate(value):
        if not isinstance(sequence, str):
            raise wrong_type(sequence, "a string", f"stop[{place}]")
    return list(value)


def _structured(document: dict[str, Any]) -> Structured | None:
    """https://platform.openai.com/docs/guides/structured-outputs"""
    wish = optional(document, "response_format", dict)
    if wish is None:
        return None
    at = "response_format"
    match required(wish, "type", str, at):
        case "text":
            return None
        case "json_object":
            return Structured(at=at)
        case "json_schema":
            inner = f"{at}.json_schema"
            schema = required(wish, "json_schema", dict, at)
            return Structured(
                schema=optional(schema, "schema", dict, inner),
                name=optional(schema, "name", str, inner),
                description=optional(schema, "description", str, inner),
                strict=optional(schema, "strict", bool, inner),
                at=at,
            )
    raise invalid(f"{at}.type", 'must be "text", "json_object" or "json_schema"')


def _include_usage(document: dict[str, Any]) -> bool:
    options = optional(document, "stream_options", dict) or {}
    return optional(options, "include_usage", bool, "stream_options") or False


def _extra(document: dict[str, Any]) -> dict[str, Any]:
    """The other fields; null and empty ones say nothing, but that a search may be plain."""
    return {
        name: value
        for name, value in document.items()
        if name not in _MODELLED
        and value is not None
        and (value not in ([], {}) or name == "web_search_options")
        and _SAYS_NOTHING.get(name, ...) != value
    }
