"""Answers of Messages upstreams, made what the protocol says; what is right stays as it came.

https://docs.anthropic.com/en/api/messages, https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from typing import Any

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.identifiers import random_id
from toolwire.proxy.protocols.messages.blocks_write import call_input

_SAID = frozenset(("text", "thinking", "redacted_thinking"))
"""Types of blocks that are no calls of any kind."""

_MESSAGE_FIELDS: dict[str, Any] = {
    "type": "message",
    "role": "assistant",
    "model": "",
    "stop_sequence": None,
}


def repair_answer(document: dict[str, Any]) -> dict[str, int]:
    """Repairs ``document`` in place; the kinds of repair, and how often.  Errors are left alone."""
    repairs: Counter[str] = Counter()
    if document.get("type") == "error" or document.get("error"):
        return {}
    repair_head(document, repairs)
    content = document.get("content")
    if isinstance(content, str):
        document["content"] = [{"type": "text", "text": content}] if content else []
        repairs["content_as_list"] += 1
    elif not isinstance(content, list):
        document["content"] = []
        repairs["content_added"] += 1
    for block in document["content"]:
        if isinstance(block, dict):
            repair_block(block, repairs)
    called = has_calls({str(b.get("type")) for b in document["content"] if isinstance(b, dict)})
    reason, sequence = document.get("stop_reason"), document.get("stop_sequence")
    if (corrected := corrected_reason(reason, called=called, sequence=sequence)) != reason:
        document["stop_reason"] = corrected
        repairs["stop_reason_corrected"] += 1
    return dict(repairs)


def repair_head(message: dict[str, Any], repairs: Counter[str]) -> None:
    """The fields that a message has from its start."""
    if not isinstance(message.get("id"), str) or not message["id"]:
        message["id"] = random_id("msg_")
        repairs["message_fields_added"] += 1
    for name, value in _MESSAGE_FIELDS.items():
        if message.get(name) is None and (value is not None or name not in message):
            message[name] = value
            repairs["message_fields_added"] += 1
    usage = message.get("usage")
    if not isinstance(usage, dict):
        usage = message["usage"] = {}
    for name in ("input_tokens", "output_tokens"):
        if usage.get(name) is None:
            usage[name] = 0
            repairs["usage_added"] += 1


def repair_block(block: dict[str, Any], repairs: Counter[str]) -> None:
    """A block of an answer, or as it stands in ``content_block_start``."""
    match block.get("type"):
        case "text" if not isinstance(block.get("text"), str):
            block["text"] = ""
            repairs["text_added"] += 1
        case "thinking":
            for name in ("thinking", "signature"):
                if not isinstance(block.get(name), str):
                    block[name] = ""
                    repairs[f"{name}_added"] += 1
        case "tool_use":
            _repair_call(block, repairs)


def _repair_call(block: dict[str, Any], repairs: Counter[str]) -> None:
    if not isinstance(block.get("id"), str) or not block["id"]:
        block["id"] = random_id("toolu_")
        repairs["tool_id_added"] += 1
    given = block.get("input")
    if not isinstance(given, dict):
        text = given if isinstance(given, str) else ""
        block["input"] = call_input(text) or {}
        repairs["tool_input_as_object"] += 1


def make_unique(block: dict[str, Any], ids: set[str], repairs: Counter[str]) -> None:
    """Gives a repaired call an id of its own where another call of the message has it: clients
    answer calls by their ids.  ``ids`` are those so far."""
    if block.get("type") != "tool_use":
        return
    if block["id"] in ids:
        block["id"] = random_id("toolu_")
        repairs["tool_id_doubled"] += 1
    ids.add(block["id"])


DELTA_TEXTS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
"""The field of a delta that has its text, by the type of the delta."""


def repair_delta(delta: dict[str, Any]) -> bool:
    """Makes the text of a delta text: some upstreams send the object itself, or null; whether it
    was none."""
    name = DELTA_TEXTS.get(str(delta.get("type")))
    if name is None or isinstance(value := delta.get(name), str):
        return False
    delta[name] = "" if value is None else json.encode_text(value)
    return True


def repair_end(
    document: dict[str, Any], usage: dict[str, Any], repairs: Counter[str], *, called: bool | None
) -> None:
    """The ``message_delta`` of a stream; ``usage``: the counts that were told before it."""
    delta = document.get("delta")
    if not isinstance(delta, dict):
        delta = document["delta"] = {}
    if reason := delta.get("stop_reason"):
        sequence = delta.get("stop_sequence")
        corrected = corrected_reason(reason, called=called, sequence=sequence)
        if corrected != reason:
            delta["stop_reason"] = corrected
            repairs["stop_reason_corrected"] += 1
    if "stop_sequence" not in delta:
        delta["stop_sequence"] = None
        repairs["stop_sequence_added"] += 1
    counts = document.get("usage")
    if not isinstance(counts, dict):
        counts = document["usage"] = {}
    if counts.get("output_tokens") is None:
        counts["output_tokens"] = usage.get("output_tokens", 0)
        repairs["usage_added"] += 1


def has_calls(kinds: Set[str]) -> bool | None:
    """Whether blocks of these types hold calls for the client; None where one may that is not
    known."""
    if "tool_use" in kinds:
        return True
    return False if kinds <= _SAID else None


def corrected_reason(reason: Any, *, called: bool | None, sequence: Any = None) -> str:
    """The stop reason of an answer that is complete; ``called``: see ``has_calls``;
    ``sequence``: its ``stop_sequence``, beside which llama.cpp says ``end_turn``."""
    if called and reason in (None, "", "end_turn", "stop_sequence"):
        return "tool_use"
    if reason == "tool_use" and called is False:
        return "end_turn"
    if reason == "end_turn" and sequence:
        return "stop_sequence"
    return reason if isinstance(reason, str) and reason else "end_turn"
