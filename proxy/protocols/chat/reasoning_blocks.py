"""Signed thinking that travels beside ``reasoning_content``: an extension of our own.

Chat Completions has no thinking.  What upstreams agree on is its text, as ``reasoning_content``
(https://api-docs.deepseek.com/guides/thinking_mode).  A Messages upstream wants its signed blocks
back, so a client gets them as ``reasoning_blocks`` and gives them back with the history.
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.neutral import Thinking

BLOCKS = "reasoning_blocks"
VENDOR = "reasoning_vendor"
"""Beside the blocks: who signed them, for nobody else takes them back."""


def block_of(thinking: Thinking) -> dict[str, Any] | None:
    """The block that a client must give back for ``thinking`` to count; None where there is none.

    https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking
    """
    if thinking.redacted is not None:
        return {"type": "redacted_thinking", "data": thinking.redacted}
    if thinking.signature and thinking.origin == "messages":
        return {
            "type": "thinking",
            "thinking": thinking.text,
            "signature": thinking.signature,
        }
    return None


def thinking_of(block: Any) -> Thinking | None:
    """The thinking in such a block; None for what is none."""
    if not isinstance(block, dict):
        return None
    text, signature, data = block.get("thinking"), block.get("signature"), block.get("data")
    if block.get("type") == "redacted_thinking" and isinstance(data, str):
        return Thinking(redacted=data, origin="messages")
    if block.get("type") != "thinking" or not isinstance(signature, str) or not signature:
        return None
    return Thinking(text if isinstance(text, str) else "", signature=signature, origin="messages")


def read_blocks(blocks: list[Any]) -> list[Thinking]:
    """The thinking in those of ``blocks`` that are signed."""
    return [signed for block in blocks if (signed := thinking_of(block)) is not None]


def delta_of(block: dict[str, Any], vendor: str | None, place: int) -> dict[str, Any]:
    """The delta of a stream with the signed block that is the ``place``-th.

    The first alone tells the vendor, the next ones their place, without which the official SDK adds
    up no lists.
    """
    if place:
        return {BLOCKS: [{"index": place, **block}]}
    return {BLOCKS: [block], VENDOR: vendor} if vendor else {BLOCKS: [block]}
