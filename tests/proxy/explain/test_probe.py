"""A probe notes what passes and changes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.asgi import Upstream, ask
from toolwire.proxy.answer import EVENTS, AnswerSend, is_stream
from toolwire.proxy.asgi import ASGIApp, Headers, Message, Receive, Scope, Send
from toolwire.proxy.errors import BadUpstreamAnswer, InvalidRequest
from toolwire.proxy.exchange import Body, Exchange, open_body
from toolwire.proxy.explain.probe import Passage, Probe
from toolwire.proxy.protocols.sse import Event

CHAT = "/v1/chat/completions"
STREAM = b"data: {}\n\ndata: [DONE]\n\n"


class Notes:
    """Who the probes tell."""

    def __init__(self) -> None:
        self.step = 7
        self.exchange: Exchange | None = None
        self.passages: list[Passage] = []

    def entered(self, passage: Passage) -> None:
        self.passages.append(passage)


class Opens:
    """A middleware of ours that changes the document, and says so or not."""

    def __init__(self, app: ASGIApp, name: str, *, touch: bool) -> None:
        self.app = app
        self.name = name
        self.touch = touch
        self.bodies: list[Receive] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.bodies.append(receive)
        scope, body = open_body(scope, receive)
        (await body.document())[self.name] = True
        if self.touch:
            body.touch()
        await self.app(scope, body, send)


class Events:
    """A middleware of ours that changes events; notes the kinds of messages that it sends."""

    def __init__(self, app: ASGIApp, name: str) -> None:
        self.app = app
        self.name = name
        self.sent: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name, sent = self.name, self.sent

        class Changing(AnswerSend):
            def wants_stream(self, status: int, headers: Headers) -> bool:
                return is_stream(headers)

            def events(self, events: list[Event]) -> list[Event]:
                return [*events, Event(name.encode())]

            async def send_events(self, events: list[Event], *, more: bool) -> None:
                sent.append(EVENTS if self.decoded_outwards else "bytes")
                await super().send_events(events, more=more)

        await Changing(scope, send).run(self.app, scope, receive)


class Foreign:
    """A middleware of somebody else that puts its own ``send`` between."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def own_send(message: Message) -> None:
            await send(message)

        await self.app(scope, receive, own_send)


def probe(app: ASGIApp, notes: Notes, place: int = 0) -> Probe:
    return Probe(app, place=place, record=notes)


async def test_the_same_body_object_goes_through() -> None:
    notes, upstream = Notes(), Upstream()
    inner = Opens(upstream, "inner", touch=True)
    outer = Opens(probe(inner, notes), "outer", touch=True)
    await ask(outer, CHAT, {"model": "m"})
    assert isinstance(inner.bodies[0], Body)
    assert json.loads(notes.passages[0].body or b"") == {"model": "m", "outer": True}
    assert upstream.document == {"model": "m", "outer": True, "inner": True}


async def test_a_look_does_not_fix_what_may_still_change() -> None:
    """The outer one said that the document changed; what the inner one adds must still go up."""
    upstreams = Upstream(), Upstream()
    bare = Opens(Opens(upstreams[0], "inner", touch=False), "outer", touch=True)
    probed = Opens(probe(Opens(upstreams[1], "inner", touch=False), Notes()), "outer", touch=True)
    for app in (bare, probed):
        await ask(app, CHAT, {"model": "m"})
    assert upstreams[1].bodies == upstreams[0].bodies
    assert upstreams[1].document == {"model": "m", "outer": True, "inner": True}


async def test_reads_are_noted_where_nobody_has_opened_the_body() -> None:
    notes, upstream = Notes(), Upstream()
    await ask(probe(upstream, notes), CHAT, pieces=[b'{"a"', b": 1}"])
    assert notes.passages[0].body == b'{"a": 1}'
    assert upstream.bodies == [b'{"a": 1}']


async def test_nothing_is_read_that_nobody_asks_for() -> None:
    notes = Notes()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    assert (await ask(probe(app, notes), CHAT, {"a": 1})).status == 204
    assert notes.passages[0].body is None


async def test_decoded_events_pass_between_two_of_ours() -> None:
    notes = Notes()
    inner = Events(Upstream(STREAM, content_type="text/event-stream"), "inner")
    outer = Events(probe(probe(inner, notes, 1), notes), "outer")
    reply = await ask(outer, CHAT, {})
    assert set(inner.sent) == {EVENTS}
    assert set(outer.sent) == {"bytes"}
    assert reply.body == STREAM + b"data: inner\n\ndata: outer\n\n"
    answers = [passage.answer for passage in notes.passages]
    assert [answer and answer.body for answer in answers] == [STREAM + b"data: inner\n\n"] * 2
    assert [answer and answer.writes[0][0] for answer in answers] == [7, 7]


async def test_whoever_stands_behind_somebody_elses_send_still_gets_bytes() -> None:
    inner = Events(Upstream(STREAM, content_type="text/event-stream"), "inner")
    outer = Events(Foreign(probe(inner, Notes())), "outer")
    reply = await ask(outer, CHAT, {})
    assert set(inner.sent) == {"bytes"}
    assert reply.body == STREAM + b"data: inner\n\ndata: outer\n\n"


async def test_it_makes_no_exchange_of_its_own() -> None:
    scopes: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        scopes.append(scope)

    notes = Notes()
    await ask(probe(app, notes), CHAT, {})
    assert "toolwire" not in scopes[0]
    assert notes.exchange is None


async def test_changes_are_those_of_the_moment() -> None:
    notes = Notes()

    async def counting(scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange.of(scope)
        exchange.changes["before"] += 1

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.body" and not message["more_body"]:
                exchange.changes["after"] += 2
            await send(message)

        await probe(Upstream(), notes, 1)(scope, receive, counted)

    async def outermost(scope: Scope, receive: Receive, send: Send) -> None:
        Exchange.of(scope)
        await probe(counting, notes)(scope, receive, send)

    await ask(outermost, CHAT, {})
    outside, inside = notes.passages
    assert (outside.changes, inside.changes) == ({}, {"before": 1})
    assert inside.answer is not None and inside.answer.changes == {"before": 1}
    assert outside.answer is not None and outside.answer.changes == {"before": 1, "after": 2}


async def test_who_throws_an_answer_back_is_noted_and_not_stopped() -> None:
    notes = Notes()

    async def picky(scope: Scope, receive: Receive, send: Send) -> None:
        async def refuse(message: Message) -> None:
            raise BadUpstreamAnswer("no such answer")

        await probe(Upstream(), notes, 1)(scope, receive, refuse)

    with pytest.raises(BadUpstreamAnswer):
        await ask(probe(picky, notes), CHAT, {})
    outside, inside = notes.passages
    assert outside.thrown_back is None
    assert str(inside.thrown_back) == "no such answer"


async def test_an_error_of_the_inner_app_passes() -> None:
    notes = Notes()

    async def refusing(scope: Scope, receive: Receive, send: Send) -> None:
        raise InvalidRequest("no")

    with pytest.raises(InvalidRequest):
        await ask(probe(refusing, notes), CHAT, {})
    assert (notes.passages[0].answer, notes.passages[0].thrown_back) == (None, None)


async def test_other_scopes_pass() -> None:
    seen: list[Any] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append((scope, receive, send))

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        raise AssertionError

    notes = Notes()
    scope: Scope = {"type": "lifespan"}
    await probe(app, notes)(scope, receive, send)
    assert seen == [(scope, receive, send)]
    assert notes.passages == []
