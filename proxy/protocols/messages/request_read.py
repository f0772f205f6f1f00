"""A client's Messages request, read into the neutral form.

https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols.fields import (
    invalid,
    of_type,
    one_of,
    optional,
    optional_number,
    required,
    wrong_type,
)
from toolwire.proxy.protocols.messages.blocks_read import read_content
from toolwire.proxy.protocols.messages.thinking import read_thinking
from toolwire.proxy.protocols.messages.tools_read import read_choice, read_tools
from toolwire.proxy.protocols.neutral import Request, Role, Structured, Turn

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}

_READ_FIELDS = {
    "model",
    "messages",
    "system",
    "max_tokens",
    "metadata",
    "stop_sequences",
    "stream",
    "temperature",
    "top_p",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "output_format",
    # which dialect of this protocol is spoken (Bedrock, Vertex AI): no wish of the client
    "anthropic_version",
}


def read_request(document: dict[str, Any]) -> Request:
    """Raises ``InvalidRequest`` with the path of a field that is missing or of a wrong type, and
    for a ``thread``, in the words after which the official clients go on without one."""
    if document.get("thread") is not None:
        why = "is not held by this upstream: send the full conversation without it"
        raise InvalidRequest(f"thread {why}", param="thread", code="thread_unsupported_request")
    choice, parallel = read_choice(optional(document, "tool_choice", dict))
    metadata = optional(document, "metadata", dict) or {}
    output = optional(document, "output_config", dict) or {}
    return Request(
        model=required(document, "model", str),
        turns=_read_turns(document),
        protocol="messages",
        tools=read_tools(optional(document, "tools", list) or []),
        choice=choice,
        parallel=parallel,
        max_tokens=optional(document, "max_tokens", int),
        temperature=optional_number(document, "temperature"),
        top_p=optional_number(document, "top_p"),
        stop=_read_stop(document),
        structured=_read_structured(document, output),
        thinking=read_thinking(optional(document, "thinking", dict), output),
        user=optional(metadata, "user_id", str, "metadata"),
        stream=optional(document, "stream", bool) or False,
        extra=_read_extra(document, metadata, output),
    )


def _read_turns(document: dict[str, Any]) -> list[Turn]:
    turns = []
    if (system := document.get("system")) is not None:
        turns.append(Turn(Role.SYSTEM, read_content(system, "system", Role.SYSTEM), at="system"))
    for index, message in enumerate(required(document, "messages", list)):
        at = f"messages[{index}]"
        if type(message) is not dict:
            raise wrong_type(message, "an object", at)
        role = _ROLES[one_of(message, "role", _ROLES, at)]
        content = read_content(message.get("content"), f"{at}.content", role)
        turns.append(Turn(role, content, at=at))
    return turns


def _read_stop(document: dict[str, Any]) -> list[str]:
    sequences = optional(document, "stop_sequences", list) or []
    return [of_type(s, str, f"stop_sequences[{i}]") for i, s in enumerate(sequences)]


def _read_structured(document: dict[str, Any], output: dict[str, Any]) -> Structured | None:
    """``output_config.format``, or ``output_format``, as it was called while in beta."""
    wish, at = optional(output, "format", dict, "output_config"), "output_config.format"
    if wish is None:
        wish, at = optional(document, "output_format", dict), "output_format"
    if wish is None:
        return None
    if (kind := required(wish, "type", str, at)) != "json_schema":
        raise invalid(f"{at}.type", f"must be json_schema, not {kind!r}")
    return Structured(schema=required(wish, "schema", dict, at), at=at)


def _read_extra(
    document: dict[str, Any], metadata: dict[str, Any], output: dict[str, Any]
) -> dict[str, Any]:
    """What has no field of its own; a field inside an object that is read by its path."""
    extra = {name: value for name, value in document.items() if name not in _READ_FIELDS}
    extra |= {f"metadata.{n}": value for n, value in metadata.items() if n != "user_id"}
    extra |= {
        f"output_config.{n}": value for n, value in output.items() if n not in ("effort", "format")
    }
    return {n: value for n, value in extra.items() if value is not None and value != []}
