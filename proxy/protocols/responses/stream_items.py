"""The output of a stream, read: items and their parts, to neutral events.

An upstream says everything several times (delta, ``.done``, part, item, response).  Only what was
not said yet is passed on, so a stream is read right whichever of them it leaves out.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from toolwire.proxy.protocols.collect import text_of
from toolwire.proxy.protocols.neutral import (
    Call,
    Delta,
    Part,
    PartEnd,
    PartStart,
    Refusal,
    StreamEvent,
    Text,
    Thinking,
)
from toolwire.proxy.protocols.responses import output, wire
from toolwire.proxy.protocols.responses.open_part import OpenPart, with_text
from toolwire.proxy.protocols.responses.reasoning import BETWEEN_PARTS
from toolwire.proxy.protocols.responses.wire import PartKind

_CALLS = ("function_call", "custom_tool_call")
_SPOKEN = (PartKind.TEXT, PartKind.REFUSAL)


class _Item(Struct):
    """An output item: its open parts by their index, and whether it is over."""

    parts: dict[int, OpenPart] = field(default_factory=dict)
    done: bool = False
    type: Any = None  # as it was told when the item was added
    shown: PartKind | None = None  # reasoning: itself or a summary of it
    thought: int = -1  # the index of the last part of the reasoning
    spoken: bool = False  # deltas told of it, not its end alone


class OutputItems:
    """The items so far.  ``parts`` are the neutral parts in the order of their keys."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self._items: dict[int | None, _Item] = {}
        self._last_index = 0

    def added(self, chunk: wire.StreamEvent) -> list[StreamEvent]:
        """A call begins at once; what else an item holds begins with its first delta."""
        item = self._item(chunk)
        document = wire.object_in(chunk.item)
        item.type = document.get("type")
        if item.type not in _CALLS or item.parts or item.done:
            return []
        call = output.read_call(document)
        if not call.name:
            return []
        text, call.arguments = call.arguments, ""
        part, events = self._open(item, 0, call)
        return events + part.say(text)

    def delta(self, chunk: wire.StreamEvent, kind: PartKind) -> list[StreamEvent]:
        """More text of a part."""
        text = chunk.delta
        if not isinstance(text, str) or not (text or chunk.logprobs):
            return []
        item = self._items.get(chunk.output_index)
        if item is not None and item.shown is None:
            known = item.parts.get(chunk.content_index or 0)
            if known is not None:  # the common case by far
                if chunk.logprobs:
                    return known.weighed(known.say(text), chunk.logprobs)
                known.said.append(text)
                return [Delta(known.key, text)]
        item = self._item(chunk)
        if item.done and item.spoken and kind in _SPOKEN:
            item.done = False  # some say that it is over with its first delta
        part, events = self._part(item, chunk, kind)
        if part is None:
            return events
        item.spoken = True
        events += part.say(text)
        return part.weighed(events, chunk.logprobs) if chunk.logprobs else events

    def annotated(self, chunk: wire.StreamEvent) -> None:
        """A citation of text; the end of the item repeats it, but not everywhere."""
        part = self._item(chunk).parts.get(chunk.content_index or 0)
        if part is not None and (annotation := wire.object_in(chunk.annotation)):
            part.annotations.append(annotation)

    def whole(self, chunk: wire.StreamEvent, kind: PartKind) -> list[StreamEvent]:
        """A ``.done`` event: what it says beyond the deltas."""
        text = output.arguments_text(getattr(chunk, wire.WHOLE_FIELD[kind]))
        item = self._item(chunk)
        if not text or item.shown is not None:  # of several thoughts it repeats but one
            return []
        part, events = self._part(item, chunk, kind)
        return events + part.say_rest(text) if part is not None else events

    def done(self, chunk: wire.StreamEvent) -> list[StreamEvent]:
        """An item is over: what it says beyond its parts' events."""
        item = self._item(chunk)
        return [] if item.done else self._end(item, wire.object_in(chunk.item))

    def rest(self, response: dict[str, Any]) -> list[StreamEvent]:
        """The response is over: ends what is open, and tells what only the response itself has.

        That is the whole output where no event told of any, else calls that no event told of.
        """
        told = {part.id for part in self.parts if isinstance(part, Call)}
        nothing_told = not self.parts
        events: list[StreamEvent] = []
        said = response.get("output")
        found = said if isinstance(said, list) else []
        for index, item in self._items.items():
            if not item.done and (whole := _whole_of(item, index, found)) is not None:
                events += self._end(item, whole)
            events += _close(item)
        for part in output.read_output(found):
            if nothing_told or (isinstance(part, Call) and part.id not in told):
                events += self._tell(part)
        return events

    # --------------------------------------------------------------------------- inside
    def _end(self, item: _Item, document: dict[str, Any]) -> list[StreamEvent]:
        """What ``document``, the whole item, says beyond what was said of it; then its end."""
        events: list[StreamEvent] = []
        for index, part in enumerate(output.read_item(document)):
            known = item.parts.pop(index, None)
            events += self._tell(part) if known is None else known.completed(part)
        return events + _close(item)

    def _item(self, chunk: wire.StreamEvent) -> _Item:
        index = self._last_index if chunk.output_index is None else chunk.output_index
        self._last_index = index
        item = self._items.get(index)
        if item is None:
            item = self._items[index] = _Item()
        return item

    def _open(self, item: _Item, index: int, part: Part) -> tuple[OpenPart, list[StreamEvent]]:
        opened = item.parts[index] = OpenPart(len(self.parts), part)
        self.parts.append(part)
        return opened, [PartStart(opened.key, part)]

    def _part(
        self, item: _Item, chunk: wire.StreamEvent, kind: PartKind
    ) -> tuple[OpenPart | None, list[StreamEvent]]:
        """The part that an event is about, begun where it had not; None where nobody can tell."""
        if item.done:
            return None, []
        if kind is PartKind.REASONING or kind is PartKind.SUMMARY:
            return self._thought(item, chunk, kind)
        index = chunk.content_index or 0
        known = item.parts.get(index)
        if known is not None or kind is PartKind.ARGUMENTS or kind is PartKind.CUSTOM_INPUT:
            return known, []
        return self._open(item, index, Text("") if kind is PartKind.TEXT else Refusal(""))

    def _thought(
        self, item: _Item, chunk: wire.StreamEvent, kind: PartKind
    ) -> tuple[OpenPart | None, list[StreamEvent]]:
        """All reasoning of an item is one part; a second kind of it would only say it again."""
        index = (chunk.summary_index if kind is PartKind.SUMMARY else chunk.content_index) or 0
        if item.shown is None:
            item.shown, item.thought = kind, index
            return self._open(item, 0, Thinking(summary=kind is PartKind.SUMMARY))
        part = item.parts.get(0)
        if part is None or item.shown is not kind:
            return None, []
        if index == item.thought:
            return part, []
        item.thought = index
        return part, part.say(BETWEEN_PARTS)

    def _tell(self, part: Part) -> list[StreamEvent]:
        """A part that comes whole."""
        key = len(self.parts)
        self.parts.append(part)
        text = text_of(part)
        if not text:
            return [PartStart(key, part), PartEnd(key, part)]
        return [PartStart(key, with_text(part, "")), Delta(key, text), PartEnd(key, part)]


def _whole_of(item: _Item, index: int | None, found: list[Any]) -> dict[str, Any] | None:
    """The item among those of the response: a call by its id, another one by its place."""
    part = item.parts[0].part if 0 in item.parts else None
    for place, whole in enumerate(found):
        if not isinstance(whole, dict) or whole.get("type") != item.type:
            continue
        if output.read_call(whole).id == part.id if isinstance(part, Call) else place == index:
            return whole
    return None


def _close(item: _Item) -> list[StreamEvent]:
    ends: list[StreamEvent] = [part.end() for part in item.parts.values()]
    item.done, item.parts = True, {}
    return ends
