"""The events of a Messages upstream, made what the protocol says.

https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from enum import Enum
from typing import Any

from toolwire.proxy.errors import BadUpstreamAnswer
from toolwire.proxy.protocols import json, sse
from toolwire.proxy.protocols.failure import from_exception
from toolwire.proxy.protocols.messages.errors import stream_failure, write_failure
from toolwire.proxy.protocols.messages.repair import corrected_reason, repair_end, repair_head
from toolwire.proxy.protocols.messages.repaired_blocks import NOTHING, RepairedBlocks
from toolwire.proxy.protocols.messages.response import read_usage
from toolwire.proxy.protocols.messages.stream_reader import BROKEN_OFF
from toolwire.proxy.protocols.messages.wire import NAMES
from toolwire.proxy.protocols.neutral import Failure, Usage
from toolwire.proxy.protocols.sse import Event


class _State(Enum):
    NEW = "nothing yet"
    RUNNING = "the stop reason is still owed"
    STOPPED = "the stop reason came"
    OVER = "message_stop or an error came"


class MessagesStreamRepair:
    """Looks into what begins or ends something; a delta that begins like the one before passes
    unread.  The stop reason goes behind what else is in its read, and behind blocks that are not
    over; where blocks come later still it is said again after them.

    ``model`` is for a message that begins without its head.
    """

    def __init__(self, model: str = "") -> None:
        self.repairs: Counter[str] = Counter()
        self._model = model
        self._state = _State.NEW
        self._blocks = RepairedBlocks(self.repairs)
        self._ends: list[tuple[Event, dict[str, Any]]] = []
        self._last_end: dict[str, Any] = {}
        """The end that is out, where blocks came after it."""
        self._ends_again = False
        self._usage: dict[str, Any] = {}

    @property
    def usage(self) -> Usage | None:
        return read_usage(self._usage) if self._usage else None

    @property
    def finished(self) -> bool:
        return self._state in (_State.STOPPED, _State.OVER)

    def feed(self, events: list[Event]) -> list[Event]:
        repaired: list[Event] = []
        blocks = self._blocks
        prefix, heard = blocks.prefix, blocks.heard
        for event in events:
            data = event.data
            if data is None:
                repaired.append(event)
            elif data.startswith(prefix) and event.name == "content_block_delta":
                if heard is not None:
                    heard.append(data)
                repaired.append(event)
            else:
                repaired += self._repaired(event, data)
                prefix, heard = blocks.prefix, blocks.heard
        if self._ends and blocks.all_over:
            repaired += self._told_ends()
        return repaired

    def passes(self, data: bytes) -> bool:
        return False

    def close(self, failure: Failure | None = None) -> list[Event]:
        """``message_stop`` where it alone is missing, an error where the answer is not whole."""
        if self._state is _State.OVER:
            return []
        if self._state is not _State.STOPPED:
            return self._fail(failure or BROKEN_OFF)
        self.repairs["message_stop_added"] += 1
        return [*self._ended(), _event({"type": "message_stop"})]

    def _repaired(self, event: Event, data: bytes) -> list[Event]:
        if self._state is _State.OVER:
            self.repairs["dropped_after_the_end"] += 1
            return []
        if event.name == "content_block_delta" and self._blocks.passes(data):
            return [event]
        if data.strip() == sse.DONE:
            self.repairs["done_dropped"] += 1
            return []
        if sse.says_nothing(data):
            self.repairs["empty_event_dropped"] += 1
            return []
        try:
            document = json.decode(data)
        except ValueError:
            return self._fail(Failure(502, "the upstream sent an event that is no JSON"))
        if not isinstance(document, dict):
            return [event]
        kind = document.get("type")
        if document.get("error") and kind not in NAMES:
            return self._fail(stream_failure(document))
        if not isinstance(kind, str):
            return [event]
        if kind in _REPAIR_CONTENT:
            return self._content(kind, event, document)
        return _REPAIRS.get(kind, MessagesStreamRepair._named)(self, event, document)

    def _content(self, kind: str, event: Event, document: dict[str, Any]) -> list[Event]:
        head = self._begun()
        if self._state is _State.STOPPED:
            self.repairs["content_after_the_stop_reason"] = 1
            self._ends_again = bool(self._last_end)
        try:
            return [*head, *_REPAIR_CONTENT[kind](self._blocks, event, document)]
        except BadUpstreamAnswer as error:
            return [*head, *self._fail(from_exception(error))]

    def _named(
        self, event: Event, document: dict[str, Any], *, changed: bool = False
    ) -> list[Event]:
        """The event, encoded anew where it was ``changed``, under the name of its type."""
        kind = document["type"]
        if changed:
            event = Event(json.encode(document), event.name)
        if event.name != kind:
            self.repairs["event_name_added"] += 1
            event = Event(event.data, kind)
        return [event]

    def _begun(self) -> list[Event]:
        """The head of the message, where the upstream left it out."""
        if self._state is not _State.NEW:
            return []
        self.repairs["message_start_added"] += 1
        document = {"type": "message_start", "message": {"model": self._model}}
        self._complete_head(document, Counter())
        return [_event(document)]

    def _complete_head(self, document: dict[str, Any], repairs: Counter[str]) -> None:
        message = document.get("message")
        if not isinstance(message, dict):
            message = document["message"] = {}
        for name, value in (("content", []), ("stop_reason", None)):
            if name not in message or type(message[name]) is not type(value):
                message[name] = value
                repairs["message_fields_added"] += 1
        repair_head(message, repairs)
        self._usage.update(message["usage"])
        self._state = _State.RUNNING

    def _message_start(self, event: Event, document: dict[str, Any]) -> list[Event]:
        if self._state is not _State.NEW:
            self.repairs["message_start_repeated"] += 1
            return []
        before = self.repairs.total()
        self._complete_head(document, self.repairs)
        return self._named(event, document, changed=self.repairs.total() != before)

    def _message_delta(self, event: Event, document: dict[str, Any]) -> list[Event]:
        head = self._begun()
        delta, usage = document.get("delta"), document.get("usage")
        if isinstance(delta, dict) and delta.get("stop_reason"):
            self._state = _State.STOPPED
        if isinstance(usage, dict):
            # running totals; what is not told again is as before
            self._usage.update({name: v for name, v in usage.items() if v is not None})
        self._ends.append((event, document))
        return head

    def _message_stop(self, event: Event, document: dict[str, Any]) -> list[Event]:
        if self._state is _State.NEW:
            return self._fail(BROKEN_OFF)
        unreasoned = self._state is _State.RUNNING
        out = self._ended()
        if unreasoned:
            reason = corrected_reason(None, called=self._blocks.called)
            delta = {"stop_reason": reason, "stop_sequence": None}
            usage = {"output_tokens": self._usage.get("output_tokens", 0)}
            out.append(_event({"type": "message_delta", "delta": delta, "usage": usage}))
            self.repairs["stop_reason_added"] += 1
        return [*out, *self._named(event, document)]

    def _ended(self) -> list[Event]:
        """The ends of the blocks, and then what waited for them."""
        out = [*self._blocks.close(), *self._told_ends()]
        self._state = _State.OVER
        if self._ends_again:
            repair_end(self._last_end, self._usage, self.repairs, called=self._blocks.called)
            out.append(_event(self._last_end))
        return out

    def _told_ends(self) -> list[Event]:
        """Each ``message_delta`` that waited."""
        out: list[Event] = []
        for event, document in self._ends:
            before = self.repairs.total()
            repair_end(document, self._usage, self.repairs, called=self._blocks.called)
            out += self._named(event, document, changed=self.repairs.total() != before)
            if document["delta"].get("stop_reason"):
                self._last_end = document
        self._ends = []
        return out

    def _error(self, event: Event, document: dict[str, Any]) -> list[Event]:
        self._over()
        error = document.get("error")
        shaped = isinstance(error, dict) and isinstance(error.get("message"), str)
        if not shaped:
            document = write_failure(stream_failure(document))
            self.repairs["error_shaped"] += 1
        return self._named(event, document, changed=not shaped)

    def _fail(self, failure: Failure) -> list[Event]:
        self._over()
        self.repairs["error_added"] += 1
        return [_event(write_failure(failure))]

    def _over(self) -> None:
        self._state = _State.OVER
        self._ends = []
        self._blocks.prefix = NOTHING


_REPAIRS: dict[str, Callable[[MessagesStreamRepair, Event, dict[str, Any]], list[Event]]] = {
    "message_start": MessagesStreamRepair._message_start,
    "message_delta": MessagesStreamRepair._message_delta,
    "message_stop": MessagesStreamRepair._message_stop,
    "error": MessagesStreamRepair._error,
}
_REPAIR_CONTENT: dict[str, Callable[[RepairedBlocks, Event, dict[str, Any]], list[Event]]] = {
    "content_block_start": RepairedBlocks.start,
    "content_block_delta": RepairedBlocks.delta,
    "content_block_stop": RepairedBlocks.stop,
}


def _event(document: dict[str, Any]) -> Event:
    return Event(json.encode(document), document["type"])
