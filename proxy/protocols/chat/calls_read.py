"""Calls of a repaired stream, read piece by piece.

https://platform.openai.com/docs/api-reference/chat-streaming/streaming (delta.tool_calls)
"""

from __future__ import annotations

from msgspec import Struct, field

from toolwire.proxy.protocols.chat.oddities import is_object
from toolwire.proxy.protocols.chat.wire import CallDelta
from toolwire.proxy.protocols.identifiers import random_id
from toolwire.proxy.protocols.neutral import Call, Delta, StreamEvent


class OpenCall(Struct):
    """A call that was begun under ``key``, and its arguments so far; ``over``: its end was told."""

    key: int
    custom: bool = False
    pieces: list[str] = field(default_factory=list)
    over: bool = False

    def add(self, text: str | None, events: list[StreamEvent]) -> None:
        """More arguments; after a whole object that was told to be over there are none."""
        if text and not self.over:
            self.pieces.append(text)
            events.append(Delta(self.key, text))

    def is_cut(self) -> bool:
        """Whether it lacks some of its arguments."""
        return not (self.custom or is_object("".join(self.pieces)))


def begun_by(piece: CallDelta) -> Call:
    """The call whose first piece this is."""
    body = piece.custom if is_custom(piece) else piece.function
    name = body.name if body is not None else None
    extra = {"extra_content": piece.extra_content} if piece.extra_content else None
    return Call(piece.id or random_id("call_"), name or "", custom=is_custom(piece), extra=extra)


def text_in(piece: CallDelta) -> str | None:
    """What a piece has of the arguments, or of a free-form input."""
    if is_custom(piece):
        return piece.custom.input if piece.custom is not None else None
    return piece.function.arguments if piece.function is not None else None


def is_custom(piece: CallDelta) -> bool:
    return piece.type == "custom" or (piece.custom is not None and piece.function is None)
