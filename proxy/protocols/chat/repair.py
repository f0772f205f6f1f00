"""A chat stream as an upstream sent it, to one as the protocol has it.

Three steps, each dearer and rarer than the one before: a read full of text deltas that differ from
a faultless one in their text alone passes unseen (``PlainDelta``); a chunk that decodes into the
typed structs and has no fault passes as it came; all else is decoded, repaired and encoded again.

https://platform.openai.com/docs/api-reference/chat-streaming; what upstreams send instead is named
by the kinds that ``StreamRepair.repairs`` counts.
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.errors import BadUpstreamAnswer
from toolwire.proxy.protocols import json, sse
from toolwire.proxy.protocols.chat import usage as token_counts
from toolwire.proxy.protocols.chat.choice_repair import ChoiceRepair
from toolwire.proxy.protocols.chat.early_stop import behind, is_early
from toolwire.proxy.protocols.chat.envelope import Envelope
from toolwire.proxy.protocols.chat.errors import (
    broken_stream,
    error_document,
    no_chunk,
    write_failure,
)
from toolwire.proxy.protocols.chat.finish_last import finish_last, says_something
from toolwire.proxy.protocols.chat.joined_choices import joined
from toolwire.proxy.protocols.chat.placeholder import Placeholder, placeholder
from toolwire.proxy.protocols.chat.plain_delta import PlainDelta, without_role
from toolwire.proxy.protocols.chat.split import split
from toolwire.proxy.protocols.chat.wire import decode_chunk
from toolwire.proxy.protocols.failure import from_exception
from toolwire.proxy.protocols.neutral import Failure, Usage
from toolwire.proxy.protocols.sse import Event


class StreamRepair:
    """See ``codec.StreamRepair``.  ``think_tags`` moves ``<think>…</think>`` at the beginning of
    the visible text to ``reasoning_content``."""

    def __init__(self, *, think_tags: bool = False, request: dict[str, Any] | None = None) -> None:
        self.repairs: dict[str, int] = {}
        self._think_tags = think_tags
        self._request = request
        self._choices: dict[int, ChoiceRepair] = {}
        self._envelope = Envelope()
        self._plain: PlainDelta | None = None
        self._over = False
        self._held: Placeholder | None = None
        self._stop: list[Event] = []
        self._changed = False

    @property
    def usage(self) -> Usage | None:
        """The token counts, as far as they came."""
        return token_counts.read(self._envelope.usage)

    @property
    def finished(self) -> bool:
        """Every choice has its finish reason, or the stream its end or error."""
        states = self._choices.values()
        return self._over or bool(self._stop or (states and all(one.finished for one in states)))

    def feed(self, events: list[Event]) -> list[Event]:
        if self._stop:
            events = behind(self._stop, events)
        if self._plain is not None:
            place = self._plain.leading(events)
            if place == len(events):
                return events
            repaired = events[:place]
        else:
            place, repaired = 0, []
        self._plain = None
        learned, ordered = self._think_tags, False
        while place < len(events):
            event = events[place]
            place += 1
            if self._held is not None and event.data is not None:
                repaired += self._after_placeholder(self._held, event)
                continue
            passed = self._plain_event(event)
            if passed is None:
                self._plain = None
                if not ordered and (moved := finish_last(event, events[place:])) is not None:
                    ordered, events, place = True, moved, 0
                    continue
                repaired += self._repair(event, is_last=place == len(events))
                continue
            repaired.append(passed)
            if passed is event and not learned:
                learned = True  # once in a read: where it does not fit, each try is for nothing
                self._plain = PlainDelta.learn(event)
                if self._plain is not None:
                    more = self._plain.leading(events[place:])
                    repaired += events[place : place + more]
                    place += more
        return repaired

    def passes(self, data: bytes) -> bool:
        return self._plain is not None and self._plain.spans(data)

    def close(self, failure: Failure | None = None) -> list[Event]:
        if self._over:
            return []
        if self._held is not None:
            held, self._held = self._held, None
            return [held.told(), *self.close(failure)]
        if self._stop:
            return [*self._repair(self._stop.pop()), *self.close(failure)]
        if self.finished and not (failure is not None and self._resumed()):
            self._over = True
            self._count("done_added")
            return [*self._owed(self._resumed()), Event(sse.DONE)]
        return self._fail(failure or broken_stream("broke off before it was complete"))

    # ------------------------------------------------------------------------- without fault
    def _plain_event(self, event: Event) -> Event | None:
        """The event itself where it is faultless and no more than a further piece, or a copy
        without a role that was said before, the most frequent fault; None for all else."""
        if event.data is None or self._over:
            return None
        chunk = decode_chunk(event.data)
        if chunk is None:
            return None
        event.parsed = chunk
        choices = chunk.choices
        if (
            not choices
            or len(choices) != 1
            or chunk.error is not None
            or chunk.id is None
            or not chunk.object
            or chunk.created is None
            or chunk.model is None
        ):
            return None
        choice = self._choices.get(choices[0].index)
        if choice is None:
            return None
        passed = without_role(event, chunk) if choice.says_role_again(choices[0]) else event
        if passed is None or not choice.is_plain(choices[0]):
            return None
        if (counts := token_counts.of_chunk(chunk)) is not None:
            self._envelope.usage = counts
        if passed is not event:
            self._count("role_repeated")
        return passed

    # ------------------------------------------------------------------------------ with fault
    def _repair(self, event: Event, *, is_last: bool = False) -> list[Event]:
        if self._over:
            return []
        if is_last and is_early(event, self._choices):
            self._stop = [event]
            return []
        if event.data is None:
            return [event]
        if event.data.strip() == sse.DONE:
            return self._done(event)
        if sse.says_nothing(event.data):
            self._count("empty_event")
            return []
        try:
            document = json.decode(event.data)
        except ValueError:
            return self._fail(no_chunk(event.data))
        if (error := error_document(document, event.name)) is not None:
            self._over = True
            return [event if error is document else Event(json.encode(error))]
        if not isinstance(document, dict):
            return self._fail(no_chunk(event.data))
        try:
            return self._chunk(event, document)
        except BadUpstreamAnswer as fault:
            return self._fail(from_exception(fault))

    def _chunk(self, event: Event, document: dict[str, Any]) -> list[Event]:
        if "choices" not in document and not document.keys() & {"id", "object", "usage"}:
            return [event]  # nothing that we know
        self._changed = False
        repeated = self.repairs.get("finish_reason_repeated", 0)
        self._envelope.repair(document, self._count)
        ahead = [] if document["choices"] else self._owed(self._resumed())
        document["choices"] = joined(document["choices"], "delta", self._count)
        for choice in document["choices"]:
            self._choice(choice)
        if self.repairs.get("finish_reason_repeated", 0) > repeated and not any(
            says_something(choice) for choice in document["choices"]
        ):
            if document.get("usage") is None:
                return []
            document["choices"] = []
        chunks = split(document)
        if len(chunks) > 1:
            self._count("chunk_split")
        made = [Event(json.encode(chunk), event.name) for chunk in chunks if self._changed]
        self._held = placeholder(made or [event], document, self._choices)
        return ahead if self._held is not None else [*ahead, *(made or [event])]

    def _after_placeholder(self, held: Placeholder, event: Event) -> list[Event]:
        """The event after one that was held, and in front of it that one, for what it was."""
        self._held = self._plain = None
        repaired = self._repair(event)
        if held.call.replaced:
            self._count("arguments_placeholder")
        if self._held is None or self._held.call is not held.call:
            held.call.doubtful = False
        return [held.told(), *repaired]

    def _choice(self, choice: dict[str, Any]) -> None:
        index = choice.get("index")
        if type(index) is not int:
            self._count("choice_index_added")
            index = choice["index"] = 0
        state = self._choices.get(index)
        if state is None:
            state = self._choices[index] = ChoiceRepair(self._think_tags, self._request)
        state.repair(choice, self._count)

    def _done(self, event: Event) -> list[Event]:
        """``[DONE]``: the upstream says that all is said, so a missing finish reason is added."""
        if not self._choices:
            return self._fail(broken_stream("ended before it began"))
        owed = self._owed(self._choices)
        self._over = True
        return [*owed, event]

    def _owed(self, states: dict[int, ChoiceRepair]) -> list[Event]:
        """The chunk that says how choices ended which it has not been said of yet, or not right."""
        ends = {index: state.end(self._count) for index, state in states.items()}
        owed = [{"index": index, **end} for index, end in ends.items() if end is not None]
        if not owed:
            return []
        return [
            Event(json.encode(chunk)) for chunk in split({**self._envelope.head, "choices": owed})
        ]

    def _fail(self, failure: Failure) -> list[Event]:
        self._over = True
        self._count("error_added")
        return [Event(json.encode(write_failure(failure)))]

    def _resumed(self) -> dict[int, ChoiceRepair]:
        """The choices that went on after their finish reason."""
        return {index: one for index, one in self._choices.items() if one.resumed}

    def _count(self, kind: str) -> None:
        self._changed = True
        self.repairs[kind] = self.repairs.get(kind, 0) + 1
