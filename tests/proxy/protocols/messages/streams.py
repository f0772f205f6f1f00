"""Messages streams as a strict client reads them."""

from __future__ import annotations

import json
from typing import Any

from anthropic.types import Message, RawMessageStreamEvent
from pydantic import TypeAdapter

from toolwire.proxy.protocols.json import encode
from toolwire.proxy.protocols.sse import Event

_MESSAGE: TypeAdapter[Any] = TypeAdapter(Message)
_EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)


def event(kind: str, /, **fields: Any) -> Event:
    """An event as an upstream sends it."""
    data = json.dumps({"type": kind, **fields}, ensure_ascii=False, separators=(",", ":")).encode()
    return Event(data, kind, raw=b"event: %b\ndata: %b" % (kind.encode(), data))


def documents(events: list[Event]) -> list[dict[str, Any]]:
    return [json.loads(event.data) for event in events if event.data is not None]


def check_message(message: dict[str, Any]) -> None:
    """The official SDK's own type takes the message; it is strict here."""
    _MESSAGE.validate_python(json.loads(encode(message)))


def assembled(events: list[Event]) -> dict[str, Any]:
    """The message that a stream spells out; asserts each rule of a complete one.

    A message that an error ended has the key ``error`` and nothing after it.
    """
    message: dict[str, Any] = {}
    blocks: list[dict[str, Any]] = []
    is_open = stopped = finished = False
    for wire in events:
        assert wire.data is not None
        document = json.loads(wire.data)
        kind = document["type"]
        assert wire.name == kind
        assert not stopped and "error" not in message, f"{kind} after the end"
        if kind == "ping":
            continue
        if kind == "error":
            message["error"] = document["error"]
            continue
        _EVENT.validate_python(document)
        if kind == "message_start":
            assert not message
            message = document["message"]
            continue
        assert message, f"{kind} before message_start"
        if kind == "content_block_start":
            assert not is_open and not finished and document["index"] == len(blocks)
            blocks.append(document["content_block"])
            is_open = True
        elif kind in ("content_block_delta", "content_block_stop"):
            assert is_open and document["index"] == len(blocks) - 1
            is_open = kind == "content_block_delta"
            if is_open:
                _add(blocks[-1], document["delta"])
            else:
                _close(blocks[-1])
        elif kind == "message_delta":
            assert not is_open and not finished
            finished = True
            message |= document["delta"]
            message["usage"] |= document["usage"]
        elif kind == "message_stop":
            assert finished
            stopped = True
    assert stopped or "error" in message
    return {**message, "content": blocks}


def _add(block: dict[str, Any], delta: dict[str, Any]) -> None:
    match delta["type"]:
        case "text_delta":
            assert block["type"] == "text"
            block["text"] += delta["text"]
        case "thinking_delta":
            assert block["type"] == "thinking"
            block["thinking"] += delta["thinking"]
        case "signature_delta":
            assert block["type"] == "thinking"
            block["signature"] += delta["signature"]
        case "input_json_delta":
            assert block["type"] in ("tool_use", "server_tool_use")
            block["json"] = block.get("json", "") + delta["partial_json"]


def _close(block: dict[str, Any]) -> None:
    if "json" in block:
        text = block.pop("json")
        try:
            block["input"] = json.loads(text)
        except ValueError:
            block["input"] = text
