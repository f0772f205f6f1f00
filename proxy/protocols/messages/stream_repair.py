"""The events of a Messages upstream, made what the protocol says.

https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from enum import Enum
from typing import Any

from toolwire.proxy.protocols import json, sse
from toolwire.proxy.protocols.messages.errors import stream_failure, write_failure
from toolwire.proxy.protocols.messages.repair import corrected_reason, repair_block, repair_head
from toolwire.proxy.protocols.messages.response import read_usage
from toolwire.proxy.protocols.messages.stream_reader import BROKEN_OFF
from toolwire.proxy.protocols.messages.wire import NAMES
from toolwire.proxy.protocols.neutral import Failure, Usage
from toolwire.proxy.protocols.sse import Event


class _State(Enum):
    RUNNING = "the stop reason is still owed"
    STOPPED = "the stop reason came"
    OVER = "message_stop or an error came"


class MessagesStreamRepair:
    """Looks into what begins or ends something; a delta that has its name passes unread."""

    def __init__(self) -> None:
        self.repairs: Counter[str] = Counter()
        self._state = _State.RUNNING
        self._open: Any = None
        """The index of the block that is open."""
        self._stopped: list[Any] = []
        """The indices of blocks that were stopped here, whose own stop may still come: llama.cpp
        stops all its blocks in the end, and signs its thinking with nothing before."""
        self._called = False
        self._usage: dict[str, Any] = {}

    @property
    def usage(self) -> Usage | None:
        return read_usage(self._usage) if self._usage else None

    @property
    def finished(self) -> bool:
        return self._state is _State.OVER

    def feed(self, events: list[Event]) -> list[Event]:
        repaired: list[Event] = []
        for event in events:
            if event.data is None:
                repaired.append(event)
            elif self._state is _State.OVER:
                self.repairs["dropped_after_the_end"] += 1
            elif event.name == "content_block_delta" and not self._stopped:
                repaired.append(event)
            elif event.data.strip() == sse.DONE:
                self.repairs["done_dropped"] += 1
            else:
                repaired += self._repaired(event, event.data)
        return repaired

    def passes(self, data: bytes) -> bool:
        return False

    def close(self, failure: Failure | None = None) -> list[Event]:
        """``message_stop`` where it alone is missing, an error where the answer is not whole."""
        if self._state is _State.OVER:
            return []
        if self._state is _State.RUNNING:
            return self._fail(failure or BROKEN_OFF)
        self._state = _State.OVER
        self.repairs["message_stop_added"] += 1
        return [_event({"type": "message_stop"})]

    def _repaired(self, event: Event, data: bytes) -> list[Event]:
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
        if document.get("index") in self._stopped and self._is_late(kind, document):
            self.repairs["late_block_event_dropped"] += 1
            return []
        before = self.repairs.total()
        ahead = _REPAIRS[kind](self, document) if kind in _REPAIRS else []
        if self.repairs.total() != before + len(ahead):
            event = Event(json.encode(document), event.name)
        if event.name != kind:
            self.repairs["event_name_added"] += 1
            event = Event(event.data, kind)
        return [*ahead, event]

    def _is_late(self, kind: str, document: dict[str, Any]) -> bool:
        """Whether nothing is lost without this event of a block that was stopped here."""
        if kind == "content_block_stop":
            self._stopped.remove(document["index"])
            return True
        delta = document.get("delta")
        told = delta.items() if isinstance(delta, dict) else ()
        return kind == "content_block_delta" and not any(v for n, v in told if n != "type")

    def _message_start(self, document: dict[str, Any]) -> list[Event]:
        message = document.get("message")
        if not isinstance(message, dict):
            message = document["message"] = {}
        for name, value in (("content", []), ("stop_reason", None)):
            if name not in message:
                message[name] = value
                self.repairs["message_fields_added"] += 1
        repair_head(message, self.repairs)
        self._usage.update(message["usage"])
        return []

    def _block_start(self, document: dict[str, Any]) -> list[Event]:
        ahead = self._stop_block()
        block = document.get("content_block")
        if isinstance(block, dict):
            repair_block(block, self.repairs)
            self._called = self._called or block.get("type") == "tool_use"
        self._open = document.get("index")
        return ahead

    def _block_stop(self, document: dict[str, Any]) -> list[Event]:
        self._open = None
        return []

    def _message_delta(self, document: dict[str, Any]) -> list[Event]:
        ahead = self._stop_block()
        delta = document.get("delta")
        if not isinstance(delta, dict):
            delta = document["delta"] = {}
        if reason := delta.get("stop_reason"):
            self._state = _State.STOPPED
            sequence = delta.get("stop_sequence")
            corrected = corrected_reason(reason, called=self._called, sequence=sequence)
            if corrected != reason:
                delta["stop_reason"] = corrected
                self.repairs["stop_reason_corrected"] += 1
        if "stop_sequence" not in delta:
            delta["stop_sequence"] = None
            self.repairs["stop_sequence_added"] += 1
        usage = document.get("usage")
        if not isinstance(usage, dict):
            usage = document["usage"] = {}
        if usage.get("output_tokens") is None:
            usage["output_tokens"] = self._usage.get("output_tokens", 0)
            self.repairs["usage_added"] += 1
        # running totals; what is not told again is as before
        self._usage.update({name: v for name, v in usage.items() if v is not None})
        return ahead

    def _message_stop(self, document: dict[str, Any]) -> list[Event]:
        ahead = self._stop_block()
        if self._state is _State.RUNNING:
            reason = corrected_reason(None, called=self._called)
            delta = {"stop_reason": reason, "stop_sequence": None}
            usage = {"output_tokens": self._usage.get("output_tokens", 0)}
            ahead.append(_event({"type": "message_delta", "delta": delta, "usage": usage}))
            self.repairs["stop_reason_added"] += 1
        self._state = _State.OVER
        return ahead

    def _error(self, document: dict[str, Any]) -> list[Event]:
        self._state = _State.OVER
        error = document.get("error")
        if not isinstance(error, dict) or not isinstance(error.get("message"), str):
            told = write_failure(stream_failure(document))
            document.clear()
            document.update(told)
            self.repairs["error_shaped"] += 1
        return []

    def _stop_block(self) -> list[Event]:
        """The end of the block that is open still, if any."""
        if self._open is None:
            return []
        event = _event({"type": "content_block_stop", "index": self._open})
        self._stopped.append(self._open)
        self._open = None
        self.repairs["block_stop_added"] += 1
        return [event]

    def _fail(self, failure: Failure) -> list[Event]:
        self._state = _State.OVER
        self.repairs["error_added"] += 1
        return [_event(write_failure(failure))]


_REPAIRS: dict[str, Callable[[MessagesStreamRepair, dict[str, Any]], list[Event]]] = {
    "message_start": MessagesStreamRepair._message_start,
    "content_block_start": MessagesStreamRepair._block_start,
    "content_block_stop": MessagesStreamRepair._block_stop,
    "message_delta": MessagesStreamRepair._message_delta,
    "message_stop": MessagesStreamRepair._message_stop,
    "error": MessagesStreamRepair._error,
}


def _event(document: dict[str, Any]) -> Event:
    return Event(json.encode(document), document["type"])
