"""The way back across the border: an answer, error or stream in the client's protocol."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from toolwire.proxy.answer import events_in
from toolwire.proxy.errors import BadUpstreamAnswer
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.codec import Codec, StreamReader, StreamRepair, StreamWriter
from toolwire.proxy.protocols.collect import Collector, of_input
from toolwire.proxy.protocols.convert import Converted
from toolwire.proxy.protocols.neutral import (
    Answer,
    Call,
    Failure,
    Losses,
    Part,
    Start,
    StreamEvent,
    StreamFailure,
    Thinking,
    Usage,
)
from toolwire.proxy.protocols.restore import NAMELESS, Restorer
from toolwire.proxy.protocols.sse import Event


class AnswerConversion:
    """One answer.  ``remember`` is told its parts, so that thinking can be put back later;
    ``losses`` are what it could not carry, by the path in the client's answer; those of a stream
    are known at its end."""

    def __init__(
        self,
        client: Codec,
        upstream: Codec,
        converted: Converted,
        *,
        remember: Callable[[list[Part]], None],
        vendor: str,
        think_tags: bool = False,
    ) -> None:
        self._client = client
        self._upstream = upstream
        self._request = converted.request
        self._document = converted.document
        self._renaming = converted.renaming
        self._remember = remember
        self._vendor = vendor
        self.streaming = converted.request.stream
        self._think_tags = think_tags
        self.losses = Losses()
        self.request_id: str | None = None
        """For errors that come without one."""

    @cached_property
    def stream(self) -> StreamConversion:
        """The answer as a stream, for a client that asked for one."""
        return StreamConversion(
            self._upstream.stream_repair(think_tags=self._think_tags),
            self._upstream.stream_reader(),
            Restorer(self._renaming, self._vendor),
            self._client.stream_writer(self._request, self.losses),
            self._remember,
            self._identified,
        )

    def error(self, status: int, body: bytes) -> bytes:
        """An upstream's error in the client's shape."""
        told = self._identified(self._upstream.read_failure(status, body))
        return json.encode(self._client.write_failure(told))

    def _identified(self, told: Failure) -> Failure:
        return replace(told, request_id=told.request_id or self.request_id)

    def answer(self, document: Any) -> dict[str, Any]:
        """A whole answer, as a document of the upstream's protocol."""
        return self._client.write_answer(self._read(document), self._request, self.losses)

    def _read(self, document: Any) -> Answer:
        answer = self._upstream.read_answer(self._repaired(document))
        for place, part in enumerate(answer.parts):
            if isinstance(part, Call):
                if not part.name:
                    raise BadUpstreamAnswer(NAMELESS)
                answer.parts[place] = self._renaming.call(part)
            elif isinstance(part, Thinking):
                part.vendor = self._vendor
        self._remember(answer.parts)
        return answer

    def _repaired(self, document: Any) -> dict[str, Any]:
        if not isinstance(document, dict):
            raise BadUpstreamAnswer("the upstream's answer is no JSON object")
        self._upstream.repair_answer(document, think_tags=self._think_tags)
        return document

    def collected(self, body: bytes) -> dict[str, Any]:
        """A stream that came though none was asked for, as the document of a whole answer."""
        return self._upstream.collected(events_in(body))

    def spelled_out(self, document: Any) -> list[Event]:
        """A whole answer that came though a stream was asked for, as a stream."""
        answer = self._upstream.read_answer(self._repaired(document))  # raises where it is an error
        told = self._upstream.spelled_out(document, self._document)
        self.stream.known = answer.usage
        return [*self.stream.events(told), *self.stream.close()]


class StreamConversion:
    """One answer's stream.  ``known`` are the token counts, where they are known before it begins:
    of a whole answer."""

    def __init__(
        self,
        repair: StreamRepair,
        reader: StreamReader,
        restorer: Restorer,
        writer: StreamWriter,
        remember: Callable[[list[Part]], None],
        identified: Callable[[Failure], Failure],
    ) -> None:
        self._repair = repair
        self._reader = reader
        self._restorer = restorer
        self._writer = writer
        self._remember = remember
        self._identified = identified
        self._collector = Collector()
        self.known: Usage | None = None

    def events(self, events: list[Event], *, repaired: bool = False) -> list[Event]:
        """What the client gets for these events of the upstream; ``repaired``: somebody has done
        so, and they are well-formed."""
        if not repaired:
            events = self._repair.feed(events)
        neutral = self._neutral(events)
        if self.known is not None:
            neutral = [self._counted(event) for event in neutral]
        return self._written(self._restored(neutral))

    def close(self, *, repaired: bool = False) -> list[Event]:
        """The upstream's stream is over."""
        owed = [] if repaired else self.events(self._repair.close(), repaired=True)
        return [*owed, *self._written(self._restored(self._reader.close()))]

    def broken_off(self, failure: Failure) -> list[Event]:
        """The upstream's stream broke off, in this way."""
        return self._written([StreamFailure(self._identified(failure))])

    def _neutral(self, events: list[Event]) -> list[StreamEvent]:
        read = self._reader.read
        return [found for event in events for found in read(event)]

    def _counted(self, event: StreamEvent) -> StreamEvent:
        if type(event) is not Start:
            return event
        return replace(event, usage=event.usage or of_input(self.known))

    def _restored(self, events: list[StreamEvent]) -> list[StreamEvent]:
        restored = []
        collector, restore = self._collector, self._restorer.restore
        for event in events:
            if collector.failure is not None:
                break  # nothing follows
            for known in restore(event):
                collector.add(known)
                restored.append(known)
        if collector.failure is not None:
            restored = [self._told(event) for event in restored]
        if collector.complete:
            collector.complete = False
            self._remember(collector.result().parts)
        return restored

    def _told(self, event: StreamEvent) -> StreamEvent:
        if isinstance(event, StreamFailure):
            return StreamFailure(self._identified(event.failure))
        return event

    def _written(self, events: list[StreamEvent]) -> list[Event]:
        write = self._writer.write
        return [wire for event in events for wire in write(event)]
