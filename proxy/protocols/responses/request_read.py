"""A client's request, read.

https://platform.openai.com/docs/api-reference/responses/create
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols.neutral import (
    Request,
    Role,
    Structured,
    Text,
    ThinkingRequest,
    Turn,
)
from toolwire.proxy.protocols.responses import fields
from toolwire.proxy.protocols.responses.items_read import read_items
from toolwire.proxy.protocols.responses.tools import read_choice, read_tools

_MODELLED = frozenset(
    {
        "model",
        "input",
        "instructions",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "max_output_tokens",
        "temperature",
        "top_p",
        "text",
        "reasoning",
        "include",
        "user",
        "stream",
        "stream_options",
        "previous_response_id",
        "store",
    }
)
"""The fields read here; every other one goes to ``Request.extra``."""

_INSTEAD_OF_INPUT = ("previous_response_id", "conversation", "prompt")
"""Without any of these there must be an input."""

_DEFAULTS = {
    "background": False,
    "truncation": "disabled",
    "service_tier": "auto",
    "top_logprobs": 0,
}
"""Values that ask for nothing but what happens anyway."""

_ENCRYPTED = "reasoning.encrypted_content"


def read_request(document: dict[str, Any]) -> Request:
    """Raises ``InvalidRequest`` with the path of a field of a wrong type."""
    choice = read_choice(document)
    extra = _read_extra(document)
    if choice is None and isinstance(document.get("tool_choice"), dict):
        extra["tool_choice"] = document["tool_choice"]  # of a tool that the vendor runs
    return Request(
        model=fields.text(document, "model", ""),
        turns=_read_turns(document),
        protocol="responses",
        tools=read_tools(document),
        choice=choice,
        parallel=fields.optional_bool(document, "parallel_tool_calls"),
        max_tokens=fields.optional_int(document, "max_output_tokens"),
        temperature=fields.optional_number(document, "temperature"),
        top_p=fields.optional_number(document, "top_p"),
        structured=_read_format(document),
        thinking=_read_thinking(document),
        user=fields.optional_text(document, "user"),
        stream=bool(fields.optional_bool(document, "stream")),
        include_usage=True,  # every stream of this protocol ends with it
        previous_response_id=fields.optional_text(document, "previous_response_id"),
        store=fields.optional_bool(document, "store"),
        extra=extra,
        document=document,
    )


def _read_turns(document: dict[str, Any]) -> list[Turn]:
    turns = []
    instructions = fields.optional_text(document, "instructions")
    if instructions:
        turns.append(Turn(Role.SYSTEM, [Text(instructions, at="instructions")], at="instructions"))
    value = document.get("input")
    if isinstance(value, str):
        turns.append(Turn(Role.USER, [Text(value, at="input")] if value else [], at="input"))
        return turns
    if value is None and not any(document.get(name) for name in _INSTEAD_OF_INPUT):
        raise InvalidRequest(
            "input is missing; it must be a string or an array of items", param="input"
        )
    if value is not None and not isinstance(value, list):
        fields.wrong("input", "a string or an array of items", value)
    return turns + read_items(document)


def _read_format(document: dict[str, Any]) -> Structured | None:
    text = fields.optional_object(document, "text")
    form = fields.optional_object(text, "format", "text") if text else None
    if not form:
        return None
    at = "text.format"
    match form.get("type"):
        case "json_object":
            return Structured(at=at)
        case "json_schema":
            schema = fields.optional_object(form, "schema", at)
            if schema is None:
                raise InvalidRequest(f"{at}.schema is missing", param=f"{at}.schema")
            return Structured(
                schema=schema,
                name=fields.optional_text(form, "name", at),
                description=fields.optional_text(form, "description", at),
                strict=fields.optional_bool(form, "strict", at),
                at=at,
            )
    return None


def _read_thinking(document: dict[str, Any]) -> ThinkingRequest | None:
    encrypted = _ENCRYPTED in _included(document)
    reasoning = fields.optional_object(document, "reasoning")
    if not reasoning and not encrypted:
        return None
    reasoning = reasoning or {}
    effort = fields.optional_text(reasoning, "effort", "reasoning")
    return ThinkingRequest(
        enabled=None if effort is None else effort != "none",
        effort=effort,
        summary=fields.optional_text(reasoning, "summary", "reasoning")
        or fields.optional_text(reasoning, "generate_summary", "reasoning"),
        include_encrypted=encrypted,
        at="reasoning",
    )


def _included(document: dict[str, Any]) -> list[Any]:
    included = document.get("include")
    if included is None:
        return []
    if not isinstance(included, list):
        fields.wrong("include", "an array of strings", included)
    return included


def _read_extra(document: dict[str, Any]) -> dict[str, Any]:
    """What is not modelled, by its name; of objects that are modelled in part, by its path."""
    extra = {
        name: value
        for name, value in document.items()
        if name not in _MODELLED and _DEFAULTS.get(name) != value
    }
    text = fields.optional_object(document, "text") or {}
    if text.get("verbosity") is not None:
        extra["verbosity"] = text["verbosity"]  # the name that chat has for it
    form = text.get("format")
    if isinstance(form, dict) and form.get("type") not in ("text", "json_object", "json_schema"):
        extra["text.format"] = form
    reasoning = fields.optional_object(document, "reasoning") or {}
    for name, value in reasoning.items():
        if name not in ("effort", "summary", "generate_summary"):
            extra[f"reasoning.{name}"] = value
    included = [name for name in _included(document) if name != _ENCRYPTED]
    if included:
        extra["include"] = included
    return extra
