"""A client that leaves ends the upstream's request, whenever it leaves."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

import pytest
from structlog.testing import capture_logs

from tests.proxy.gateway import chunk
from tests.proxy.live import Connection, Play, Upstream, eventually, gateway, playing, settings_for

SOON = 1.0
"""Seconds in which the upstream has to be told (a promise, not a measurement)."""


def post(path: str, body: bytes, length: int | None = None) -> bytes:
    kind = "octet-stream" if path == "/v1/files" else "json"
    return (
        f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/{kind}\r\n"
        f"content-length: {length or len(body)}\r\n\r\n"
    ).encode() + body


ASK = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
PLAIN = json.dumps(ASK).encode()
STREAM = json.dumps({**ASK, "stream": True}).encode()


async def silent(connection: Connection) -> None:
    await connection.request()
    await connection.until_closed()


async def begins_a_stream(connection: Connection) -> None:
    await connection.request()
    await connection.begin_chunked()
    await connection.chunk(chunk({"role": "assistant", "content": "a"}, None))
    await connection.until_closed()


async def pours_a_stream(connection: Connection) -> None:
    await connection.request()
    await connection.begin_chunked()
    try:
        while True:
            await connection.chunk(chunk({"role": "assistant", "content": "a"}, None))
    finally:
        connection.closed = True


async def begins_a_file(connection: Connection) -> None:
    await connection.request()
    await connection.begin([("content-length", "1000")])
    await connection.write(b"part")
    await connection.until_closed()


async def begins_an_answer(connection: Connection) -> None:
    await connection.request()
    await connection.begin([("content-type", "application/json"), ("content-length", "1000")])
    await connection.write(b'{"choices')
    await connection.until_closed()


async def reads_an_upload(connection: Connection) -> None:
    await connection.head()
    await connection.until_closed()


@contextlib.asynccontextmanager
async def leaving(play: Play, request: bytes) -> AsyncIterator[Upstream]:
    """The upstream right after the client has sent ``request`` and left."""
    async with playing(play) as upstream, gateway(settings_for(upstream.url)) as url:
        host, _, port = url.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(request)
        await eventually(lambda: bool(upstream.connections))
        if play in (begins_a_stream, begins_a_file, pours_a_stream):
            assert await reader.read(10)
        else:
            await asyncio.sleep(0.05)
        writer.transport.abort()
        yield upstream


@pytest.mark.parametrize(
    ("play", "request_"),
    [
        (silent, post("/v1/chat/completions", PLAIN)),
        (silent, post("/v1/chat/completions", STREAM)),
        (silent, post("/v1/messages", STREAM)),  # converted
        (silent, b"GET /v1/files/1/content HTTP/1.1\r\nhost: x\r\n\r\n"),
        (begins_an_answer, post("/v1/chat/completions", PLAIN)),
        (begins_a_stream, post("/v1/chat/completions", STREAM)),
        (begins_a_stream, post("/v1/messages", STREAM)),
        (
            begins_a_stream,
            post(
                "/v1/responses", json.dumps({"model": "m", "input": "hi", "stream": True}).encode()
            ),
        ),
        (pours_a_stream, post("/v1/chat/completions", STREAM)),
        (begins_a_file, b"GET /v1/files/1/content HTTP/1.1\r\nhost: x\r\n\r\n"),
        (reads_an_upload, post("/v1/files", b"x" * 1000, length=100_000)),
        (reads_an_upload, post("/v1/files", b"x" * 200_000, length=1_000_000)),
    ],
    ids=lambda value: value.__name__ if callable(value) else value[:24].decode(),
)
async def test_the_upstream_is_told(play: Play, request_: bytes) -> None:
    with capture_logs() as log:
        async with leaving(play, request_) as upstream:
            await eventually(lambda: upstream.connections[0].closed, SOON)
            await eventually(lambda: bool(log))
            assert len(upstream.connections) == 1
    line = next(line for line in log if line["event"] == "request")
    assert line["error"] == "client disconnected"
    assert line["status"] in (499, 200)


async def test_a_client_that_leaves_while_it_uploads_what_is_read_asks_nobody() -> None:
    """The body of an API request is read before anybody is asked."""
    with capture_logs() as log:
        async with playing(silent) as upstream, gateway(settings_for(upstream.url)) as url:
            host, _, port = url.removeprefix("http://").partition(":")
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(post("/v1/chat/completions", b'{"model"', length=1000))
            await asyncio.sleep(0.1)
            writer.transport.abort()
            await eventually(lambda: bool(log))
            assert upstream.connections == []
    assert (log[0]["error"], log[0]["status"]) == ("client disconnected", 499)


async def test_a_client_that_asks_again_on_its_connection_has_not_left() -> None:
    async def answers(connection: Connection) -> None:
        while await connection.request():
            await asyncio.sleep(0.4)  # longer than it takes until the client is watched
            await connection.answer(b'{"choices": []}')

    async with playing(answers) as upstream, gateway(settings_for(upstream.url)) as url:
        host, _, port = url.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        for _ in range(3):
            writer.write(post("/v1/chat/completions", PLAIN))
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200")
            length = next(
                line for line in head.split(b"\r\n") if line.startswith(b"content-length")
            )
            assert await reader.readexactly(int(length.partition(b":")[2]))
        writer.close()
