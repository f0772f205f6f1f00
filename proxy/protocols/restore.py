"""Gives the events of an answer's stream the client's own names and forms back.

And puts characters together that an upstream cut in two, each half an escape in a delta of its own:
clients that add up text could not do that any more.
"""

from __future__ import annotations

from msgspec.structs import replace

from toolwire.proxy.errors import BadUpstreamAnswer
from toolwire.proxy.protocols.convert import Renaming
from toolwire.proxy.protocols.freeform import InputStream
from toolwire.proxy.protocols.neutral import (
    Call,
    Delta,
    Failure,
    Part,
    PartEnd,
    PartStart,
    Refusal,
    StreamEvent,
    StreamFailure,
    Text,
    Thinking,
)

NAMELESS = "the upstream called a tool without a name"

_FIRST_HALF, _SECOND_HALF = "\ud800", "\udc00"
"""Where the halves of characters outside of the basic plane begin:
https://www.rfc-editor.org/rfc/rfc8259#section-7"""


class Restorer:
    """Neutral events in, neutral events out; ``vendor`` is stamped on the thinking it signed."""

    def __init__(self, renaming: Renaming, vendor: str) -> None:
        self._renaming = renaming
        self._vendor = vendor
        self._freeform: dict[int, InputStream] = {}
        self._halves: dict[int, str] = {}

    def restore(self, event: StreamEvent) -> list[StreamEvent]:
        """The events for the client."""
        if isinstance(event, Delta):
            if self._halves or event.text[-1:] >= _FIRST_HALF:
                event = self._whole(event)
            if (freeform := self._freeform.get(event.key)) is None:
                return [event] if event.text or event.logprobs else []
            text = freeform.feed(event.text)
            return [Delta(event.key, text)] if text else []
        if not isinstance(event, PartStart | PartEnd):
            return [event]
        if isinstance(event.part, Thinking):
            event.part.vendor = self._vendor
        if isinstance(event, PartEnd):
            return self._end(event)
        if isinstance(event.part, Call):
            if not event.part.name:
                return [StreamFailure(Failure(502, NAMELESS, code=BadUpstreamAnswer.code))]
            return [self._begin(event.key, event.part)]
        return [event]

    def _whole(self, delta: Delta) -> Delta:
        """The text of a delta with the half that was held; its own last half is held."""
        text = _joined(self._halves.pop(delta.key, "") + delta.text)
        if _FIRST_HALF <= text[-1:] < _SECOND_HALF:
            self._halves[delta.key] = text[-1]
            text = text[:-1]
        return Delta(delta.key, text, delta.logprobs)

    def _begin(self, key: int, call: Call) -> PartStart:
        name = self._renaming.names.get(call.name, call.name)
        if name in self._renaming.freeform:
            self._freeform[key] = InputStream()
            return PartStart(key, Call(call.id, name, custom=True))
        return PartStart(key, replace(call, name=name) if name != call.name else call)

    def _end(self, event: PartEnd) -> list[StreamEvent]:
        part = _with_whole_characters(event.part)
        if isinstance(part, Call):
            part = self._renaming.call(part)
        rest = self._halves.pop(event.key, "")  # of a character whose other half never came
        if (freeform := self._freeform.pop(event.key, None)) is not None:
            rest = freeform.feed(rest) + freeform.flush()
        told: list[StreamEvent] = [Delta(event.key, rest)] if rest else []
        return [*told, PartEnd(event.key, part)]


def _with_whole_characters(part: Part | None) -> Part | None:
    """``part``, which its reader added up out of the same pieces."""
    if isinstance(part, Call):
        part.arguments = _joined(part.arguments)
    elif isinstance(part, Text | Thinking | Refusal):
        part.text = _joined(part.text)
    return part


def _joined(text: str) -> str:
    """``text`` with the two halves of each character put together."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
