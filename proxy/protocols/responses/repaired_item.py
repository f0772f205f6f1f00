"""One item of a stream under repair: what was told of it, and the events that it lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from toolwire.proxy.protocols.responses import wire
from toolwire.proxy.protocols.responses.output import is_whole
from toolwire.proxy.protocols.responses.wire import PartKind

Said = tuple[str, dict[str, Any]]
"""An event to be put in front: its type and its fields, without a number."""

Part = tuple[str, int | None]
"""A part of an item: the type of its deltas, and its number; None for what a call says."""

WRITTEN = {"function_call": PartKind.ARGUMENTS, "custom_tool_call": PartKind.CUSTOM_INPUT}
"""What the model writes of a call."""

_LISTS = {
    "message": {"content": {"output_text": PartKind.TEXT, "refusal": PartKind.REFUSAL}},
    "reasoning": {
        "content": {"reasoning_text": PartKind.REASONING},
        "summary": {"summary_text": PartKind.SUMMARY},
    },
}
"""Where an item of a type has its parts, in the order in which they are told, and what each type of
part is.  Reasoning comes before its summary: who shows one of the two shows the first."""

PART_KINDS: dict[str, PartKind] = {
    name: kind
    for lists in _LISTS.values()
    for kinds in lists.values()
    for name, kind in kinds.items()
}

_AROUND = {
    PartKind.TEXT: "response.content_part",
    PartKind.REFUSAL: "response.content_part",
    PartKind.SUMMARY: "response.reasoning_summary_part",
}
"""The stem of the events that begin and end a part."""

_PART_TYPE = {kind: name for name, kind in PART_KINDS.items()}


class FromZero:
    """Numbers that begin with 0: some servers begin with 1, or go on where the last item ended."""

    __slots__ = ("_first",)

    def __init__(self) -> None:
        self._first: int | None = None

    def count(self, told: int | None) -> int | None:
        """The right number for the one that was ``told``, if any was."""
        if told is None:
            return None
        if self._first is None:
            self._first = told
        return max(told - self._first, 0)


class RepairedItem:
    """An item: the id and index that all its events bear, how it began, the texts of its parts as
    their deltas were heard, which of them were told to be whole, and the whole item once it is
    done.  ``over`` has the texts that take no more deltas."""

    __slots__ = (
        "_around",
        "_begun",
        "_count",
        "_from_zero",
        "done",
        "heard",
        "id",
        "index",
        "over",
        "parts",
        "told",
        "type",
    )

    def __init__(
        self, item_id: str, begun: dict[str, Any], index: int, count: Callable[[str], None]
    ) -> None:
        self.id = item_id
        self.type: str | None = begun.get("type")
        self.index = index
        self._begun = begun
        self.heard: dict[Part, list[str]] = {}
        self.told: set[Part] = set()
        self.over: dict[Part, list[str]] = {}
        self.parts = 0
        self.done: dict[str, Any] | None = None
        self._from_zero = FromZero()
        self._around: set[tuple[str, int | None]] = set()
        self._count = count

    def number(self, told: int | None, *, is_new: bool) -> int:
        """The number of a part that was ``told`` to have another, or none."""
        right = self._from_zero.count(told)
        if right is None:
            right = self.parts if is_new else max(self.parts - 1, 0)
        return right

    def hear(self, kind: PartKind, number: int | None, text: Any) -> list[Said]:
        """A delta; the beginning of its part, where nobody told of it."""
        begun = self._begin_part(kind, number)
        heard = self.heard.setdefault((f"{kind.value}.delta", number), [])
        if isinstance(text, str):
            heard.append(text)
        return begun

    def note(self, event: str, number: int | None) -> None:
        """The event that begins or ends a part."""
        self._around.add((event, number))
        if event.endswith(".added"):
            self.parts += 1

    def said(self, kind: PartKind, number: int | None) -> str:
        """The text of a part, as its deltas say it."""
        part = (f"{kind.value}.delta", number)
        return "".join(self.over.get(part) or self.heard.get(part) or [])

    def end_arguments(self) -> None:
        """They were told to be whole, and take no more where they are."""
        part = (f"{PartKind.ARGUMENTS.value}.delta", None)
        if part in self.heard and is_whole(self.said(PartKind.ARGUMENTS, None)):
            self.over[part] = self.heard.pop(part)

    def unheard(self, kind: PartKind, number: int | None, whole: str) -> list[Said]:
        """The delta that is missing of a part that is ``whole``; where the deltas said something
        else, they are right."""
        said = self.said(kind, number)
        is_over = (f"{kind.value}.delta", number) in self.over
        if is_over or len(whole) <= len(said) or not whole.startswith(said):
            return []
        begun = self.hear(kind, number, whole[len(said) :])
        self._count("delta")
        fields = {**self.place(kind, number), "delta": whole[len(said) :], **_logprobs(kind)}
        return [*begun, (f"{kind.value}.delta", fields)]

    def as_heard(self, status: str) -> dict[str, Any] | None:
        """The whole item, where its deltas alone tell it; None where nothing was said."""
        written = WRITTEN.get(str(self.type))
        if not self.heard and written is None:
            return None
        document = {**self._begun, "id": self.id}
        if self.type != "reasoning":
            document["status"] = status
        if written is not None:
            empty = "{}" if written is PartKind.ARGUMENTS else ""
            return {**document, wire.WHOLE_FIELD[written]: self.said(written, None) or empty}
        lists: dict[str, list[dict[str, Any]]] = {}
        for name, number in sorted(self.heard, key=lambda part: part[1] or 0):
            kind = wire.DELTAS[name]
            part = {"type": _PART_TYPE[kind], wire.WHOLE_FIELD[kind]: self.said(kind, number)}
            lists.setdefault("summary" if kind is PartKind.SUMMARY else "content", []).append(part)
        return document | lists

    def rest(self) -> list[Said]:
        """The events of its parts that an item lacks which is done."""
        said: list[Said] = []
        for kind, number, part in self._whole_parts():
            said += self._rest_of(kind, number, part)
        return said

    def rest_of(self, part: dict[str, Any], number: int | None) -> list[Said]:
        """The same for a part that is done, whatever it is."""
        kind = PART_KINDS.get(str(part.get("type")))
        return self._rest_of(kind, number, part) if kind is not None else []

    def place(self, kind: PartKind, number: int | None) -> dict[str, Any]:
        place: dict[str, Any] = {"item_id": self.id, "output_index": self.index}
        if number is not None:
            place[wire.INDEX_FIELD[kind]] = number
        return place

    def _rest_of(self, kind: PartKind, number: int | None, part: dict[str, Any]) -> list[Said]:
        text = part.get(wire.WHOLE_FIELD[kind])
        if not isinstance(text, str):
            return []
        name = (f"{kind.value}.delta", number)
        if not text and number is not None and name not in self.heard:
            return []
        said = self.unheard(kind, number, text)
        if said or name not in self.told:
            self.told.add(name)
            self._count("done")
            whole = {wire.WHOLE_FIELD[kind]: text, **_logprobs(kind)}
            said.append((f"{kind.value}.done", {**self.place(kind, number), **whole}))
        stem = _AROUND.get(kind)
        if stem is not None and (f"{stem}.done", number) not in self._around:
            self.note(f"{stem}.done", number)
            self._count("part_done")
            said.append((f"{stem}.done", {**self.place(kind, number), "part": part}))
        return said

    def _begin_part(self, kind: PartKind, number: int | None) -> list[Said]:
        stem = _AROUND.get(kind)
        if stem is None or (f"{stem}.added", number) in self._around:
            return []
        self.note(f"{stem}.added", number)
        self._count("part_added")
        part: dict[str, Any] = {"type": _PART_TYPE[kind], wire.WHOLE_FIELD[kind]: ""}
        if kind is PartKind.TEXT:
            part["annotations"] = []
        return [(f"{stem}.added", {**self.place(kind, number), "part": part})]

    def _whole_parts(self) -> Iterator[tuple[PartKind, int | None, dict[str, Any]]]:
        """The parts of the item that is done.  Of reasoning, which some tell twice, only such as
        were told by deltas before, if any were."""
        document = self.done or {}
        kind = WRITTEN.get(str(self.type))
        if kind is not None:
            yield kind, None, document
        heard = {name for name, _ in self.heard} if self.type == "reasoning" else set()
        for field, kinds in _LISTS.get(str(self.type), {}).items():
            parts = document.get(field)
            for number, part in enumerate(parts if isinstance(parts, list) else ()):
                kind = kinds.get(str(part.get("type"))) if isinstance(part, dict) else None
                if kind is not None and (not heard or f"{kind.value}.delta" in heard):
                    yield kind, number, part


def _logprobs(kind: PartKind) -> dict[str, Any]:
    # the one field that clients' types demand of text events and of no other
    return {"logprobs": []} if kind is PartKind.TEXT else {}
