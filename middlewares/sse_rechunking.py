"""Lets only whole, well-formed events through, whatever the upstream's reads and oddities are.

Reads that end inside an event, a line end or a character come out as whole events; what an upstream
left out or got wrong is repaired by the rules of its protocol, and events that need no repair pass
byte for byte.  Several events of one read leave in one write.  While the upstream is silent a
keep-alive goes out.  A stream that breaks off ends in the protocol's own error event.

With ``flush = "budget"`` plain deltas are held for up to ``flush_ms`` or ``flush_bytes``, to save
writes; never the first event, a block border, or the end.

Stands innermost, so that whatever is outside sees whole events.

    [middlewares.sse_rechunking]
    enabled = true
    keep_alive_seconds = 15.0
    flush = "read"          # or "budget":
    flush_ms = 20
    flush_bytes = 4096
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import re
from typing import Annotated, Literal

from msgspec import Meta

from toolwire import config
from toolwire.proxy.answer import AnswerSend, is_stream, request_id_of, without
from toolwire.proxy.asgi import ASGIApp, Headers, Receive, Scope, Send
from toolwire.proxy.errors import UpstreamCut, UpstreamError
from toolwire.proxy.exchange import Exchange, asked_for_stream, endpoint, known_request
from toolwire.proxy.protocols import failure
from toolwire.proxy.protocols.codec import Codec, StreamRepair
from toolwire.proxy.protocols.sse import Event

STREAM_HEADERS: Headers = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),  # nginx would hold the stream back
]


class Options(config.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    keep_alive_seconds: Annotated[float, Meta(ge=0)] = 15.0
    """How long a stream may be silent before a keep-alive goes out; 0: none does."""

    flush: Literal["read", "budget"] = "read"
    """``read``: what came in one read leaves in one write, at once."""

    flush_ms: Annotated[int, Meta(ge=1, le=1000)] = 20
    flush_bytes: Annotated[int, Meta(ge=1)] = 4096


class SSERechunking:
    """See the module."""

    def __init__(self, app: ASGIApp, options: Options | None = None) -> None:
        self.app = app
        self.options = options or Options()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        codec = endpoint(scope)
        if codec is None:
            await self.app(scope, receive, send)
            return
        rechunk = _Rechunk(scope, send, codec, receive, self.options)
        try:
            await rechunk.run(self.app, scope, receive)
        finally:
            rechunk.stop()


class _Rechunk(AnswerSend):
    """One stream: its repair, and the clocks that send what is held, or a keep-alive."""

    def __init__(
        self, scope: Scope, send: Send, codec: Codec, receive: Receive, options: Options
    ) -> None:
        super().__init__(scope, send)
        self._scope = scope
        self._codec = codec
        self._receive = receive
        self._options = options
        self._exchange = Exchange.of(scope)
        self._repair: StreamRepair
        self._request_id = ""
        self._streaming = False
        self._loop = asyncio.get_running_loop()
        self._alarm: asyncio.TimerHandle | None = None
        self._flush: asyncio.TimerHandle | None = None
        self._sending: asyncio.Task[None] | None = None
        self._waiting: list[Event] = []
        self._waiting_bytes = 0
        self._begun = False
        self._last_sent = self._loop.time()

    def wants_stream(self, status: int, headers: Headers) -> bool:
        if status != 200 or not is_stream(headers):
            return False
        # one that nobody asked for becomes a whole answer further out, or the error that cut it
        return asked_for_stream(self._scope, self._receive) is not False

    def head(self, status: int, headers: Headers) -> tuple[int, Headers]:
        profile = self._exchange.profile({})
        self._repair = self._codec.stream_repair(
            think_tags=profile.think_tags, request=known_request(self._receive)
        )
        self._request_id = request_id_of(headers, self._exchange)
        self._streaming = True
        self._last_sent = self._loop.time()
        if seconds := self._options.keep_alive_seconds:
            self._alarm = self._loop.call_later(seconds, self._on_silence)
        return status, [*without(headers, *(name for name, _ in STREAM_HEADERS)), *STREAM_HEADERS]

    def events(self, events: list[Event]) -> list[Event]:
        return self._repair.feed(events)

    def last_events(self) -> list[Event]:
        if self._repair.finished:
            return self._finished(self._repair.close())
        cut = UpstreamCut("the upstream's stream broke off: it ended before its answer did")
        self._exchange.error = cut.message
        return self.broken_off(cut)

    def broken_off(self, error: UpstreamError) -> list[Event]:
        told = failure.from_exception(error, self._request_id)
        return self._finished(self._repair.close(told))

    def _finished(self, events: list[Event]) -> list[Event]:
        self._exchange.changes.update(self._repair.repairs)
        self._exchange.usage = self._repair.usage
        return events

    async def feed_bytes(self, data: bytes, *, more: bool) -> None:
        if more and self._passes(data):
            self._last_sent = math.inf
            await self._send({"type": "http.response.body", "body": data, "more_body": True})
            self._last_sent = self._loop.time()
        else:
            await super().feed_bytes(data, more=more)

    def _passes(self, data: bytes) -> bool:
        """Whether this read can go out as it came, for clients that get bytes: most can."""
        return (
            self.decoder is not None
            and self.decoder.at_border
            and not self.decoded_outwards
            and self._options.flush == "read"
            and self._repair.passes(data)
        )

    async def send_events(self, events: list[Event], *, more: bool) -> None:
        if more and self._options.flush == "budget" and self._may_wait(events):
            self._hold(events)
        else:
            await self._write(events, more=more)

    async def _write(self, events: list[Event], *, more: bool) -> None:
        """Sends what waits and ``events``.  As long as the client takes it nothing else is due."""
        events, self._waiting, self._waiting_bytes = [*self._waiting, *events], [], 0
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        self._begun = True
        self._last_sent = math.inf
        await super().send_events(events, more=more)
        self._last_sent = self._loop.time()

    def stop(self) -> None:
        """The stream is over, or was abandoned."""
        if self._streaming and not self.ended:
            self._finished([])
        self.ended = True
        for clock in (self._alarm, self._flush, self._sending):
            if clock is not None:
                clock.cancel()

    # holding back ---------------------------------------------------------------------------
    def _may_wait(self, events: list[Event]) -> bool:
        """Whether these are deltas alone, not the first of the stream, and within the budget."""
        size = self._waiting_bytes + sum(len(event.data or b"") for event in events)
        within = self._begun and size < self._options.flush_bytes
        return within and all(_is_delta(self._codec.name, event) for event in events)

    def _hold(self, events: list[Event]) -> None:
        self._waiting += events
        self._waiting_bytes += sum(len(event.data or b"") for event in events)
        if self._flush is None:
            self._flush = self._loop.call_later(self._options.flush_ms / 1000, self._on_budget)

    def _on_budget(self) -> None:
        self._flush = None
        self._send_aside([])

    # keep-alives ----------------------------------------------------------------------------
    def _on_silence(self) -> None:
        seconds = self._options.keep_alive_seconds
        left = self._last_sent + seconds - self._loop.time()
        if left <= 0:
            if not self._repair.finished:  # nobody waits for more
                self._send_aside([self._codec.keep_alive()])
            left = seconds
        self._alarm = self._loop.call_later(min(left, seconds), self._on_silence)

    def _send_aside(self, events: list[Event]) -> None:
        """Sends what is due though the upstream sent nothing: one such write at a time."""
        if self._sending is None or self._sending.done():
            self._sending = self._loop.create_task(self._write_aside(events))

    async def _write_aside(self, events: list[Event]) -> None:
        while not self.ended and (events or self._waiting):
            # a client that is gone is noticed by the next write, which somebody waits for
            with contextlib.suppress(OSError):
                await self._write(events, more=True)
            events = []


def _is_delta(protocol: str, event: Event) -> bool:
    """Whether the event is a piece of text or arguments, and no border of a block."""
    if event.data is None:
        return False
    if protocol != "chat":
        name = event.name or ""
        return name.endswith("delta") and name != "message_delta"
    return _CHAT_BORDER.search(event.data) is None


_CHAT_BORDER = re.compile(
    rb'"finish_reason"\s*:\s*"|"tool_calls"|"error"|"usage"\s*:\s*\{|^\[DONE\]'
)
