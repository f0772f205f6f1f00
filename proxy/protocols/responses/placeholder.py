"""A first delta of arguments that may only hold the place of the true ones.

``{}`` or null as all that was said of a call waits for the next event: where that tells of an
object, it goes out without a text.
"""

from __future__ import annotations

from msgspec import Struct

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.responses import wire
from toolwire.proxy.protocols.responses.repaired_item import RepairedItem
from toolwire.proxy.protocols.responses.wire import PartKind
from toolwire.proxy.protocols.sse import Event

_DELTA = f"{PartKind.ARGUMENTS.value}.delta"
_DONE = f"{PartKind.ARGUMENTS.value}.done"
_PLACEHOLDERS = ("{}", "null")


class Placeholder(Struct):
    """The event that waits, and its item."""

    event: Event
    item: RepairedItem

    def told(self, after: wire.StreamEvent) -> Event:
        """What goes out of it, now that the event ``after`` it is known."""
        text = _arguments(after) if self._is_of_item(after) else ""
        if text[:1] != "{" or text == "{}":
            return self.event
        self.item.heard[_DELTA, None].clear()
        document = json.decode_object(self.event.data or b"")
        return Event(json.encode({**document, "delta": ""}), self.event.name)

    def _is_of_item(self, after: wire.StreamEvent) -> bool:
        if after.item_id is not None:
            return after.item_id == self.item.id
        return after.output_index == self.item.index


def placeholder(
    event: Event, kind: str, chunk: wire.StreamEvent, item: RepairedItem | None
) -> Placeholder | None:
    """The repaired event, where it is to wait."""
    if kind != _DELTA or chunk.delta not in _PLACEHOLDERS or item is None:
        return None
    return Placeholder(event, item) if item.heard.get((_DELTA, None)) == [chunk.delta] else None


def _arguments(chunk: wire.StreamEvent) -> str:
    """What an event tells of the arguments of a call."""
    text = chunk.delta if chunk.type == _DELTA else None
    if chunk.type == _DONE:
        text = chunk.arguments
    elif chunk.type == "response.output_item.done":
        text = wire.object_in(chunk.item).get("arguments")
    return text.strip() if isinstance(text, str) else ""
