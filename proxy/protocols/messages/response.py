"""Whole answers and token counts of Messages.

https://docs.anthropic.com/en/api/messages#response-id
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.errors import BadUpstreamAnswer
from toolwire.proxy.protocols import failure as failures
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.freeform import wrap_call
from toolwire.proxy.protocols.identifiers import random_id
from toolwire.proxy.protocols.messages.blocks_write import call_input
from toolwire.proxy.protocols.neutral import (
    Answer,
    Call,
    Losses,
    Opaque,
    Part,
    Refusal,
    Request,
    Stop,
    Text,
    Thinking,
    Usage,
)

STOPS = {
    "end_turn": Stop.DONE,
    "stop_sequence": Stop.SEQUENCE,
    "tool_use": Stop.CALLS,
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.CONTEXT,
    "refusal": Stop.FILTERED,
    "pause_turn": Stop.PAUSED,
}
"""https://docs.anthropic.com/en/api/handling-stop-reasons"""

_REASONS = {stop: reason for reason, stop in STOPS.items()}

_PLAIN_STOPS = (Stop.DONE, Stop.SEQUENCE, Stop.CALLS)


# ------------------------------------------------------------------------------------ reading
def read_answer(document: dict[str, Any]) -> Answer:
    """Raises ``BadUpstreamAnswer`` where there is no message in ``document``."""
    content = document.get("content")
    if not isinstance(content, list):
        failure = failures.read_document(200, document)
        told = f": {failure.message}" if failure is not None else ""
        raise BadUpstreamAnswer(f"the upstream's answer holds no message{told}")
    reason = document.get("stop_reason")
    parts = [read_block(block) for block in content if isinstance(block, dict)]
    if text := refusal_in(document.get("stop_details")):
        parts.append(Refusal(text))
    return Answer(
        id=_text(document, "id") or random_id("msg_"),
        model=_text(document, "model"),
        parts=parts,
        stop=STOPS.get(reason, Stop.DONE) if isinstance(reason, str) else None,
        usage=read_usage(document.get("usage")),
        stop_sequence=_text(document, "stop_sequence") or None,
    )


def refusal_in(details: Any) -> str:
    """Why the model refused, where ``stop_details`` say so; no block does."""
    refused = isinstance(details, dict) and details.get("type") == "refusal"
    return _text(details, "explanation") if refused else ""


def read_block(block: dict[str, Any]) -> Part:
    """What a block of an answer means; a server tool's block is none of the other protocols'."""
    match block.get("type"):
        case "text":
            cited = block.get("citations")
            citations = Opaque("messages", cited) if cited and isinstance(cited, list) else None
            return Text(_text(block, "text"), citations=citations)
        case "thinking":
            signature = _text(block, "signature") or None
            text = _text(block, "thinking")
            if signature is None:
                return Thinking(text)
            return Thinking(text, signature=signature, origin="messages")
        case "redacted_thinking":
            return Thinking(redacted=_text(block, "data"), origin="messages")
        case "tool_use":
            call_id = _text(block, "id") or random_id("toolu_")
            return Call(call_id, _text(block, "name"), arguments_of(block.get("input")))
    return Opaque("messages", block)


def arguments_of(value: Any) -> str:
    """The ``input`` of a call as JSON text; some upstreams give it as text already."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.encode_text(value)


def read_usage(usage: Any) -> Usage | None:
    """Messages counts what came from the cache, or went there, beside ``input_tokens``."""
    if not isinstance(usage, dict):
        return None
    fresh = _count(usage, "input_tokens")
    cached = _count(usage, "cache_read_input_tokens")
    written = _count(usage, "cache_creation_input_tokens")
    details = usage.get("output_tokens_details")
    return Usage(
        input=None if fresh is None else fresh + (cached or 0) + (written or 0),
        output=_count(usage, "output_tokens"),
        cached=cached,
        cache_written=written,
        reasoning=_count(details, "thinking_tokens") if isinstance(details, dict) else None,
    )


def _count(fields: dict[str, Any], name: str) -> int | None:
    value = fields.get(name)
    return value if type(value) is int else None


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


# ------------------------------------------------------------------------------------ writing
def write_answer(answer: Answer, request: Request, losses: Losses) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = []
    for part in answer.parts:
        block = write_block(part)
        _report(part, block or {}, f"content[{len(blocks)}]", answer.stop, losses)
        if block is not None:
            blocks.append(block)
    refused = any(isinstance(part, Refusal) for part in answer.parts)
    reason, sequence = write_stop(
        answer.stop,
        answer.stop_sequence,
        called=any(block["type"] == "tool_use" for block in blocks),
        refused=refused,
    )
    return {
        "id": answer.id or random_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": answer.model or request.model,
        "content": blocks,
        "stop_reason": reason,
        "stop_sequence": sequence,
        "usage": write_usage(answer.usage),
    }


NO_OBJECT = "the model wrote no JSON object"
NO_CITATIONS = "Messages cites what its own search found, or the documents of the request"


def _report(part: Part, block: dict[str, Any], at: str, stop: Stop | None, losses: Losses) -> None:
    """What of a part its block does not say."""
    if isinstance(part, Text) and part.citations is not None and "citations" not in block:
        losses.drop(f"{at}.citations", NO_CITATIONS)
    # text that was cut short is no object; the stop reason tells of it
    if isinstance(part, Call) and not block.get("input") and stop is not Stop.LENGTH:
        if not part.custom and call_input(part.arguments) is None:
            losses.coerce(f"{at}.input", NO_OBJECT)


def write_block(part: Part) -> dict[str, Any] | None:
    """The block of an answer; None for a part that is empty or means nothing in Messages."""
    match part:
        case Text():
            return _write_text(part)
        case Refusal():
            return {"type": "text", "text": part.text} if part.text.strip() else None
        case Thinking():
            return _write_thinking(part)
        case Call():
            value = call_input((wrap_call(part) if part.custom else part).arguments)
            call_id = part.id or random_id("toolu_")
            return {"type": "tool_use", "id": call_id, "name": part.name, "input": value or {}}
        case Opaque(protocol="messages"):
            block: dict[str, Any] = part.value
            return block
    return None


def _write_text(text: Text) -> dict[str, Any] | None:
    if not text.text or text.text.isspace():  # refused when it comes back in a history
        return None
    block: dict[str, Any] = {"type": "text", "text": text.text}
    if text.citations is not None and text.citations.protocol == "messages":
        block["citations"] = text.citations.value
    return block


def _write_thinking(thinking: Thinking) -> dict[str, Any] | None:
    own = thinking.origin == "messages"
    if own and thinking.redacted is not None:
        return {"type": "redacted_thinking", "data": thinking.redacted}
    signature = (own and thinking.signature) or ""
    if not thinking.text.strip() and not signature:
        return None
    return {"type": "thinking", "thinking": thinking.text, "signature": signature}


def write_stop(
    stop: Stop | None, sequence: str | None, *, called: bool, refused: bool
) -> tuple[str, str | None]:
    """``stop_reason`` and ``stop_sequence``.

    ``called``: the answer holds calls, whatever reason was given; some upstreams say that they are
    done, and some that they call when they do not.
    """
    if stop is None or stop in _PLAIN_STOPS:
        if called:
            return "tool_use", None
        if refused:
            return "refusal", None
        if stop is Stop.SEQUENCE and sequence is not None:
            return "stop_sequence", sequence
        return "end_turn", None
    return _REASONS[stop], None


def write_usage(usage: Usage | None) -> dict[str, Any]:
    usage = usage or Usage()
    cached, written = usage.cached or 0, usage.cache_written or 0
    counts: dict[str, Any] = {
        "input_tokens": max(0, (usage.input or 0) - cached - written),
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": cached,
        "output_tokens": usage.output or 0,
    }
    if usage.reasoning is not None:
        counts["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
    return counts
