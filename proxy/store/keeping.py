"""An answer on its way to the client, and into the store."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw
from prometheus_client import Counter

from toolwire.proxy.answer import AnswerSend, header, is_stream, without
from toolwire.proxy.asgi import Headers, Scope, Send
from toolwire.proxy.exchange import Exchange
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.neutral import Loss
from toolwire.proxy.protocols.sse import Event
from toolwire.proxy.store.conversation import fields, stored_response, value, with_fields
from toolwire.proxy.store.interface import Store, StoreUnavailable
from toolwire.proxy.store.resolving import Resolved

DROPPED = b"x-toolwire-dropped"

NOT_KEPT = Counter("toolwire_responses_not_kept", "Answers that the response store did not take")

_LAST = {"response.completed", "response.incomplete"}
_WITH_RESPONSE = _LAST | {
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.failed",
}
"""The events that hold the whole response object."""


class KeptAnswer(AnswerSend):
    """One answer on its way to the client, and into the store."""

    def __init__(
        self, scope: Scope, send: Send, store: Store, owner: str, resolved: Resolved
    ) -> None:
        super().__init__(scope, send)
        self._exchange = Exchange.of(scope)
        self._store = store
        self._owner = owner
        self._resolved = resolved
        self._keeps = self._refused = False
        self._last: tuple[Event, Raw] | None = None

    def wants_stream(self, status: int, headers: Headers) -> bool:
        return status == 200 and is_stream(headers) and self._has_work()

    def wants_body(self, status: int, headers: Headers) -> bool:
        return (
            status == 200
            and b"json" in header(headers, b"content-type").lower()
            and self._has_work()
        )

    def _has_work(self) -> bool:
        """Decides at the head of the answer, for then the upstream is known."""
        upstream = self._exchange.upstream
        native = upstream is not None and upstream.protocol == "responses"
        keep = self._resolved.keep
        self._keeps = not native and keep is not False and not self._store.absent
        self._refused = not native and keep is True and bool(self._store.absent)
        return self._keeps or self._refused or bool(self._resolved.previous)

    # a stream -------------------------------------------------------------------------------
    def head(self, status: int, headers: Headers) -> tuple[int, Headers]:
        if self._keeps:
            self._store.prepare()
        if self._refused:
            self._lose(self._store.absent)
        if self._refused or (self._keeps and self._store.failing):
            headers = _with_dropped(headers)
        return status, headers

    def events(self, events: list[Event]) -> list[Event]:
        return [self._seen(event) for event in events]

    def _seen(self, event: Event) -> Event:
        name = event.name or _type(event)
        if name not in _WITH_RESPONSE or event.data is None:
            return event
        try:
            data = fields(event.data)
            response = self._echoing(data["response"])
        except (KeyError, ValueError):
            return event  # not what it says it is
        if self._resolved.previous:
            event = Event(msgspec.json.encode({**data, "response": response}), event.name)
        if name in _LAST:
            self._last = event, response
        return event

    async def send_events(self, events: list[Event], *, more: bool) -> None:
        last, self._last = self._last, None
        if last is not None and self._keeps:
            place = next(n for n, event in enumerate(events) if event is last[0])
            if place:  # what comes before need not wait
                await super().send_events(events[:place], more=True)
            events = events[place:]
            await self._save(last[1])
        await super().send_events(events, more=more)

    # a whole answer -------------------------------------------------------------------------
    async def finish_body(self) -> None:
        try:
            response = self._echoing(Raw(self.held))
        except ValueError:
            response = Raw(self.held)  # no response object: it passes as it is
        self._pieces = [bytes(response)]
        if self._refused:
            self._lose(self._store.absent)
        if self._refused or not await self._save(response):
            self._head["headers"] = _with_dropped(self._head["headers"])
        await super().finish_body()

    # both -----------------------------------------------------------------------------------
    def _echoing(self, response: Raw) -> Raw:
        """The response, with the id that was taken off the request."""
        previous = self._resolved.previous
        if not previous:
            return response
        return with_fields(response, {"previous_response_id": Raw(json.encode(previous))})

    async def _save(self, response: Raw) -> bool:
        """Whether nothing was lost."""
        if not self._keeps:
            return True
        try:
            kept = stored_response(self._owner, response, self._resolved.input())
        except ValueError:
            return True  # no response object, so nothing that could be asked for again
        try:
            if kept is not None:
                await self._store.save(kept)
        except StoreUnavailable as error:
            self._lose(error.message)
            return False
        return True

    def _lose(self, why: str) -> None:
        NOT_KEPT.inc()
        self._exchange.losses.append(Loss("store", "dropped", why))


def _type(event: Event) -> Any:
    """The ``type`` of an event that came without its ``event:`` line."""
    try:
        return value(fields(event.data or b"").get("type"))
    except ValueError:
        return None


def _with_dropped(headers: Headers) -> Headers:
    """The report header says that ``store`` was not carried out, beside what else it says."""
    named = header(headers, DROPPED)
    return [*without(headers, DROPPED), (DROPPED, named + b", store" if named else b"store")]
