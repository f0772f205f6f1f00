"""Whole answers out of the events of their streams, in the neutral form."""

from __future__ import annotations

from msgspec.structs import replace

from toolwire.proxy.protocols.neutral import (
    Answer,
    Call,
    Delta,
    End,
    Failure,
    Finish,
    Part,
    PartEnd,
    PartStart,
    Refusal,
    Start,
    StreamEvent,
    StreamFailure,
    Text,
    Thinking,
    Usage,
    UsageReport,
)


class Collector:
    """Puts an answer together from the events of its stream.

    ``failure`` is set when the stream broke off; ``complete`` when it ended as it should.
    """

    def __init__(self) -> None:
        self.answer = Answer(id="", model="", parts=[], stop=None)
        self.failure: Failure | None = None
        self.complete = False
        self._parts: dict[int, Part] = {}
        self._texts: dict[int, list[str]] = {}

    def add(self, event: StreamEvent) -> None:
        """One more event."""
        match event:
            case Delta():  # first, for it is by far the most frequent
                self._texts[event.key].append(event.text)
            case PartStart():
                self._parts[event.key] = event.part
                self._texts[event.key] = []
            case PartEnd():
                self._end(event)
            case Start():
                self.answer.id, self.answer.model = event.id, event.model
                self.answer.created = event.created
                if event.usage is not None:
                    self.answer.usage = merged_usage(self.answer.usage, event.usage)
            case UsageReport():
                self.answer.usage = merged_usage(self.answer.usage, event.usage)
            case Finish():
                self.answer.stop = event.stop
                self.answer.stop_sequence = event.stop_sequence
            case StreamFailure():
                self.failure = event.failure
            case End():
                self.complete = True

    def result(self) -> Answer:
        """The answer so far, its parts in the order in which they began."""
        for key in list(self._texts):
            self._end(PartEnd(key))
        self.answer.parts = list(self._parts.values())
        return self.answer

    def _end(self, event: PartEnd) -> None:
        text = "".join(self._texts.pop(event.key, ()))
        begun = self._parts.get(event.key)
        if event.part is not None:
            self._parts[event.key] = event.part
        elif begun is not None and text:
            self._parts[event.key] = with_text(begun, text)


def with_text(part: Part, text: str) -> Part:
    """A copy of ``part`` with ``text`` after what it has."""
    match part:
        case Text() | Refusal() | Thinking():
            return replace(part, text=part.text + text)
        case Call():
            return replace(part, arguments=part.arguments + text)
    return part


def text_of(part: Part) -> str:
    """What the deltas of ``part`` spell out."""
    match part:
        case Text() | Refusal() | Thinking():
            return part.text
        case Call():
            return part.arguments
    return ""


def merged_usage(before: Usage | None, after: Usage) -> Usage:
    """Totals so far: each count is the last that was told."""
    if before is None:
        return after
    return Usage(
        input=before.input if after.input is None else after.input,
        output=before.output if after.output is None else after.output,
        cached=before.cached if after.cached is None else after.cached,
        cache_written=before.cache_written if after.cache_written is None else after.cache_written,
        reasoning=before.reasoning if after.reasoning is None else after.reasoning,
    )


def of_input(usage: Usage | None) -> Usage | None:
    """The counts that are known before anything is said: None where there are none."""
    if usage is None or usage.input is None:
        return None
    return Usage(input=usage.input, cached=usage.cached, cache_written=usage.cache_written)
