"""One output item of a stream that is being written, and the events that tell of it."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.collect import text_of
from toolwire.proxy.protocols.logprobs import Token
from toolwire.proxy.protocols.neutral import Call, Part, Refusal, Text, Thinking
from toolwire.proxy.protocols.responses.namespaces import OwnNames
from toolwire.proxy.protocols.responses.output import (
    Item,
    call_item,
    is_search,
    is_whole,
    message_item,
    text_part,
    write_item,
)
from toolwire.proxy.protocols.responses.reasoning import reasoning_item
from toolwire.proxy.protocols.responses.wire import INDEX_FIELD, WHOLE_FIELD, PartKind

Said = tuple[str, dict[str, Any]]
"""An event without its number: its type, and its fields."""

_PART_EVENT: dict[PartKind, str] = {
    PartKind.TEXT: "response.content_part",
    PartKind.REFUSAL: "response.content_part",
    PartKind.SUMMARY: "response.reasoning_summary_part",
}
"""The stem of the events around the deltas; arguments and input have none."""

_ANNOTATED = "response.output_text.annotation.added"

_NO_ARGUMENTS = "{}"


class StreamedItem:
    """An item of one part, which grows by deltas.

    ``item`` is the item as it was told last, ``said`` the text of its deltas, ``tokens`` those of
    them that were told; ``delta_head`` is the JSON of a delta event up to its number, b"" where the
    item gets no deltas.
    """

    def __init__(self, part: Part, item_id: str, index: int, names: OwnNames) -> None:
        self.part = part
        self.index = index
        self.said: list[str] = []
        self.tokens: list[Token] = []
        self._id = item_id
        self._names = names
        self._kind = None if is_search(part, names) else _kind_of(part)
        self._place: dict[str, Any] = {"item_id": item_id, "output_index": index}
        self.delta_name = ""
        self.delta_head = b""
        self.item = self._empty()
        if self._kind is None:
            return
        if self._kind in INDEX_FIELD:
            self._place[INDEX_FIELD[self._kind]] = 0
        self.delta_name = f"{self._kind.value}.delta"
        constant = {"type": self.delta_name, **self._place, **self._logprobs()}
        self.delta_head = json.encode(constant)[:-1] + b',"sequence_number":'

    def opening(self) -> list[Said]:
        """The item is there, and empty."""
        fields = {"output_index": self.index, "item": self.item}
        return [("response.output_item.added", fields)]

    def part_opening(self) -> list[Said]:
        """Its part is there, and empty: before the first delta."""
        if self._kind not in _PART_EVENT:
            return []
        fields = {**self._place, "part": self._content(Text(""))}
        return [(f"{_PART_EVENT[self._kind]}.added", fields)]

    def weighed(self, text: str, tokens: list[Token]) -> Said:
        """A piece of text with the log probabilities of its tokens."""
        self.said.append(text)
        self.tokens += tokens
        return (self.delta_name, {**self._place, "delta": text, "logprobs": tokens})

    def owed(self, whole: Part | None, *, cut: bool) -> str:
        """The text that is still to be said before the end; ``whole`` is the part, if known.

        A call of which nothing was said has no arguments, unless it was ``cut`` off.
        """
        said = "".join(self.said)
        text = text_of(whole) if whole is not None else ""
        if not (text or said or cut) and isinstance(self.part, Call) and not self.part.custom:
            text = _NO_ARGUMENTS
        return text[len(said) :] if text.startswith(said) else ""

    def closing(self, whole: Part | None, status: str | None) -> list[Said]:
        """The part and the item are over; ``whole`` is the part, if known.

        Without a ``status`` the item is complete, unless it is a call cut in its arguments.
        """
        text = "".join(self.said)
        self.item = self._finished(whole, text, status)
        done: Said = ("response.output_item.done", {"output_index": self.index, "item": self.item})
        if self._kind is None or (self._kind in _PART_EVENT and not text):
            return [done]
        whole_field = {WHOLE_FIELD[self._kind]: text}
        content = self._content(self._whole(text, whole))
        said: list[Said] = [
            (_ANNOTATED, {**self._place, "annotation_index": place, "annotation": annotation})
            for place, annotation in enumerate(content.get("annotations", ()))
        ]
        fields = {**self._place, **whole_field, **self._logprobs()}
        said.append((f"{self._kind.value}.done", fields))
        if self._kind in _PART_EVENT:
            said.append((f"{_PART_EVENT[self._kind]}.done", {**self._place, "part": content}))
        return [*said, done]

    def cut(self) -> None:
        """The stream broke off inside the item."""
        self.item = self._finished(None, "".join(self.said), "incomplete")

    def _empty(self) -> Item:
        match self.part:
            case Call():
                return call_item(self._id, self.part, "", self._names, "in_progress")
            case Thinking():
                return reasoning_item(self._id, Thinking())
            case Text() | Refusal():
                return message_item(self._id, [], "in_progress")
        return write_item(self.part, self._id, self._names, status="in_progress")

    def _finished(self, whole: Part | None, text: str, status: str | None) -> Item:
        match self.part:
            case Call() as call:
                if status is None:
                    status = "completed" if call.custom or is_whole(text) else "incomplete"
                return call_item(self._id, call, text, self._names, status)
            case Thinking() as thinking:
                # a signature comes at the end only
                known = whole if isinstance(whole, Thinking) else thinking
                return reasoning_item(self._id, replace(known, text=text))
            case Text() | Refusal():
                content = self._content(self._whole(text, whole))
                return message_item(self._id, [content], status or "completed")
        return self.item

    def _whole(self, text: str, whole: Part | None) -> Text:
        citations = whole.citations if isinstance(whole, Text) else None
        return Text(text, citations=citations, logprobs=self.tokens)

    def _content(self, text: Text) -> Item:
        match self._kind:
            case PartKind.TEXT:
                return text_part(text)
            case PartKind.REFUSAL:
                return {"type": "refusal", "refusal": text.text}
        return {"type": "summary_text", "text": text.text}

    def _logprobs(self) -> dict[str, Any]:
        # the one field that clients' types demand of text events and of no other
        return {"logprobs": self.tokens} if self._kind is PartKind.TEXT else {}


def _kind_of(part: Part) -> PartKind | None:
    match part:
        case Text():
            return PartKind.TEXT
        case Refusal():
            return PartKind.REFUSAL
        case Thinking():
            return PartKind.SUMMARY
        case Call():
            return PartKind.CUSTOM_INPUT if part.custom else PartKind.ARGUMENTS
    return None
