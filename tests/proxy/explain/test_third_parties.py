"""Middlewares of somebody else, between ours."""

from __future__ import annotations

import json

import pytest
from structlog.testing import capture_logs

from tests.proxy.explain.samples import (
    ANSWERS,
    REQUESTS,
    explained,
)
from tests.proxy.explain.steps_of import answer_step, step
from tests.proxy.explain.streams import STREAMS
from toolwire.config.load import loads
from toolwire.config.model import Settings
from toolwire.proxy.asgi import ASGIApp, Message, Receive, Scope, Send
from toolwire.proxy.explain.paint import Paint
from toolwire.proxy.explain.shown import Shown
from toolwire.proxy.explain.steps import HeaderChange
from toolwire.proxy.explain.text import as_text
from toolwire.proxy.stack import OPTIONS


def third_party(name: str, place: str, more: str = "") -> Settings:
    """A gateway with a middleware of this module in it."""
    text = f"""
[[upstreams]]
name = "upstream"
protocol = "chat"
base_url = "https://upstream.invalid"

[middlewares.theirs]
use = "{__name__}:{name}"
{place}
{more}
"""
    return loads(text, environ={}, options=OPTIONS)


class Stamps:
    """Adds a header and a field, on the way in and on the way out."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def stamped() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                body = json.loads(message["body"])
                message = {**message, "body": json.dumps({**body, "stamp": 1}).encode()}
            return message

        async def send_stamped(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], (b"x-stamp", b"out")]}
            await send(message)

        headers = [*scope["headers"], (b"x-stamp", b"a-secret")]
        await self.app({**scope, "headers": headers}, stamped, send_stamped)


class Answers:
    """Answers itself: asks nobody."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"cached", "more_body": False})


class Breaks:
    """Cannot bear an answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def broken(message: Message) -> None:
            raise ZeroDivisionError("by zero")

        await self.app(scope, receive, broken)


class BreaksOff:
    """Cannot bear the second write of an answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        writes = 0

        async def broken(message: Message) -> None:
            nonlocal writes
            writes += message["type"] == "http.response.body"
            if writes == 2:
                raise ZeroDivisionError("by zero")
            await send(message)

        await self.app(scope, receive, broken)


@pytest.mark.parametrize(
    "place",
    ['after = "auth"', 'before = "tool_schema_conversion"', 'after = "key_canonicalization"'],
)
async def test_a_layer_of_somebody_else_is_told_like_one_of_ours(place: str) -> None:
    told = await explained(REQUESTS["messages"], third_party("Stamps", place), ANSWERS["chat"])
    theirs = step(told, "theirs")
    assert theirs.headers == [HeaderChange("x-stamp", None, "***")]
    assert theirs.body is not None
    assert [line for line in theirs.body.diff if line.startswith("+")][-1] == '+  "stamp": 1'
    assert answer_step(told, "theirs").headers == [HeaderChange("x-stamp", None, "out")]
    assert dict(told.sent[0].headers)["x-stamp"] == "***"
    assert "a-secret" not in repr(told)


async def test_a_layer_that_answers_itself_is_told() -> None:
    told = await explained(REQUESTS["chat"], third_party("Answers", 'after = "routing"'))
    assert told.sent == []
    assert told.reply is not None
    assert (told.reply.by, told.reply.refuses, told.reply.body) == ("theirs", False, b"cached")


async def test_a_stream_that_a_layer_breaks_off_is_told() -> None:
    request = {**REQUESTS["chat"], "stream": True}
    settings = third_party("BreaksOff", 'after = "routing"')
    with capture_logs():
        told = await explained(request, settings, STREAMS["chat"])
    assert told.reply is not None and told.answer is not None
    assert (told.reply.by, told.reply.status, told.reply.refuses) == ("theirs", 0, True)
    assert answer_step(told, "theirs").told == "fails on the answer: ZeroDivisionError: by zero"
    assert (told.answer.status, told.answer.complete) == (200, False)
    text = as_text(told, Shown(), Paint(False)).decode()
    assert text.endswith("== refused by theirs: the connection is broken off\n")


async def test_a_layer_that_fails_on_an_answer_is_told() -> None:
    settings = third_party("Breaks", 'after = "routing"')
    with capture_logs():
        told = await explained(REQUESTS["chat"], settings, ANSWERS["chat"])
    assert told.reply is not None
    assert (told.reply.by, told.reply.status) == ("theirs", 500)
    assert answer_step(told, "theirs").told == "fails on the answer: ZeroDivisionError: by zero"
    assert b"zero" not in told.reply.body
