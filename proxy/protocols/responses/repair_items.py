"""The items of a stream under repair: where each event belongs, and under which id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolwire.proxy.protocols.identifiers import random_id
from toolwire.proxy.protocols.responses import wire
from toolwire.proxy.protocols.responses.output import arguments_text
from toolwire.proxy.protocols.responses.repair_fields import fill_part
from toolwire.proxy.protocols.responses.repaired_item import RepairedItem
from toolwire.proxy.protocols.responses.wire import PartKind

Changes = dict[str, Any]
"""Fields of an event to be set, by name."""

Said = tuple[str, dict[str, Any]]
"""An event to be put in front: its type and its fields, without a number."""

_PART_EVENTS: dict[str, str | None] = {
    **{kind: wire.INDEX_FIELD.get(part) for kind, part in (wire.DELTAS | wire.WHOLES).items()},
    "response.content_part.added": "content_index",
    "response.content_part.done": "content_index",
    "response.reasoning_summary_part.added": "summary_index",
    "response.reasoning_summary_part.done": "summary_index",
}
"""Events about a part of an item, and the field that numbers the part."""

_PART_ADDED = ("response.content_part.added", "response.reasoning_summary_part.added")

_WRITTEN = {"function_call": PartKind.ARGUMENTS, "custom_tool_call": PartKind.CUSTOM_INPUT}
"""What the model writes of a call."""


class RepairedItems:
    """The items so far, by ``output_index``; ``count`` is told of each repair."""

    def __init__(self, count: Callable[[str], None]) -> None:
        self.by_index: dict[int | None, RepairedItem] = {}
        self._count = count
        self._index_of_id: dict[str, int] = {}
        self._current = -1

    def done_items(self) -> list[dict[str, Any]]:
        """The finished items in their order."""
        indices = sorted(index for index in self.by_index if index is not None)
        return [done for index in indices if (done := self.by_index[index].done) is not None]

    def added(self, chunk: wire.StreamEvent, changes: Changes) -> None:
        """``response.output_item.added``"""
        document = wire.object_in(chunk.item)
        index = chunk.output_index
        if index is None or self._is_taken(index, document):
            index = max((known for known in self.by_index if known is not None), default=-1) + 1
            self._set(changes, "output_index", index)
        self._empty(document, changes)
        self._remember(index, document, changes)

    def _empty(self, document: dict[str, Any], changes: Changes) -> None:
        """A call begins without what the model writes: clients add the deltas to what is there."""
        kind = _WRITTEN.get(str(document.get("type")))
        if kind is not None and document.get(field := wire.WHOLE_FIELD[kind]):
            document[field] = ""
            changes["item"] = document
            self._count("arguments_early")

    def done(self, chunk: wire.StreamEvent, changes: Changes) -> list[Said]:
        """``response.output_item.done``: the same id as when it was added; and the ends of its
        parts, where nobody told them."""
        document = wire.object_in(chunk.item)
        names = [document.get("id"), document.get("call_id")]
        index = self._place(chunk, names, changes)
        item = self.by_index.get(index)
        if item is None:
            item = self._remember(index, document, changes)
        if document.get("id") != item.id:
            document["id"] = item.id
            changes["item"] = document
            self._count("item_id")
        if document.get("type") == "function_call" and not isinstance(
            document.get("arguments"), str
        ):
            document["arguments"] = arguments_text(document.get("arguments"))
            changes["item"] = document
            self._count("arguments_not_text")
        item.done = document
        return self._untold(item, index)

    def _untold(self, item: RepairedItem, index: int) -> list[Said]:
        """The events that end the parts of an item that is done."""
        parts = set(item.heard)
        if kind := _WRITTEN.get(str(item.type)):
            parts.add((f"{kind.value}.delta", None))
        said: list[Said] = []
        for delta, number in sorted(parts - item.told, key=lambda part: part[1] or 0):
            kind = wire.DELTAS[delta]
            whole = item.whole(kind, number)
            if whole is None:
                continue
            place: dict[str, Any] = {"item_id": item.id, "output_index": index}
            if number is not None:
                place[wire.INDEX_FIELD[kind]] = number
            self._count("done")
            said += self._unheard(kind, whole, item, place)
            said.append((f"{kind.value}.done", {**place, wire.WHOLE_FIELD[kind]: whole}))
        return said

    def part(self, kind: str, chunk: wire.StreamEvent, changes: Changes) -> list[Said]:
        """An event about a part: where it belongs; and what should have come before it."""
        index = self._place(chunk, [chunk.item_id], changes)
        item = self.by_index.get(index)
        if item is None:
            item = self._remember(index, {"id": chunk.item_id}, {})
        if chunk.item_id != item.id:
            self._set(changes, "item_id", item.id)
        number_field = _PART_EVENTS[kind]
        number = None if number_field is None else getattr(chunk, number_field)
        if number_field is not None and number is None:
            number = item.parts if kind in _PART_ADDED else max(item.parts - 1, 0)
            self._set(changes, number_field, number)
        if chunk.part != wire.NULL and fill_part(part := wire.object_in(chunk.part)):
            changes["part"] = part
            self._count("part_fields")
        if kind in _PART_ADDED:
            item.parts += 1
        elif kind in wire.DELTAS:
            item.heard.add((kind, number))
        elif kind in wire.WHOLES:
            place = {"item_id": item.id, "output_index": index}
            if number_field is not None:
                place[number_field] = number
            item.told.add((f"{wire.WHOLES[kind].value}.delta", number))
            whole = self._whole_text(wire.WHOLES[kind], chunk, changes)
            return self._unheard(wire.WHOLES[kind], whole, item, place)
        return []

    def _whole_text(self, kind: PartKind, chunk: wire.StreamEvent, changes: Changes) -> str:
        """What an event says to be the whole of a part; empty where that is no text."""
        field = wire.WHOLE_FIELD[kind]
        whole = getattr(chunk, field)
        if isinstance(whole, str):
            return whole
        if kind is not PartKind.ARGUMENTS:
            return ""
        changes[field] = text = arguments_text(whole)
        self._count("arguments_not_text")
        return text

    def _unheard(
        self, kind: PartKind, whole: str, item: RepairedItem, place: dict[str, Any]
    ) -> list[Said]:
        """The delta that was never sent of a part that is done."""
        name = f"{kind.value}.delta"
        part = (name, place.get(wire.INDEX_FIELD.get(kind, "")))
        if not whole or part in item.heard:
            return []
        item.heard.add(part)
        self._count("delta")
        logprobs: dict[str, Any] = {"logprobs": []} if kind is PartKind.TEXT else {}
        return [(name, {**place, "delta": whole, **logprobs})]

    def whole(self, response: dict[str, Any]) -> bool:
        """Gives the output of the last event's response the items and ids that were told before;
        whether anything had to be changed."""
        output = response.get("output")
        told = self.done_items()
        if not output:
            if not told:
                return False
            response["output"] = told
            self._count("output")
            return True
        changed = False
        for index, document in enumerate(output if isinstance(output, list) else []):
            item = self.by_index.get(index)
            if item is None or not isinstance(document, dict) or item.type != document.get("type"):
                continue
            if document.get("id") != item.id:
                document["id"] = item.id
                changed = True
        if changed:
            self._count("item_id")
        return changed

    def _place(self, chunk: wire.StreamEvent, names: list[Any], changes: Changes) -> int:
        """The index of the item that an event is about."""
        known = [name for name in names if isinstance(name, str) and name in self._index_of_id]
        if known:
            index = self._index_of_id[known[0]]
        elif chunk.output_index is not None:
            index = chunk.output_index
        else:
            index = max(self._current, 0)
        if index != chunk.output_index:
            self._set(changes, "output_index", index)
        self._current = index
        return index

    def _is_taken(self, index: int, document: dict[str, Any]) -> bool:
        """Whether another item has that index: some upstreams count every item as the first."""
        item = self.by_index.get(index)
        return item is not None and document.get("id") not in (None, item.id)

    def _remember(self, index: int, document: dict[str, Any], changes: Changes) -> RepairedItem:
        item_type = document.get("type")
        item_id = document.get("id")
        if not isinstance(item_id, str) or not item_id:
            item_id = random_id(wire.ID_PREFIX.get(str(item_type), "item_"))
            if item_type in wire.ID_PREFIX:
                document["id"] = item_id
                changes["item"] = document
                self._count("item_id")
        item = self.by_index[index] = RepairedItem(item_id, item_type)
        self._current = index
        for name in (item_id, document.get("call_id")):
            if isinstance(name, str):
                self._index_of_id[name] = index
        return item

    def _set(self, changes: Changes, name: str, value: Any) -> None:
        changes[name] = value
        self._count(name)


def is_about_part(kind: str) -> bool:
    """Whether ``RepairedItems.part`` is for events of this type."""
    return kind in _PART_EVENTS
