"""The items of a stream under repair: where each event belongs, and under which id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolwire.proxy.protocols.identifiers import random_id
from toolwire.proxy.protocols.responses import wire
from toolwire.proxy.protocols.responses.output import arguments_text
from toolwire.proxy.protocols.responses.repair_fields import fill_item, fill_part
from toolwire.proxy.protocols.responses.repaired_item import (
    PART_KINDS,
    FromZero,
    RepairedItem,
    Said,
)
from toolwire.proxy.protocols.responses.whole_items import (
    begun_item,
    emptied,
    empty,
    give_text,
    matched,
)
from toolwire.proxy.protocols.responses.wire import PartKind

Changes = dict[str, Any]
"""Fields of an event to be set, by name."""

PART_EVENTS: dict[str, str | None] = {
    **{kind: wire.INDEX_FIELD.get(part) for kind, part in (wire.DELTAS | wire.WHOLES).items()},
    "response.content_part.added": "content_index",
    "response.content_part.done": "content_index",
    "response.reasoning_summary_part.added": "summary_index",
    "response.reasoning_summary_part.done": "summary_index",
}
"""Events about a part of an item, and the field that numbers the part."""

_PART_ADDED = ("response.content_part.added", "response.reasoning_summary_part.added")

_PART_DONE = ("response.content_part.done", "response.reasoning_summary_part.done")


class RepairedItems:
    """The items so far, by ``output_index``; ``count`` is told of each repair."""

    def __init__(self, count: Callable[[str], None]) -> None:
        self.by_index: dict[int | None, RepairedItem] = {}
        self._count = count
        self._index_of_id: dict[str, int] = {}
        self._current = -1
        self._from_zero = FromZero()

    def done_items(self) -> list[dict[str, Any]]:
        """The finished items in their order."""
        indices = sorted(index for index in self.by_index if index is not None)
        return [done for index in indices if (done := self.by_index[index].done) is not None]

    def added(self, chunk: wire.StreamEvent, changes: Changes) -> None:
        """``response.output_item.added``"""
        document = wire.object_in(chunk.item)
        index = self._from_zero.count(chunk.output_index)
        before = self.by_index.get(index)
        # some upstreams count every item as the first
        if index is None or (before is not None and document.get("id") not in (None, before.id)):
            index = max((known for known in self.by_index if known is not None), default=-1) + 1
        if index != chunk.output_index:
            self._set(changes, "output_index", index)
        for repair, made in (("arguments_early", empty), ("item_fields", fill_item)):
            if made(document):
                changes["item"] = document
                self._count(repair)
        self._remember(index, document, changes)

    def done(self, chunk: wire.StreamEvent, changes: Changes) -> list[Said]:
        """``response.output_item.done``: the same id as when it was added; and what nobody told of
        the item before."""
        document = wire.object_in(chunk.item)
        names = [document.get("id"), document.get("call_id")]
        index = self._place(chunk, names, changes)
        item = self.by_index.get(index)
        ahead = [] if item is not None else self._add(index, document, changes)
        item = self.by_index[index]
        if document.get("id") != item.id:
            document["id"] = item.id
            changes["item"] = document
            self._count("item_id")
        if (kind := give_text(document)) is not None:
            changes["item"] = document
            self._count(kind)
        item.done, item.type = document, item.type or document.get("type")
        return [*ahead, *item.rest()]

    def part(self, kind: str, chunk: wire.StreamEvent, changes: Changes) -> list[Said]:
        """An event about a part: where it belongs; and what should have come before it."""
        index = self._place(chunk, [chunk.item_id], changes)
        ahead = [] if index in self.by_index else self._item_of(kind, index, chunk)
        item = self.by_index[index]
        if chunk.item_id != item.id:
            self._set(changes, "item_id", item.id)
        number_field = PART_EVENTS[kind]
        number = None if number_field is None else getattr(chunk, number_field)
        if number_field is not None:
            told, number = number, item.number(number, is_new=kind in _PART_ADDED)
            if number != told:
                self._set(changes, number_field, number)
        part = {} if chunk.part == wire.NULL else wire.object_in(chunk.part)
        if part and fill_part(part):
            changes["part"] = part
            self._count("part_fields")
        if kind in _PART_ADDED:
            item.note(kind, number)
        elif kind in _PART_DONE:
            item.note(kind, number)
            ahead += item.rest_of(part, number)
        elif (kind, number) in item.over:
            changes["delta"] = ""  # clients add it to what is whole
            self._count("late_arguments")
        elif kind in wire.DELTAS:
            ahead += item.hear(wire.DELTAS[kind], number, chunk.delta)
        elif kind in wire.WHOLES:
            ahead += self._whole_part(item, wire.WHOLES[kind], number, chunk, changes)
        return ahead

    def _item_of(self, event: str, index: int, chunk: wire.StreamEvent) -> list[Said]:
        """The item that a part belongs to which came without one."""
        kind = (wire.DELTAS | wire.WHOLES).get(event)
        if kind is None:
            kind = PART_KINDS.get(str(wire.object_in(chunk.part).get("type")))
        begun = begun_item(kind)
        if begun is None:
            self._remember(index, {"id": chunk.item_id}, {})
            return []
        return self._add(index, {**begun, "id": chunk.item_id}, {})

    def _add(self, index: int, document: dict[str, Any], changes: Changes) -> list[Said]:
        """Tells of an item that nobody added."""
        item = self._remember(index, document, changes)
        if item.type is None:
            return []
        self._count("item_added")
        fields = {"output_index": index, "item": emptied({**document, "id": item.id})}
        return [("response.output_item.added", fields)]

    def _whole_part(
        self,
        item: RepairedItem,
        kind: PartKind,
        number: int | None,
        chunk: wire.StreamEvent,
        changes: Changes,
    ) -> list[Said]:
        """A part is done: what its deltas left out; and the other way round."""
        item.told.add((f"{kind.value}.delta", number))
        field = wire.WHOLE_FIELD[kind]
        whole = getattr(chunk, field)
        if not isinstance(whole, str):
            whole = arguments_text(whole) if kind is PartKind.ARGUMENTS else ""
            self._count("arguments_not_text" if kind is PartKind.ARGUMENTS else "done_not_text")
            changes[field] = whole
        said = item.said(kind, number)
        if len(whole) < len(said) and said.startswith(whole):
            changes[field] = said
            self._count("done_too_short")
        ahead = item.unheard(kind, number, whole)
        if kind is PartKind.ARGUMENTS:
            item.end_arguments()
        return ahead

    def end(self, response: dict[str, Any], *, tell: bool) -> tuple[list[Said], bool]:
        """The last event: what only its response tells, as events if they are wanted; and whether
        the response had to be changed, for it lacked items or had other ids for them."""
        output = response.get("output")
        ahead: list[Said] = []
        if not output:
            status = str(response.get("status") or "completed")
            for begun in list(self.by_index.values()) if tell else ():
                if begun.done is None:
                    ahead += self._tell_as_heard(begun, status)
            response["output"] = told = self.done_items()
            if told:
                self._count("output")
            return ahead, bool(told)
        changed: list[str] = []
        documents = [d for d in output if isinstance(d, dict)] if isinstance(output, list) else []
        known = matched(documents, self.by_index, self._index_of_id)
        for document, item in zip(documents, known, strict=True):
            if item is not None and document.get("id") != item.id:
                document["id"] = item.id
                changed.append("item_id")
            if tell and (kind := give_text(document)) is not None:
                changed.append(kind)
            if tell and (item is None or item.done is None):
                ahead += self._tell(document, item)
        for kind in set(changed):
            self._count(kind)
        return ahead, bool(changed)

    def _tell_as_heard(self, item: RepairedItem, status: str) -> list[Said]:
        """The same of an item that the last event has not either."""
        document = item.as_heard(status)
        if document is None:
            return []
        for part in document.get("content") or ():
            fill_part(part)
        return self._tell(document, item)

    def _tell(self, document: dict[str, Any], item: RepairedItem | None) -> list[Said]:
        """What is missing of an item that only the last event has whole."""
        if not isinstance(document.get("type"), str):
            return []
        ahead: list[Said] = []
        if item is None:
            index = max((known for known in self.by_index if known is not None), default=-1) + 1
            ahead = self._add(index, document, {})
            item = self.by_index[index]
        item.done = document
        self._count("item_done")
        fields = {"output_index": item.index, "item": document}
        return [*ahead, *item.rest(), ("response.output_item.done", fields)]

    def _place(self, chunk: wire.StreamEvent, names: list[Any], changes: Changes) -> int:
        """The index of the item that an event is about."""
        known = [name for name in names if isinstance(name, str) and name in self._index_of_id]
        if known:
            index = self._index_of_id[known[0]]
        elif (told := self._from_zero.count(chunk.output_index)) is not None:
            index = told
        else:
            index = max(self._current, 0)
        if index != chunk.output_index:
            self._set(changes, "output_index", index)
        self._current = index
        return index

    def _remember(self, index: int, document: dict[str, Any], changes: Changes) -> RepairedItem:
        item_type = document.get("type")
        item_id = document.get("id")
        if not isinstance(item_id, str) or not item_id:
            item_id = random_id(wire.ID_PREFIX.get(str(item_type), "item_"))
            if item_type in wire.ID_PREFIX:
                document["id"] = item_id
                changes["item"] = document
                self._count("item_id")
        item = self.by_index[index] = RepairedItem(item_id, document, index, self._count)
        self._current = index
        for name in (item_id, document.get("call_id")):
            if isinstance(name, str):
                self._index_of_id[name] = index
        return item

    def _set(self, changes: Changes, name: str, value: Any) -> None:
        changes[name] = value
        self._count(name)
