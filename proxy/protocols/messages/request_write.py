"""A neutral request, written for a Messages upstream.

https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from toolwire.proxy.protocols.codec import Quirks
from toolwire.proxy.protocols.messages.blocks_write import Block, BlockWriter, plain_text
from toolwire.proxy.protocols.messages.output_schema import closed
from toolwire.proxy.protocols.messages.thinking import is_thinking, write_thinking
from toolwire.proxy.protocols.messages.tools_write import write_tools
from toolwire.proxy.protocols.neutral import (
    STOP_PATHS,
    Losses,
    Opaque,
    Part,
    Request,
    Role,
    Text,
    Turn,
)

_SYSTEM_ROLES = (Role.SYSTEM, Role.DEVELOPER)
_USER, _ASSISTANT = Role.USER, Role.ASSISTANT  # looked up once, see ``layout``

_SYSTEM_MARK = {
    Role.SYSTEM: "[System message]\n",
    Role.DEVELOPER: "[Developer message]\n",
}

_FIRST_USER_TEXT = "[The conversation begins here.]"

_EXTRA_FIELDS = {"cache_control", "inference_geo", "mcp_servers", "top_k"}
"""Fields that other clients too write under this name and with this meaning."""

_END_USER = "safety_identifier"
"""OpenAI's newer name for the user of an application."""

_SAYING_NOTHING: dict[str, Any] = {
    "background": False,
    "frequency_penalty": 0,
    "logprobs": False,
    "n": 1,
    "presence_penalty": 0,
    "service_tier": "auto",
    "top_logprobs": 0,
    "truncation": "disabled",
}
"""Fields whose default asks for nothing, so that nobody misses them."""


def write_request(request: Request, quirks: Quirks, losses: Losses) -> dict[str, Any]:
    """The body of the request; its turns are arranged, its ids and names are legal."""
    document: dict[str, Any] = {"model": request.model, "max_tokens": request.max_tokens}
    if request.max_tokens is None:
        document["max_tokens"] = quirks.default_max_tokens
        losses.invent("max_tokens", f"is required: {quirks.default_max_tokens} is sent")
    _write_conversation(document, request, quirks, losses)
    write_tools(document, request, quirks, losses)
    write_thinking(document, request, quirks, losses)
    _write_sampling(document, request, quirks, losses)
    _write_stop(document, request, quirks, losses)
    _write_structured(document, request, quirks, losses)
    if (user := request.user or request.extra.get(_END_USER)) is not None:
        document["metadata"] = {"user_id": user}
    if request.stream:
        document["stream"] = True
    _write_extra(document, request, losses)
    return document


def _write_conversation(
    document: dict[str, Any], request: Request, quirks: Quirks, losses: Losses
) -> None:
    writer = BlockWriter(losses, native=request.protocol == "messages")
    leading = 0
    while leading < len(request.turns) and request.turns[leading].role in _SYSTEM_ROLES:
        leading += 1
    system: list[Block] = []
    for turn in request.turns[:leading]:
        system += writer.write(_text_alone(turn.parts, losses))
    if system:
        document["system"] = plain_text(system) or system
    messages = document["messages"] = []
    for turn in request.turns[leading:]:
        _append_turn(messages, turn, writer, losses)
    if not messages or (quirks.first_turn_user and messages[0]["role"] != "user"):
        losses.invent("messages", "must begin with the user: a marked text is put first")
        messages.insert(0, {"role": "user", "content": _FIRST_USER_TEXT})
    last = messages[-1]["content"][-1]
    if messages[-1]["role"] == "assistant" and last["type"] == "text":
        # refused at the end of an answer that the model shall go on with
        last["text"] = last["text"].rstrip()
    for message in messages:
        content = message["content"]
        if type(content) is list and (text := plain_text(content)):
            message["content"] = text


def _text_alone(parts: list[Part], losses: Losses) -> list[Part]:
    """The system prompt takes no images and the like."""
    for part in parts:
        if not isinstance(part, Text | Opaque):
            losses.drop(part.at, "the system prompt of Messages is text")
    return [part for part in parts if isinstance(part, Text | Opaque)]


def _append_turn(
    messages: list[dict[str, Any]], turn: Turn, writer: BlockWriter, losses: Losses
) -> None:
    parts = turn.parts
    role = "assistant" if turn.role is _ASSISTANT else "user"
    if turn.role is not _ASSISTANT and turn.role is not _USER:
        losses.coerce(
            turn.at, "only leading system messages stay such: carried as marked user text"
        )
        parts = _mark(parts, _SYSTEM_MARK[turn.role])
    if turn.name is not None:
        losses.drop(f"{turn.at}.name", "Messages has no names of speakers")
    blocks: list[Block] = writer.write(parts)
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"] += blocks
    elif blocks:
        messages.append({"role": role, "content": blocks})


def _mark(parts: list[Part], mark: str) -> list[Part]:
    return [Text(mark + p.text, cache=p.cache) if isinstance(p, Text) else p for p in parts]


def _write_sampling(
    document: dict[str, Any], request: Request, quirks: Quirks, losses: Losses
) -> None:
    native = request.protocol == "messages"
    temperature, top_p = request.temperature, request.top_p
    limit = quirks.temperature_max
    if not native and temperature is not None and temperature != 1 and is_thinking(document):
        losses.drop("temperature", "a model that thinks has none")
        temperature = None
    if isinstance(temperature, Raw):
        losses.drop("temperature", "is beyond all bounds")
        temperature = None
    if not native and limit is not None and temperature is not None and temperature > limit:
        temperature = int(limit) if limit == int(limit) else limit
        losses.coerce("temperature", f"lowered to {temperature}")
    if not native and top_p is not None and (temperature is not None or is_thinking(document)):
        if top_p != 1:
            losses.drop("top_p", "newer models refuse it beside a temperature or thinking")
        top_p = None
    if temperature is not None:
        document["temperature"] = temperature
    if top_p is not None:
        document["top_p"] = top_p


def _write_stop(document: dict[str, Any], request: Request, quirks: Quirks, losses: Losses) -> None:
    # white space alone is refused
    stop = [sequence for sequence in request.stop if sequence.strip()]
    most = quirks.stop_max or len(stop)
    if len(stop[:most]) < len(request.stop):
        losses.drop(STOP_PATHS[request.protocol], "some stop sequences are refused")
    if stop:
        document["stop_sequences"] = stop[:most]


def _write_structured(
    document: dict[str, Any], request: Request, quirks: Quirks, losses: Losses
) -> None:
    structured = request.structured
    if structured is None:
        return
    if structured.schema is None:
        losses.drop(structured.at, "Messages has no output of any JSON object")
    elif quirks.structured_output != "json_schema":
        losses.drop(structured.at, "the upstream has no structured output")
    else:
        output = document.setdefault("output_config", {})
        schema = closed(structured.schema)
        if schema is not structured.schema:
            losses.coerce(structured.at, "objects take no further properties")
        output["format"] = {"type": "json_schema", "schema": schema}
        if structured.description:
            losses.drop(f"{structured.at}.description", "has no equivalent in Messages")


def _write_extra(document: dict[str, Any], request: Request, losses: Losses) -> None:
    for path, value in request.extra.items():
        if value is None or _SAYING_NOTHING.get(path) == value:
            continue
        if path == _END_USER and request.user is None:  # stands in metadata
            continue
        if path == "top_k" and is_thinking(document):
            losses.drop(path, "a model that thinks has none")
        elif path in _EXTRA_FIELDS or request.protocol == "messages":
            outer, _, inner = path.rpartition(".")
            fields = document.setdefault(outer, {}) if outer else document
            fields[inner] = value
        else:
            losses.drop(path, "has no equivalent in Messages")
