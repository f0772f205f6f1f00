"""Gives the events of an answer's stream the client's own names and forms back."""

from __future__ import annotations

import re

from msgspec.structs import replace

from toolwire.proxy.protocols import freeform, json
from toolwire.proxy.protocols.convert import Renaming
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
        self._freeform: dict[int, _FreeformInput] = {}

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
            self._freeform[key] = _FreeformInput(replace(call, name=name))
            return PartStart(key, Call(call.id, name, custom=True))
        return PartStart(key, replace(call, name=name) if name != call.name else call)

    def _end_freeform(self, event: PartEnd) -> list[StreamEvent]:
        whole, rest = self._freeform.pop(event.key).close()
        events: list[StreamEvent] = [Delta(event.key, rest)] if rest else []
        return [*events, PartEnd(event.key, whole)]


_OPENING = re.compile(rf'\s*\{{\s*"{re.escape(freeform.FIELD)}"\s*:\s*"')
_CHARACTERS = re.compile(r'(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_HIGH_SURROGATE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")


class _FreeformInput:
    """The text inside ``{"input": "..."}``, while its JSON is still coming."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._given: list[str] = []
        self._pending = ""
        self._inside: bool | None = None
        self._told = ""

    def feed(self, text: str) -> str:
        """What of the input can be told now."""
        self._given.append(text)
        self._pending += text
        if self._inside is None:
            opening = _OPENING.match(self._pending)
            if opening is None:
                return ""
            self._pending = self._pending[opening.end() :]
            self._inside = True
        if not self._inside:
            return ""
        told = self._take()
        self._told += told
        return told

    def _take(self) -> str:
        found = _CHARACTERS.match(self._pending)
        quoted = found[0] if found is not None else ""
        rest = self._pending[len(quoted) :]
        if rest.startswith('"'):
            self._inside = False
        elif half := _HIGH_SURROGATE.search(quoted):
            # the other half of the character has not come yet
            quoted, rest = quoted[: half.start()], quoted[half.start() :] + rest
        self._pending = rest
        try:
            return str(json.decode(f'"{quoted}"'))
        except ValueError:  # a raw control character: the whole text is looked at in the end
            self._inside = False
            return ""

    def close(self) -> tuple[Call, str]:
        """The whole call, and what of its input was not told yet."""
        arguments = "".join(self._given)
        whole = freeform.unwrap_call(replace(self._call, arguments=arguments))
        if whole.arguments.startswith(self._told):
            return whole, whole.arguments[len(self._told) :]
        return replace(whole, arguments=self._told), ""
