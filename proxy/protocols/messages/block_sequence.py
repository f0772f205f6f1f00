"""Parts that are open side by side, put into blocks that stand one after the other.

https://docs.anthropic.com/en/docs/build-with-claude/streaming: each block is started, filled and
stopped before the next begins.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.collect import text_of
from toolwire.proxy.protocols.freeform import wrap_call
from toolwire.proxy.protocols.identifiers import random_id
from toolwire.proxy.protocols.messages.input_text import InputText
from toolwire.proxy.protocols.neutral import (
    Call,
    Delta,
    Opaque,
    Part,
    PartEnd,
    PartStart,
    Refusal,
    Text,
    Thinking,
)
from toolwire.proxy.protocols.sse import Event

_DELTAS = {
    Text: b'"delta":{"type":"text_delta","text":',
    Refusal: b'"delta":{"type":"text_delta","text":',
    Thinking: b'"delta":{"type":"thinking_delta","thinking":',
    Call: b'"delta":{"type":"input_json_delta","partial_json":',
}


class _Block(Struct):
    """A part on its way: ``held`` is its text that could not go out yet."""

    part: Part
    held: list[str] = field(default_factory=list)
    queued: bool = False
    ended: bool = False
    told: bool = False
    """Some text of it came."""
    signature: str = ""
    custom: bool = False
    """A free-form call: its text is held to the end, when all of it can be wrapped."""
    takes_text: bool = True
    """False for what comes whole, and for a call once its block is closed for good."""
    arguments: InputText | None = None
    """Of a call."""
    index: int = -1
    """The last under which it went out."""


class BlockSequence:
    """The first of the open parts goes out as it comes, the others wait for its end.

    Text and thinking make way for the part after them, and go on in a block of their own; a call is
    closed when it is told to be over, or when its arguments are whole and another part waits.

    ``odd_inputs`` are the indices of calls whose input lacks what the model wrote, for it was no
    part of a JSON object.

    ``cited`` are those of texts with citations, which are left out.

    ``emit(name, document)`` takes the events that start and stop a block, ``out`` the deltas.
    """

    def __init__(
        self, emit: Callable[[str, dict[str, Any]], None], out: Callable[[Event], None]
    ) -> None:
        self.called = False
        self.refused = False
        self.odd_inputs: set[int] = set()
        self._cited: list[_Block] = []
        self._emit = emit
        self._out = out
        self._blocks: dict[int, _Block] = {}
        self._open: _Block | None = None
        self._waiting: deque[_Block] = deque()
        self._index = 0
        self._delta_head = b""

    def start(self, event: PartStart) -> None:
        part = event.part
        if isinstance(part, Opaque) and part.protocol != "messages":
            return
        if (namesake := self._blocks.get(event.key)) is not None:
            namesake.ended = True
        block = self._blocks[event.key] = _Block(part)
        if isinstance(part, Call):
            block.custom, block.arguments = part.custom, InputText()
        block.takes_text = not isinstance(part, Opaque) and not _is_redacted(part)
        self._tell(block, text_of(part))
        if block.arguments is not None or not block.takes_text:
            self._queue(block)

    def fill(self, event: Delta) -> None:
        block = self._blocks.get(event.key)
        if block is not None:
            self._tell(block, event.text)

    def end(self, event: PartEnd) -> None:
        block = self._blocks.get(event.key)
        if block is None:
            return
        if event.part is not None and not block.told:
            self._tell(block, text_of(event.part))
        block.ended = True
        if isinstance(event.part, Text) and event.part.citations is not None:
            self._cited.append(block)
        if isinstance(event.part, Thinking) and isinstance(block.part, Thinking):
            self._sign(block, event.part)
        self._advance()

    def _sign(self, block: _Block, whole: Thinking) -> None:
        """Adds what only the end of a thinking tells; its block is worth it without any text."""
        if _is_redacted(whole) and not block.told:
            block.part, block.takes_text = whole, False
        elif whole.origin == "messages" and whole.signature:
            block.signature = whole.signature
        else:
            return
        self._queue(block)

    @property
    def cited(self) -> list[int]:
        return [max(block.index, 0) for block in self._cited]

    def close(self) -> None:
        """All parts are over."""
        for block in self._blocks.values():
            block.ended = True
        self._advance()

    def _tell(self, block: _Block, text: str) -> None:
        """Passes text of the part on, or holds it; a call that was closed takes no more."""
        if not text or not block.takes_text:
            if block.arguments is not None and text.strip():
                self.odd_inputs.add(block.index)
            return
        block.told = True
        if block is self._open and not block.custom:
            self._fill(block, text)
            if self._waiting:
                self._advance()
            return
        block.held.append(text)
        # a block of nothing but white space is refused when it comes back in a history
        if block.arguments is not None or not text.isspace():
            self._queue(block)

    def _queue(self, block: _Block) -> None:
        if not block.queued:
            block.queued = True
            self._waiting.append(block)
            self._advance()

    def _advance(self) -> None:
        """Closes what may be closed and opens what waits, as far as it goes."""
        while self._open is None or self._may_close(self._open):
            if self._open is not None:
                self._close(self._open)
            if not self._waiting:
                return
            self._begin(self._waiting.popleft())

    def _may_close(self, block: _Block) -> bool:
        if block.ended or not self._waiting:
            return block.ended
        if block.arguments is None:
            return True
        return not block.custom and block.arguments.complete()

    def _begin(self, block: _Block) -> None:
        self.called = self.called or isinstance(block.part, Call)
        self.refused = self.refused or isinstance(block.part, Refusal)
        start = {
            "type": "content_block_start",
            "index": self._index,
            "content_block": _empty_block(block.part),
        }
        self._emit("content_block_start", start)
        self._open, block.index = block, self._index
        head = b'{"type":"content_block_delta","index":%d,' % self._index
        self._delta_head = head + _DELTAS.get(type(block.part), b"")
        if block.held and not block.custom:
            self._fill(block, "".join(block.held))
            block.held.clear()

    def _fill(self, block: _Block, text: str) -> None:
        if block.arguments is not None and not (text := block.arguments.feed(text)):
            return
        self._say(text)

    def _say(self, text: str) -> None:
        data = b"%b%b}}" % (self._delta_head, json.encode(text))
        self._out(Event(data, "content_block_delta"))

    def _close(self, block: _Block) -> None:
        part = block.part
        if isinstance(part, Call) and part.custom:
            whole = Call(part.id, part.name, "".join(block.held), custom=True)
            self._say(wrap_call(whole).arguments)
        elif block.arguments is not None:
            if rest := block.arguments.flush():
                self._say(rest)
            if block.arguments.is_odd:
                self.odd_inputs.add(self._index)
        if isinstance(part, Thinking) and not _is_redacted(part):
            # Also where nobody signed it: some clients keep no thinking without this event.
            delta = {"type": "signature_delta", "signature": block.signature}
            event = {"type": "content_block_delta", "index": self._index, "delta": delta}
            self._emit("content_block_delta", event)
        self._emit("content_block_stop", {"type": "content_block_stop", "index": self._index})
        self._index += 1
        self._open, block.queued = None, False
        block.takes_text = block.takes_text and block.arguments is None


def _is_redacted(part: Part) -> bool:
    return type(part) is Thinking and part.redacted is not None and part.origin == "messages"


def _empty_block(part: Part) -> dict[str, Any]:
    """The block of ``content_block_start``, which its deltas then fill."""
    match part:
        case Call():
            call_id = part.id or random_id("toolu_")
            return {"type": "tool_use", "id": call_id, "name": part.name, "input": {}}
        case Thinking() if _is_redacted(part):
            return {"type": "redacted_thinking", "data": part.redacted}
        case Thinking():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case Opaque():
            block: dict[str, Any] = part.value
            return block
    return {"type": "text", "text": ""}
