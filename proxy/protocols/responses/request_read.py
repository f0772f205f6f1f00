"""A client's request, read.

https://platform.openai.com/docs/api-reference/responses/create
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.fields import invalid, optional, optional_number, required, wrong_type
from toolwire.proxy.protocols.neutral import (
    Request,
    Role,
    Structured,
    Text,
    ThinkingRequest,
    Turn,
)
from toolwire.proxy.protocols.responses.items_read import read_items
from toolwire.proxy.protocols.responses.tools import Toolbox, read_choice, read_tools

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

_HELD_BY_THE_VENDOR = ("conversation", "prompt")
"""Parts of the request that it names by an id: without them it would mean something else."""

_DEFAULTS = {
    "background": False,
    "truncation": "disabled",
    "service_tier": "auto",
    "top_logprobs": 0,
}
"""Values that ask for nothing but what happens anyway."""

_ENCRYPTED = "reasoning.encrypted_content"


def read_request(document: dict[str, Any]) -> Request:
    """Raises ``InvalidRequest`` with the path of a field of a wrong type, and for what only the
    vendor could look up."""
    for name in _HELD_BY_THE_VENDOR:
        if document.get(name) is not None:
            raise invalid(name, "is not held by this upstream: send what it stands for")
    choice = read_choice(document)
    toolbox = Toolbox(read_tools(document))
    turns = _read_turns(document, toolbox)
    extra = _read_extra(document)
    if choice is None and isinstance(document.get("tool_choice"), dict):
        extra["tool_choice"] = document["tool_choice"]  # of a tool that the vendor runs
    return Request(
        model=required(document, "model", str),
        turns=turns,
        protocol="responses",
        tools=toolbox.tools,
        choice=choice,
        parallel=optional(document, "parallel_tool_calls", bool),
        max_tokens=optional(document, "max_output_tokens", int),
        temperature=optional_number(document, "temperature"),
        top_p=optional_number(document, "top_p"),
        structured=_read_format(document),
        thinking=_read_thinking(document),
        user=optional(document, "user", str),
        stream=bool(optional(document, "stream", bool)),
        include_usage=True,  # every stream of this protocol ends with it
        previous_response_id=optional(document, "previous_response_id", str),
        store=optional(document, "store", bool),
        extra=extra,
        document=document,
    )


def _read_turns(document: dict[str, Any], toolbox: Toolbox) -> list[Turn]:
    turns = []
    instructions = optional(document, "instructions", str)
    if instructions:
        turns.append(Turn(Role.SYSTEM, [Text(instructions, at="instructions")], at="instructions"))
    value = document.get("input")
    if isinstance(value, str):
        turns.append(Turn(Role.USER, [Text(value, at="input")] if value else [], at="input"))
        return turns
    if value is None and not document.get("previous_response_id"):
        raise invalid("input", "is missing; it must be a string or an array of items")
    if value is not None and not isinstance(value, list):
        raise wrong_type(value, "a string or an array of items", "input")
    return turns + read_items(document, toolbox)


def _read_format(document: dict[str, Any]) -> Structured | None:
    text = optional(document, "text", dict)
    form = optional(text, "format", dict, "text") if text else None
    if not form:
        return None
    at = "text.format"
    match form.get("type"):
        case "json_object":
            return Structured(at=at)
        case "json_schema":
            return Structured(
                schema=required(form, "schema", dict, at),
                name=optional(form, "name", str, at),
                description=optional(form, "description", str, at),
                strict=optional(form, "strict", bool, at),
                at=at,
            )
    return None


def _read_thinking(document: dict[str, Any]) -> ThinkingRequest | None:
    encrypted = _ENCRYPTED in _included(document)
    reasoning = optional(document, "reasoning", dict)
    if not reasoning and not encrypted:
        return None
    reasoning = reasoning or {}
    effort = optional(reasoning, "effort", str, "reasoning")
    return ThinkingRequest(
        enabled=None if effort is None else effort != "none",
        effort=effort,
        summary=optional(reasoning, "summary", str, "reasoning")
        or optional(reasoning, "generate_summary", str, "reasoning"),
        include_encrypted=encrypted,
        at="reasoning",
    )


def _included(document: dict[str, Any]) -> list[Any]:
    included = document.get("include")
    if included is None:
        return []
    if not isinstance(included, list):
        raise wrong_type(included, "an array of strings", "include")
    return included


def _read_extra(document: dict[str, Any]) -> dict[str, Any]:
    """What is not modelled, by its name; of objects that are modelled in part, by its path."""
    extra = {
        name: value
        for name, value in document.items()
        if name not in _MODELLED and _DEFAULTS.get(name) != value
    }
    text = optional(document, "text", dict) or {}
    for name, value in text.items():
        if name != "format" and value is not None:
            extra[f"text.{name}"] = value
    form = text.get("format")
    if isinstance(form, dict) and form.get("type") not in ("text", "json_object", "json_schema"):
        extra["text.format"] = form
    reasoning = optional(document, "reasoning", dict) or {}
    for name, value in reasoning.items():
        if name not in ("effort", "summary", "generate_summary"):
            extra[f"reasoning.{name}"] = value
    included = [name for name in _included(document) if name != _ENCRYPTED]
    if included:
        extra["include"] = included
    return extra
