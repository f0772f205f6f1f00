"""What the stream writer makes of neutral events."""

from __future__ import annotations

from typing import Any

from tests.proxy.protocols.messages.streams import assembled
from toolwire.proxy.protocols.messages import CODEC
from toolwire.proxy.protocols.neutral import (
    End,
    Request,
    Start,
    StreamEvent,
)
from toolwire.proxy.protocols.sse import Event

REQUEST = Request(model="asked", turns=[], protocol="messages", stream=True)


def written(*events: StreamEvent) -> list[Event]:
    writer = CODEC.stream_writer(REQUEST)
    return [wire for event in events for wire in writer.write(event)]


def message(*events: StreamEvent) -> dict[str, Any]:
    return assembled(written(Start("msg_1", "m"), *events, End()))


def kinds(events: list[Event]) -> list[str | None]:
    return [event.name for event in events]
