"""The events of a Messages stream, as typed structs.

https://docs.anthropic.com/en/docs/build-with-claude/streaming.  Fields are lenient where upstreams
are: a field that is absent or null has its default.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Struct

from toolwire.proxy.protocols import json

# No event holds a reference to itself, so the collector need not look at them (gc=False).


class Message(Struct, gc=False):
    """The head of the answer: https://docs.anthropic.com/en/api/messages#response-id"""

    id: str | None = None
    model: str | None = None
    usage: dict[str, Any] | None = None


class MessageStart(Struct, tag="message_start", gc=False):
    message: Message


class ContentBlockStart(Struct, tag="content_block_start", gc=False):
    content_block: dict[str, Any]
    index: int = 0


class Delta(Struct, gc=False):
    """All kinds of deltas in one: which of the fields counts is what ``type`` says."""

    type: str
    text: str | None = None
    partial_json: str | None = None
    thinking: str | None = None
    signature: str | None = None
    citation: dict[str, Any] | None = None


class ContentBlockDelta(Struct, tag="content_block_delta", gc=False):
    delta: Delta
    index: int = 0


class ContentBlockStop(Struct, tag="content_block_stop", gc=False):
    index: int = 0


class StopDelta(Struct, gc=False):
    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: Any = None


class MessageDelta(Struct, tag="message_delta", gc=False):
    delta: StopDelta
    usage: dict[str, Any] | None = None


class MessageStop(Struct, tag="message_stop", gc=False):
    pass


class PingEvent(Struct, tag="ping", gc=False):
    pass


class ErrorEvent(Struct, tag="error", gc=False):
    error: Any
    request_id: str | None = None


StreamEvent = (
    MessageStart
    | ContentBlockStart
    | ContentBlockDelta
    | ContentBlockStop
    | MessageDelta
    | MessageStop
    | PingEvent
    | ErrorEvent
)

NAMES = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "error",
    }
)

_decoder = msgspec.json.Decoder(StreamEvent, float_hook=Decimal)


class UnknownEvent(Struct, gc=False):
    """An event of a type that is not known here, or none of this protocol's; as it came."""

    document: Any


def decode(data: bytes) -> StreamEvent | UnknownEvent:
    """Raises ``ValueError`` for what is no JSON, and a known event without what it must have."""
    event: StreamEvent
    try:
        event = _decoder.decode(data)
        return event
    except (msgspec.DecodeError, UnicodeDecodeError, ArithmeticError, RecursionError):
        document = json.decode(data)
    kind = document.get("type") if isinstance(document, dict) else None
    if not isinstance(kind, str) or kind not in NAMES:
        return UnknownEvent(document)
    try:
        # once more: lone surrogates, which are legal, take this way
        event = msgspec.convert(document, StreamEvent)
    except msgspec.ValidationError as error:
        raise ValueError(f"{kind}: {error}") from None
    return event
