"""The way back: the plumbing of every middleware that changes an answer, written once.

``AnswerSend`` stands as the ``send`` of the inner app and sorts what comes: an event stream, or a
whole body.  Subclasses say what they do with each, as pure functions over data.

Between two of our own middlewares the events of a stream travel decoded, as a message
``{"type": "toolwire.events", "events": [Event, ...]}`` that the outer one offers through
``scope["extensions"]``.  The offer names the very ``send`` that takes it: a foreign middleware that
puts its own ``send`` between gets bytes, and what it makes of them is decoded anew.
"""

from __future__ import annotations

from asyncio import CancelledError
from typing import Any

from toolwire.proxy.asgi import ASGIApp, Headers, Message, Receive, Scope, Send
from toolwire.proxy.errors import BadUpstreamAnswer, ShuttingDown, UpstreamError
from toolwire.proxy.exchange import Exchange
from toolwire.proxy.protocols import json, sse
from toolwire.proxy.protocols.sse import Event

EVENTS = "toolwire.events"
MAX_ANSWER_BYTES = 256 * 1024 * 1024
"""A whole answer is held in memory; past this it is a fault."""

TOO_DEEP = "the upstream's answer is nested too deeply"
_TOO_DEEP = (RecursionError, json.NestedTooDeeply)


def takes_events(scope: Scope, send: Send) -> bool:
    """Whether ``send`` itself, and nobody around it, offers to take decoded events."""
    offer = (scope.get("extensions") or {}).get(EVENTS)
    return offer is not None and offer["send"] is send


def header(headers: Headers, name: bytes) -> bytes:
    """The first value of ``name`` (lower case), or ``b""``."""
    for key, value in headers:
        if key == name:
            return value
    return b""


def request_id_of(headers: Headers, exchange: Exchange) -> str:
    """By which id an answer can be asked after: the upstream's where it gave one, else our own.
    https://docs.anthropic.com/en/api/errors#request-id"""
    told = header(headers, b"request-id") or header(headers, b"x-request-id")
    return told.decode("latin-1") or exchange.request_id


def without(headers: Headers, *names: bytes) -> Headers:
    """``headers`` less those of ``names`` (lower case)."""
    return [pair for pair in headers if pair[0] not in names]


class AnswerSend:
    """A ``send`` that changes answers on their way out.

    ``wants_stream`` and ``wants_body`` choose at the head of the answer; what neither wants passes
    as it comes.
    """

    reads_events = True
    """Whether it looks at events.  One that does not takes them decoded only to pass them on so."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._send = send
        self.decoded_outwards = takes_events(scope, send)
        self._pass = self._whole = False
        self._head: dict[str, Any] = {}
        self._pieces: list[bytes] = []
        self._held = 0
        self.decoder: sse.Decoder | None = None
        self.came_decoded = False
        """Whether the events come from a middleware of ours, and so are well-formed already: what
        a body's bytes hold, ``sse_rechunking`` alone makes events for others of."""
        self.started = False
        self.ended = False

    # what a subclass says -------------------------------------------------------------------
    def wants_stream(self, status: int, headers: Headers) -> bool:
        """Whether the events of this answer are to go through ``events``."""
        return False

    def wants_body(self, status: int, headers: Headers) -> bool:
        """Whether this answer is to be held and go through ``body``."""
        return False

    def head(self, status: int, headers: Headers) -> tuple[int, Headers]:
        """The head of a stream."""
        return status, headers

    def events(self, events: list[Event]) -> list[Event]:
        """The events that the client gets for these."""
        return events

    def last_events(self) -> list[Event]:
        """What is still owed when the stream is over."""
        return []

    def broken_off(self, error: UpstreamError) -> list[Event]:
        """How the client learns that the stream broke off."""
        raise error

    def body(self, status: int, headers: Headers, body: bytes) -> tuple[int, Headers, bytes]:
        """A whole answer."""
        return status, headers, body

    # the plumbing ---------------------------------------------------------------------------
    def offer(self, scope: Scope) -> Scope:
        """The scope for the inner app, which may send decoded events where they help."""
        if not (self.reads_events or self.decoded_outwards):
            return scope
        extensions = {**(scope.get("extensions") or {}), EVENTS: {"send": self}}
        return {**scope, "extensions": extensions}

    async def run(self, app: ASGIApp, scope: Scope, receive: Receive) -> None:
        """Calls the inner app with this as its ``send``.

        A stream that breaks off ends in what ``broken_off`` says; before the first byte the error
        is somebody else's to answer.
        """
        try:
            await app(self.offer(scope), receive, self)
        except UpstreamError as error:
            if self.decoder is None or self.ended:
                raise
            Exchange.of(scope).error = error.message
            await self._end(self.broken_off(error))
        except CancelledError:  # the server's time to drain is over: this is the last that goes out
            if self.decoder is not None and not self.ended:
                await self._end(self.broken_off(ShuttingDown()))
            raise

    async def __call__(self, message: Message) -> None:
        kind = message["type"]
        if kind == "http.response.start":
            await self._start(message)
        elif kind == EVENTS and self._pass:
            await self.send_events(message["events"], more=message["more_body"])
        elif self._pass:
            await self._send(message)
        elif kind == EVENTS and self._whole:  # a stream that nobody asked for
            await self.feed_bytes(sse.encode(message["events"]), more=message["more_body"])
        elif kind == EVENTS:
            self.came_decoded = True
            await self._feed(message["events"], more=message["more_body"])
        elif kind == "http.response.body":
            await self.feed_bytes(message.get("body", b""), more=message.get("more_body", False))
        else:
            await self._send(message)

    async def _start(self, message: Message) -> None:
        status, headers = message["status"], message["headers"]
        if self.wants_stream(status, headers):
            self.decoder = sse.Decoder()
            status, headers = self.head(status, without(headers, b"content-length"))
            await self._send({**message, "status": status, "headers": headers})
            self.started = True
        elif self.wants_body(status, headers):
            self._whole = True
            self._head = dict(message)
        else:
            self._pass = self.started = True
            await self._send(message)

    async def feed_bytes(self, data: bytes, *, more: bool) -> None:
        """More of the answer, as bytes."""
        if self.decoder is not None:
            await self._feed(_decoded(self.decoder, data, last=not more), more=more)
            return
        self._pieces.append(data)
        self._held += len(data)
        if self._held > MAX_ANSWER_BYTES:
            raise BadUpstreamAnswer(f"the upstream's answer has more than {MAX_ANSWER_BYTES} bytes")
        if not more:
            await self.finish_body()

    @property
    def held(self) -> bytes:
        """The body so far."""
        return b"".join(self._pieces)

    async def finish_body(self) -> None:
        """The whole answer is here: sends what ``body`` makes of it."""
        try:
            status, headers, body = self.body(
                self._head["status"], self._head["headers"], self.held
            )
        except _TOO_DEEP:
            raise BadUpstreamAnswer(TOO_DEEP) from None
        headers = [*without(headers, b"content-length"), (b"content-length", b"%d" % len(body))]
        await self._send({**self._head, "status": status, "headers": headers})
        self.started = self.ended = True
        await self._send({"type": "http.response.body", "body": body, "more_body": False})

    async def _feed(self, events: list[Event], *, more: bool) -> None:
        if self.ended:
            return
        try:
            events = self.events(events) if events else []
            last = [] if more else self.last_events()
        except _TOO_DEEP:
            raise BadUpstreamAnswer(TOO_DEEP) from None
        if not more:
            await self._end([*events, *last])
        elif events:
            await self.send_events(events, more=True)

    async def _end(self, events: list[Event]) -> None:
        self.ended = True
        await self.send_events(events, more=False)

    async def send_events(self, events: list[Event], *, more: bool) -> None:
        """Sends events out, in one write."""
        if self.decoded_outwards:
            await self._send({"type": EVENTS, "events": events, "more_body": more})
        else:
            body = sse.encode(events)
            await self._send({"type": "http.response.body", "body": body, "more_body": more})


def events_in(body: bytes) -> list[Event]:
    """The events of a whole body."""
    return _decoded(sse.Decoder(), body, last=True)


def _decoded(decoder: sse.Decoder, data: bytes, *, last: bool) -> list[Event]:
    try:
        events = decoder.feed(data)
    except ValueError as error:
        raise BadUpstreamAnswer(f"the upstream sent {error}") from None
    return [*events, *filter(_is_whole, decoder.flush())] if last else events


def _is_whole(event: Event) -> bool:
    """Whether this, the last of a body and without its blank line, was not cut off."""
    if event.data is None or event.data == sse.DONE:
        return True
    try:
        json.decode(event.data)
    except ValueError:
        return False
    return True


def is_stream(headers: Headers) -> bool:
    """Whether the body is a ``text/event-stream``."""
    return header(headers, b"content-type").lower().startswith(b"text/event-stream")
