"""One part of an output item that is under way in a stream, as far as it was read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Raw, Struct, field
from msgspec.structs import replace

from toolwire.proxy.protocols.collect import text_of
from toolwire.proxy.protocols.logprobs import add_tokens
from toolwire.proxy.protocols.neutral import (
    Call,
    Delta,
    Part,
    PartEnd,
    Refusal,
    StreamEvent,
    Text,
    Thinking,
)
from toolwire.proxy.protocols.responses.output import read_annotations


class OpenPart(Struct):
    """Its neutral key, what was said of it so far, and the annotations that were told."""

    key: int
    part: Part
    said: list[str] = field(default_factory=list)
    annotations: list[Any] = field(default_factory=list)

    def say(self, text: str) -> list[StreamEvent]:
        if not text:
            return []
        self.said.append(text)
        return [Delta(self.key, text)]

    def say_rest(self, whole: str) -> list[StreamEvent]:
        """What ``whole`` has beyond the deltas; the deltas are right where they differ."""
        said = "".join(self.said)
        return self.say(whole[len(said) :]) if whole.startswith(said) else []

    def weighed(self, events: list[StreamEvent], tokens: Iterable[Raw]) -> list[StreamEvent]:
        """``events``, which say more of it, with the log probabilities of their tokens."""
        if isinstance(self.part, Text):
            add_tokens(tokens, self.key, events)
        return events

    def end(self) -> PartEnd:
        """Its end, of which the upstream tells nothing."""
        citations = read_annotations(self.annotations)
        if citations is None:
            return PartEnd(self.key)
        return PartEnd(self.key, Text("".join(self.said), citations=citations))

    def completed(self, part: Part) -> list[StreamEvent]:
        """Its end, where the upstream repeats the whole ``part``."""
        events = self.say_rest(text_of(part))
        part = with_text(part, "".join(self.said))
        if isinstance(part, Call) and isinstance(self.part, Call):
            part.id, part.name = self.part.id, self.part.name
        if isinstance(part, Text) and part.citations is None:  # some repeat the text alone
            part.citations = read_annotations(self.annotations)
        return [*events, PartEnd(self.key, part)]


def with_text(part: Part, text: str) -> Part:
    """A copy of ``part`` with ``text`` in the place of what it has."""
    match part:
        case Text() | Refusal() | Thinking():
            return replace(part, text=text)
        case Call():
            return replace(part, arguments=text)
    return part
