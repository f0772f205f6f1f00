"""A probe between two layers: notes what passes in and out, and changes none of it."""

from __future__ import annotations

from collections import Counter
from copy import copy
from typing import Any, Protocol

from msgspec import Struct, field

from toolwire.proxy.answer import EVENTS, takes_events
from toolwire.proxy.asgi import ASGIApp, Headers, Message, Receive, Scope, Send
from toolwire.proxy.exchange import KEY, Body, Exchange
from toolwire.proxy.protocols import neutral, sse
from toolwire.proxy.protocols.neutral import Loss
from toolwire.proxy.protocols.registry import codec_for_path


class SeenAnswer(Struct):
    """An answer on its way out.

    ``writes`` are (step, bytes): which of the upstream's writes was being worked on, and what left
    here meanwhile, decoded events as the bytes that they stand for.  ``changes`` are those of the
    exchange when the answer was over.
    """

    status: int
    headers: Headers
    writes: list[tuple[int, bytes]] = field(default_factory=list)
    changes: Counter[str] = field(default_factory=Counter)
    ended: bool = False

    @property
    def body(self) -> bytes:
        """All that left."""
        return b"".join(data for _, data in self.writes)


class Passage(Struct):
    """One request on its way in through one place, and what came back there.

    ``body`` is what would go up from here; None where nobody has read it yet.  ``changes`` and
    ``losses`` are what the exchange held at that moment.  ``thrown_back`` is what a layer further
    out raised over the answer.
    """

    place: int
    path: str
    headers: Headers
    body: bytes | None
    changes: Counter[str]
    losses: list[Loss]
    answer: SeenAnswer | None = None
    thrown_back: Exception | None = None

    @property
    def protocol(self) -> neutral.Protocol | None:
        """What is spoken at this place."""
        codec = codec_for_path(self.path)
        return codec.name if codec else None


class Record(Protocol):
    """Who the probes tell; see ``trace.Trace``."""

    step: int
    exchange: Exchange | None

    def entered(self, passage: Passage) -> None: ...


class Probe:
    """Stands at ``place``: 0 is outside of the outermost layer."""

    def __init__(self, app: ASGIApp, *, place: int, record: Record) -> None:
        self.app = app
        self.place = place
        self.record = record

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        exchange = scope.get(KEY)  # one that is not there yet is not made here
        if isinstance(exchange, Exchange):
            self.record.exchange = exchange
        passage = Passage(
            self.place,
            scope["path"],
            list(scope["headers"]),
            await _body_so_far(receive),
            *_noted(self.record.exchange),
        )
        self.record.entered(passage)
        noting = _NotingSend(self.record, passage, send)
        await self.app(_offered(scope, send, noting), _noting(receive, passage), noting)


async def _body_so_far(receive: Receive) -> bytes | None:
    """What would be sent from here.  A copy is asked, for what is encoded now is not kept: the next
    layer may still change the document."""
    if isinstance(receive, Body) and receive.buffered:
        return await copy(receive).encoded()
    return None


def _noted(exchange: Exchange | None) -> tuple[Counter[str], list[Loss]]:
    if exchange is None:
        return Counter(), []
    return Counter(exchange.changes), list(exchange.losses)


def _noting(receive: Receive, passage: Passage) -> Receive:
    """A ``Body`` itself, for the next layer has to know it; else what notes each read."""
    if isinstance(receive, Body):
        return receive

    async def noted() -> Message:
        message = await receive()
        if message["type"] == "http.request":
            passage.body = (passage.body or b"") + message.get("body", b"")
        return message

    return noted


def _offered(scope: Scope, send: Send, noting: _NotingSend) -> Scope:
    """An offer to take decoded events names the very ``send`` that takes them, so it is renewed
    for the probe's own."""
    if not takes_events(scope, send):
        return scope
    extensions: dict[str, Any] = scope["extensions"]
    renewed = {**extensions[EVENTS], "send": noting}
    return {**scope, "extensions": {**extensions, EVENTS: renewed}}


class _NotingSend:
    def __init__(self, record: Record, passage: Passage, send: Send) -> None:
        self._record = record
        self._passage = passage
        self._send = send

    async def __call__(self, message: Message) -> None:
        kind = message["type"]
        if kind == "http.response.start":
            self._passage.answer = SeenAnswer(message["status"], list(message["headers"]))
        elif kind == EVENTS:
            self._note(sse.encode(message["events"]), more=message["more_body"])
        elif kind == "http.response.body":
            self._note(message.get("body", b""), more=message.get("more_body", False))
        try:
            await self._send(message)
        except Exception as error:  # noted, and passed on as it is
            self._passage.thrown_back = error
            raise

    def _note(self, data: bytes, *, more: bool) -> None:
        answer = self._passage.answer
        if answer is None:
            return
        if data:
            answer.writes.append((self._record.step, data))
        if not more:
            answer.ended = True
            answer.changes = _noted(self._record.exchange)[0]
