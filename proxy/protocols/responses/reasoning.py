"""Reasoning items, and the envelope in which another vendor's signed thinking travels in them.

A Responses client sends a reasoning item's ``encrypted_content`` back as it came
(https://platform.openai.com/docs/guides/reasoning#encrypted-reasoning-items): what a Messages
upstream signed is put there, so that the next request can give it back, signature and all.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.neutral import Protocol, Thinking

ENVELOPE = "toolwire:"
"""What an ``encrypted_content`` made here begins with; the vendors' own are bare base64."""

BETWEEN_PARTS = "\n\n"
"""Several parts of one reasoning item become one text."""


def shown_text(item: dict[str, Any]) -> tuple[str, bool]:
    """The text of a reasoning item, and whether it is a summary.

    The reasoning itself (``content``), where the upstream shows it, else its summary.
    """
    content = _texts(item.get("content"))
    return (content, False) if content else (_texts(item.get("summary")), True)


def _texts(parts: Any) -> str:
    if not isinstance(parts, list):
        return ""
    found = [part.get("text") for part in parts if isinstance(part, dict)]
    return BETWEEN_PARTS.join([text for text in found if isinstance(text, str) and text])


def read_reasoning(item: dict[str, Any], at: str = "") -> list[Thinking]:
    """What a reasoning item holds; [] for one that neither shows nor hides anything."""
    text, summary = shown_text(item)
    encrypted = item.get("encrypted_content")
    encrypted = encrypted if isinstance(encrypted, str) and encrypted else None
    item_id = item.get("id") if isinstance(item.get("id"), str) else None
    if encrypted is not None and encrypted.startswith(ENVELOPE):
        sealed = _unseal(encrypted, at)
        if sealed:
            return sealed
        encrypted = None  # not what was sent: only the text can be believed
    if not text and encrypted is None:
        return []
    origin: Protocol | None = "responses" if encrypted is not None else None
    return [
        Thinking(
            text,
            encrypted=encrypted,
            origin=origin,
            id=item_id,
            summary=summary and bool(text),
            at=at,
        )
    ]


def reasoning_item(item_id: str, thinking: Thinking) -> dict[str, Any]:
    """A reasoning item; its text is a summary, the only kind that clients show."""
    summary = [{"type": "summary_text", "text": thinking.text}] if thinking.text else []
    item: dict[str, Any] = {"id": item_id, "type": "reasoning", "summary": summary}
    encrypted = thinking.encrypted or seal(thinking)
    if encrypted is not None:
        item["encrypted_content"] = encrypted
    return item


def seal(thinking: Thinking) -> str | None:
    """The envelope of a signed or redacted block; None where there is nothing to keep.

    Where nobody signed what is shown the envelope is empty: it tells that the item was made here,
    and an upstream that looks reasoning items up by their ids would not find it.
    """
    blocks = []
    if thinking.redacted is not None:
        blocks = [{"type": "redacted_thinking", "data": thinking.redacted}]
    elif thinking.signature:
        block = {"type": "thinking", "thinking": thinking.text, "signature": thinking.signature}
        blocks = [block]
    elif not thinking.text:
        return None
    letter = json.encode(
        {
            "origin": thinking.origin or "messages",
            "vendor": thinking.vendor,
            "blocks": blocks,
        }
    )
    return ENVELOPE + base64.b64encode(letter).decode()


def _unseal(envelope: str, at: str) -> list[Thinking]:
    """The blocks in an envelope; [] where it is not one of ours, whole."""
    try:
        letter = json.decode(base64.b64decode(envelope.removeprefix(ENVELOPE), validate=True))
    except (ValueError, binascii.Error):
        return []
    match letter:
        case {"origin": "messages", "vendor": str() | None as vendor, "blocks": [*blocks]}:
            found = [_read_block(block, vendor, at) for block in blocks]
            return [block for block in found if block is not None]
    return []


def _read_block(block: Any, vendor: str | None, at: str) -> Thinking | None:
    match block:
        case {"type": "thinking", "thinking": str(text), "signature": str(signature)}:
            return Thinking(text, signature=signature, origin="messages", vendor=vendor, at=at)
        case {"type": "redacted_thinking", "data": str(data)}:
            return Thinking(redacted=data, origin="messages", vendor=vendor, at=at)
    return None
