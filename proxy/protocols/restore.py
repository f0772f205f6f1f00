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
        match event:
            case Delta() if event.key in self._freeform:
                text = self._freeform[event.key].feed(event.text)
                return [Delta(event.key, text)] if text else []
            case PartStart(part=Call()):
                return [self._begin(event.key, event.part)]
            case PartEnd() if event.key in self._freeform:
                return self._end_freeform(event)
            case PartEnd(part=Call()):
                return [PartEnd(event.key, self._renaming.call(event.part))]
            case PartStart(part=Thinking()) | PartEnd(part=Thinking()):
                event.part.vendor = self._vendor
        return [event]

    def _begin(self, key: int, call: Call) -> PartStart:
        name = self._renaming.names.get(call.name, call.name)
        if name in self._renaming.freeform:
            self._freeform[key] = InputStream()
            return PartStart(key, Call(call.id, name, custom=True))
        return PartStart(key, replace(call, name=name) if name != call.name else call)

    def _end_freeform(self, event: PartEnd) -> list[StreamEvent]:
        rest = self._freeform.pop(event.key).flush()
        whole = self._renaming.call(event.part) if isinstance(event.part, Call) else None
        told: list[StreamEvent] = [Delta(event.key, rest)] if rest else []
        return [*told, PartEnd(event.key, whole)]
