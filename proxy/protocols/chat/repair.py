"""A chat stream as an upstream sent it, to one as the protocol has it.

Three steps, each dearer and rarer than the one before: a read full of text deltas that differ from
a faultless one in their text alone passes unseen (``PlainDelta``); a chunk that decodes into the
typed structs and has no fault passes as it came; all else is decoded, repaired and encoded again.

https://platform.openai.com/docs/api-reference/chat-streaming; what upstreams send instead is named
by the kinds that ``StreamRepair.repairs`` counts.
"""

from __future__ import annotations

import time
from typing import Any

from toolwire.proxy.protocols import json, sse
from toolwire.proxy.protocols.chat import usage as token_counts
from toolwire.proxy.protocols.chat.choice_repair import ChoiceRepair
from toolwire.proxy.protocols.chat.errors import (
    broken_stream,
    error_document,
    no_chunk,
    write_failure,
)
from toolwire.proxy.protocols.chat.plain_delta import PlainDelta
from toolwire.proxy.protocols.chat.split import split
from toolwire.proxy.protocols.chat.wire import Chunk, WireUsage, decode_chunk, usage_in
from toolwire.proxy.protocols.identifiers import random_id
from toolwire.proxy.protocols.neutral import Failure, Usage
from toolwire.proxy.protocols.sse import Event

OBJECT = "chat.completion.chunk"
_ROLE = b'"role":"assistant",'


class StreamRepair:
    """See ``codec.StreamRepair``.  ``think_tags`` moves ``<think>…</think>`` at the beginning of
    the visible text to ``reasoning_content``."""

    def __init__(self, *, think_tags: bool = False) -> None:
        self.repairs: dict[str, int] = {}
        self._think_tags = think_tags
        self._choices: dict[int, ChoiceRepair] = {}
        self._usage: WireUsage | None = None
        self._plain: PlainDelta | None = None
        self._over = False
        self._changed = False
        self._head: dict[str, Any] = {}

    @property
    def usage(self) -> Usage | None:
        """The token counts, as far as they came."""
        return token_counts.read(self._usage)

    @property
    def finished(self) -> bool:
        """Every choice has its finish reason, or the stream its end or error."""
        return self._over or (bool(self._choices) and not self._unfinished())

    def feed(self, events: list[Event]) -> list[Event]:
        if self._plain is not None:
            place = self._plain.leading(events)
            if place == len(events):
                return events
            repaired = events[:place]
        else:
            place, repaired = 0, []
        self._plain = None
        learned = self._think_tags
        while place < len(events):
            event = events[place]
            place += 1
            passed = self._plain_event(event)
            if passed is None:
                self._plain = None
                repaired += self._repair(event)
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
        if self.finished:
            self._over = True
            self._count("done_added")
            return [Event(sse.DONE)]
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
        passed = self._without_role(event, chunk) if choice.says_role_again(choices[0]) else event
        if passed is None or not choice.is_plain(choices[0]):
            return None
        if (counts := token_counts.of_chunk(chunk)) is not None:
            self._usage = counts
        if passed is not event:
            self._count("role_repeated")
        return passed

    def _without_role(self, event: Event, chunk: Chunk) -> Event | None:
        """The event without its role, cut out of its bytes; None where that is not so simple."""
        # inside of a string the quotes would be escaped
        if event.data is None or chunk.choices is None or event.data.count(_ROLE) != 1:
            return None
        if (delta := chunk.choices[0].delta) is not None:
            delta.role = None
        return Event(event.data.replace(_ROLE, b""), event.name, parsed=chunk)

    # ------------------------------------------------------------------------------ with fault
    def _repair(self, event: Event) -> list[Event]:
        if self._over:
            return []
        if event.data is None:
            return [event]
        if event.data.strip() == sse.DONE:
            return self._done(event)
        if not event.data.strip():
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
        return self._chunk(event, document)

    def _chunk(self, event: Event, document: dict[str, Any]) -> list[Event]:
        if "choices" not in document and not document.keys() & {"id", "object", "usage"}:
            return [event]  # nothing that we know
        self._changed = False
        repeated = self.repairs.get("finish_reason_repeated", 0)
        self._envelope(document)
        for choice in document["choices"]:
            self._choice(choice)
        if self.repairs.get("finish_reason_repeated", 0) > repeated and _says_nothing(document):
            if document.get("usage") is None:
                return []
            document["choices"] = []
        chunks = split(document)
        if len(chunks) > 1:
            self._count("chunk_split")
        if not self._changed:
            return [event]
        return [Event(json.encode(chunk), event.name) for chunk in chunks]

    def _envelope(self, document: dict[str, Any]) -> None:
        """Repairs what stands around the choices."""
        if not isinstance(document.get("choices"), list):
            self._count("choices_missing")
            document["choices"] = []
        if not all(isinstance(choice, dict) for choice in document["choices"]):
            self._count("choice_not_an_object")
            document["choices"] = [c for c in document["choices"] if isinstance(c, dict)]
        if not document.get("object"):
            self._count("object_added")
            document["object"] = OBJECT
        if document.get("id") is None:
            self._count("id_added")
            document["id"] = self._head.get("id") or random_id("chatcmpl-")
        if document.get("created") is None:
            self._count("created_added")
            document["created"] = self._head.get("created") or int(time.time())
        if document.get("model") is None and "model" in self._head:
            self._count("model_added")
            document["model"] = self._head["model"]
        self._head |= {
            name: document[name]
            for name in ("id", "object", "created", "model")
            if document.get(name)
        }
        if (counts := usage_in(document)) is not None:
            self._usage = counts

    def _choice(self, choice: dict[str, Any]) -> None:
        index = choice.get("index")
        if type(index) is not int:
            self._count("choice_index_added")
            index = choice["index"] = 0
        state = self._choices.get(index)
        if state is None:
            state = self._choices[index] = ChoiceRepair(self._think_tags)
        state.repair(choice, self._count)

    def _done(self, event: Event) -> list[Event]:
        """``[DONE]``: the upstream says that all is said, so a missing finish reason is added."""
        if not self._choices:
            return self._fail(broken_stream("ended before it began"))
        owed = [
            {"index": index, **state.end(self._count)}
            for index, state in self._unfinished().items()
        ]
        self._over = True
        if not owed:
            return [event]
        self._count("finish_reason_added")
        return [Event(json.encode({**self._head, "choices": owed})), event]

    def _fail(self, failure: Failure) -> list[Event]:
        self._over = True
        self._count("error_added")
        return [Event(json.encode(write_failure(failure)))]

    def _unfinished(self) -> dict[int, ChoiceRepair]:
        return {index: state for index, state in self._choices.items() if not state.finished}

    def _count(self, kind: str) -> None:
        self._changed = True
        self.repairs[kind] = self.repairs.get(kind, 0) + 1


def _says_nothing(document: dict[str, Any]) -> bool:
    """Whether no choice of a chunk has anything but empty fields in its delta."""
    return not any(value for choice in document["choices"] for value in choice["delta"].values())
