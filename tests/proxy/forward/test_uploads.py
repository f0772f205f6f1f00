"""Bodies on their way up: streamed through, as fast as the upstream takes them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from io import BytesIO

import aiohttp
import pytest

from tests.proxy.live import (
    Connection,
    Request,
    answering,
    gateway,
    playing,
    settings_for,
    settled,
)

FILES = "/v1/files"
BODY_BYTES = 100 * 1024 * 1024
HELD_BYTES = 16 * 1024 * 1024
"""More than what lies in the buffers of three sockets and two programs, on any system."""

LARGE = {"max_body_bytes": 2 * BODY_BYTES}


class Body:
    """A client's body of ``BODY_BYTES``, and how much of it was taken."""

    def __init__(self) -> None:
        self.taken = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while self.taken < BODY_BYTES:
            yield b"x" * 65536
            self.taken += 65536


class Sink:
    """An upstream that takes what comes, when it may."""

    def __init__(self) -> None:
        self.got = 0
        self.may_read = asyncio.Event()
        self.request: Request | None = None

    async def play(self, connection: Connection) -> None:
        self.request = await connection.head()
        assert self.request is not None
        await self.may_read.wait()
        async for piece in connection.body(self.request):
            self.got += len(piece)
        await connection.answer(b"{}")


@pytest.mark.parametrize("told", [True, False], ids=["length", "chunked"])
async def test_an_upload_streams_through(told: bool) -> None:
    body, sink = Body(), Sink()
    headers = {"content-length": str(BODY_BYTES)} if told else {}
    async with (
        playing(sink.play) as upstream,
        gateway(settings_for(upstream.url, server=LARGE)) as url,
        aiohttp.ClientSession() as client,
    ):
        asked = asyncio.create_task(client.post(url + FILES, data=body, headers=headers))
        assert 0 < await settled(lambda: body.taken) < HELD_BYTES
        sink.may_read.set()
        answer = await asked
        assert answer.status == 200
        answer.close()
        assert sink.got == BODY_BYTES
        assert sink.request is not None
        if told:
            assert sink.request.one("content-length") == str(BODY_BYTES)
            assert sink.request.one("transfer-encoding") is None
        else:
            assert sink.request.one("transfer-encoding") == "chunked"


async def test_a_body_that_is_read_goes_up_whole() -> None:
    """A large request of the API, which is decoded on its way, has its length."""
    text = b"x" * (8 * 1024 * 1024)
    body = b'{"model": "m", "messages": [{"role": "user", "content": "%b"}]}' % text
    async with (
        answering() as upstream,
        gateway(settings_for(upstream.url)) as url,
        aiohttp.ClientSession() as client,
        client.post(url + "/v1/chat/completions", data=BytesIO(body)) as answer,
    ):
        assert answer.status == 200
        assert len(upstream.request.body) == int(upstream.request.one("content-length") or 0)
        assert text in upstream.request.body


async def test_a_body_over_the_limit_is_refused_before_it_is_read() -> None:
    async with (
        answering() as upstream,
        gateway(settings_for(upstream.url, server={"max_body_bytes": 1000})) as url,
        aiohttp.ClientSession() as client,
        client.post(url + FILES, data=b"x" * 1001) as answer,
    ):
        assert answer.status == 413
        assert (await answer.json())["error"]["code"] == "request_too_large"
        assert upstream.connections == []


async def test_a_body_that_grows_over_the_limit_is_refused_on_the_way() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b"x" * 50_000

    sink = Sink()
    sink.may_read.set()
    async with (
        playing(sink.play) as upstream,
        gateway(settings_for(upstream.url, server={"max_body_bytes": 1_000_000})) as url,
        aiohttp.ClientSession() as client,
        client.post(url + FILES, data=pieces()) as answer,
    ):
        assert answer.status == 413
        assert (await answer.json())["error"]["code"] == "request_too_large"


async def test_an_answer_before_the_upload_is_over_reaches_the_client() -> None:
    async def refuses(connection: Connection) -> None:
        await connection.head()
        await connection.answer(b'{"error": {"message": "no"}}', "401 Unauthorized")
        await connection.until_closed()

    async with (
        playing(refuses) as upstream,
        gateway(settings_for(upstream.url, server=LARGE)) as url,
        aiohttp.ClientSession() as client,
        client.post(url + FILES, data=Body()) as answer,
    ):
        assert answer.status == 401
        assert (await answer.json())["error"]["message"] == "no"


async def test_a_form_goes_up_as_it_is() -> None:
    form = aiohttp.FormData()
    form.add_field("purpose", "batch")
    form.add_field("file", b"\x00\xff" * 100_000, filename="a.jsonl")
    async with (
        answering() as upstream,
        gateway(settings_for(upstream.url)) as url,
        aiohttp.ClientSession() as client,
        client.post(url + FILES, data=form) as answer,
    ):
        assert answer.status == 200
        assert upstream.request.body.count(b"\x00\xff") == 100_000
        assert (upstream.request.one("content-type") or "").startswith("multipart/form-data; bound")
