"""Between a whole answer and a stream that says the same: every field stays.

https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolwire.proxy.protocols import failure as failures
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.messages.blocks_write import call_input
from toolwire.proxy.protocols.messages.errors import stream_failure
from toolwire.proxy.protocols.messages.stream_repair import MessagesStreamRepair
from toolwire.proxy.protocols.sse import Event

_STOP = ("stop_reason", "stop_sequence", "stop_details")
_END = (*_STOP, "container")
"""What a message tells in its end, in ``delta``; ``context_management`` stands beside it."""

_BESIDE = "context_management"


# ------------------------------------------------------------------------- answer to stream
def spelled_out(document: dict[str, Any], request: dict[str, Any] | None) -> list[Event]:
    """The stream of an answer that is repaired."""
    late = (*_END, _BESIDE)
    head = {name: value for name, value in document.items() if name not in late}
    head |= {"content": [], "stop_reason": None, "stop_sequence": None}
    if isinstance(usage := document.get("usage"), dict):  # of what was said: nothing so far
        head["usage"] = {**usage, "output_tokens": 0}
    told: list[dict[str, Any]] = [{"type": "message_start", "message": head}]
    blocks = [block for block in document.get("content") or () if isinstance(block, dict)]
    for index, block in enumerate(blocks):
        begun, deltas = _taken_apart(block)
        told.append({"type": "content_block_start", "index": index, "content_block": begun})
        told += [
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        ]
        told.append({"type": "content_block_stop", "index": index})
    end: dict[str, Any] = {
        "type": "message_delta",
        "delta": {name: document[name] for name in _END if name in document},
        "usage": document.get("usage"),
    }
    if _BESIDE in document:
        end[_BESIDE] = document[_BESIDE]
    told += [end, {"type": "message_stop"}]
    return [Event(json.encode(event), event["type"]) for event in told]


def _taken_apart(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it begins, and the deltas that fill it; one of another type comes whole."""
    match block.get("type"):
        case "text":
            noted = block.get("citations")
            citations = noted if isinstance(noted, list) else []
            deltas = [{"type": "citations_delta", "citation": citation} for citation in citations]
            begun = {**block, "text": "", **({"citations": []} if citations else {})}
            return begun, [*_delta("text_delta", "text", block), *deltas]
        case "thinking":
            return {**block, "thinking": "", "signature": ""}, [
                *_delta("thinking_delta", "thinking", block),
                *_delta("signature_delta", "signature", block),
            ]
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            text = json.encode_text(block.get("input") or {})
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": text}]
    return block, []


def _delta(kind: str, name: str, block: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": kind, name: block[name]}] if block.get(name) else []


# ------------------------------------------------------------------------- stream to answer
def collected(events: Iterable[Event]) -> dict[str, Any]:
    """See ``codec.Codec``."""
    message: dict[str, Any] = {}
    blocks: list[dict[str, Any]] = []
    inputs: list[str] = []
    repair = MessagesStreamRepair()
    for event in [*repair.feed(list(events)), *repair.close()]:
        document = json.decode(event.data) if event.data is not None else None
        if not isinstance(document, dict):
            continue
        match document.get("type"):
            case "message_start":
                message = document["message"]
            case "content_block_start":
                blocks.append(document["content_block"])
                inputs = []
            case "content_block_delta":
                _add(blocks[-1], document["delta"], inputs)
            case "content_block_stop" if inputs:
                blocks[-1]["input"] = call_input("".join(inputs)) or {}
            case "message_delta":
                message |= document["delta"]
                message |= {
                    n: v for n, v in document.items() if n not in ("type", "delta", "usage")
                }
                usage = document["usage"]
                message["usage"] |= {n: v for n, v in usage.items() if v is not None}
            case "error":
                raise failures.as_exception(stream_failure(document))
    return {**message, "content": blocks}


def _add(block: dict[str, Any], delta: dict[str, Any], inputs: list[str]) -> None:
    for name, value in delta.items():
        if name == "partial_json":
            inputs.append(str(value))
        elif name == "citation":
            noted = block.get("citations")
            block["citations"] = [*(noted if isinstance(noted, list) else ()), value]
        elif isinstance(value, str) and isinstance(block.get(name), str) and name != "type":
            block[name] += value
        elif name != "type":
            block[name] = value
