"""Gives the events of an answer's stream the client's own names and forms back."""

from __future__ import annotations

from msgspec.structs import replace

from toolwire.proxy.protocols.convert import Renaming
from toolwire.proxy.protocols.freeform import InputStream
from toolwire.proxy.protocols.neutral import (
    Call,
    Delta,
    PartEnd,
    PartStart,
    StreamEvent,
    Thinking,
)


class Restorer:
    """Neutral events in, neutral events out; ``vendor`` is stamped on the thinking it signed."""

    def __init__(self, renaming: Renaming, vendor: str) -> None:
        self._renaming = renaming
        self._vendor = vendor
        self._freeform: dict[int, InputStream] = {}

    def restore(self, event: StreamEvent) -> list[StreamEvent]:
        """The events for the client."""
        if isinstance(event, Delta):
            if (freeform := self._freeform.get(event.key)) is None:
                return [event]
            text = freeform.feed(event.text)
            return [Delta(event.key, text)] if text else []
        if not isinstance(event, PartStart | PartEnd):
            return [event]
        if isinstance(event.part, Thinking):
            event.part.vendor = self._vendor
        elif isinstance(event, PartEnd):
            return self._end(event)
        elif isinstance(event.part, Call):
            return [self._begin(event.key, event.part)]
        return [event]

    def _begin(self, key: int, call: Call) -> PartStart:
        name = self._renaming.names.get(call.name, call.name)
        if name in self._renaming.freeform:
            self._freeform[key] = InputStream()
            return PartStart(key, Call(call.id, name, custom=True))
        return PartStart(key, replace(call, name=name) if name != call.name else call)

    def _end(self, event: PartEnd) -> list[StreamEvent]:
        part = self._renaming.call(event.part) if isinstance(event.part, Call) else event.part
        told: list[StreamEvent] = [PartEnd(event.key, part)]
        if (freeform := self._freeform.pop(event.key, None)) is not None:
            if rest := freeform.flush():
                told.insert(0, Delta(event.key, rest))
        return told
