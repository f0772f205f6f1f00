"""Connecting, the first byte and each further one have their time; a living stream has any."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import aiohttp
import pytest

from tests.proxy.gateway import chunk
from tests.proxy.live import Connection, eventually, gateway, playing, settings_for

ASK = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
EVENT = chunk({"role": "assistant", "content": "a"}, None)
END = chunk({}, "stop") + b"data: [DONE]\n\n"


async def says_nothing(connection: Connection) -> None:
    await connection.request()
    await connection.until_closed()


@contextmanager
def full_backlog() -> Iterator[str]:
    """A port where nobody accepts and the queue is full: a connection never comes about."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = []
        for _ in range(4):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
            waiting.append(client)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        for client in waiting:
            client.close()


async def ask(url: str, path: str, **more: Any) -> tuple[int, Any]:
    async with (
        aiohttp.ClientSession() as client,
        client.post(url + path, json={**ASK, **more}) as answer,
    ):
        return answer.status, await answer.json()


async def test_no_connection_in_time() -> None:
    with full_backlog() as nobody:
        async with gateway(settings_for(nobody, connect_seconds=0.2)) as url:
            status, body = await ask(url, "/v1/chat/completions")
    assert status == 502
    assert body["error"]["code"] == "upstream_unreachable"
    assert "0.2 s" in body["error"]["message"]


@pytest.mark.parametrize(
    ("path", "protocol", "shape"),
    [
        ("/v1/chat/completions", "chat", {"type": "timeout_error", "code": "upstream_timeout"}),
        ("/v1/responses", "responses", {"type": "timeout_error", "code": "upstream_timeout"}),
        ("/v1/messages", "messages", {"type": "timeout_error"}),
        ("/v1/messages", "chat", {"type": "timeout_error"}),
    ],
)
async def test_no_first_byte_in_time(path: str, protocol: str, shape: dict[str, str]) -> None:
    async with (
        playing(says_nothing) as upstream,
        gateway(settings_for(upstream.url, protocol, first_byte_seconds=0.3)) as url,
    ):
        status, body = await ask(url, path)
        assert status == 504
        assert shape.items() <= body["error"].items()
        assert "0.3 s" in body["error"]["message"]
        assert len(upstream.connections) == 1  # it had the request: it is not asked again
        await eventually(lambda: upstream.connections[0].closed)


async def test_a_slow_client_is_not_the_upstream_s_silence() -> None:
    async def answers(connection: Connection) -> None:
        await connection.request()
        await connection.answer(b'{"object": "file"}')

    async def slow() -> Any:
        for _ in range(4):
            yield b"x" * 70_000
            await asyncio.sleep(0.2)

    async with (
        playing(answers) as upstream,
        gateway(settings_for(upstream.url, first_byte_seconds=0.3)) as url,
        aiohttp.ClientSession() as client,
        client.post(url + "/v1/files", data=slow()) as answer,
    ):
        assert (answer.status, await answer.read()) == (200, b'{"object": "file"}')


async def test_a_silent_stream_ends_in_an_error() -> None:
    async def falls_silent(connection: Connection) -> None:
        await connection.request()
        await connection.begin_chunked()
        await connection.chunk(EVENT)
        await connection.until_closed()

    async with (
        playing(falls_silent) as upstream,
        gateway(settings_for(upstream.url, between_bytes_seconds=0.3)) as url,
        aiohttp.ClientSession() as client,
        client.post(url + "/v1/chat/completions", json={**ASK, "stream": True}) as answer,
    ):
        body = await answer.read()
        assert body.startswith(EVENT)
        assert b'"upstream_timeout"' in body
        assert b"[DONE]" not in body
        await eventually(lambda: upstream.connections[0].closed)


async def test_a_silent_answer_is_a_504() -> None:
    """It is held until it is whole, so that its end can still be told in its status."""

    async def falls_silent(connection: Connection) -> None:
        await connection.request()
        await connection.begin([("content-type", "application/json"), ("content-length", "50")])
        await connection.write(b"{")
        await connection.until_closed()

    async with (
        playing(falls_silent) as upstream,
        gateway(settings_for(upstream.url, between_bytes_seconds=0.3)) as url,
    ):
        status, body = await ask(url, "/v1/chat/completions")
        assert (status, body["error"]["code"]) == (504, "upstream_timeout")


async def test_a_living_stream_may_take_any_time() -> None:
    async def drips(connection: Connection) -> None:
        await connection.request()
        await connection.begin_chunked()
        for delta in [{"role": "assistant", "content": "a"}] + [{"content": "a"}] * 11:
            await connection.chunk(chunk(delta, None))
            await asyncio.sleep(0.1)
        await connection.chunk(END)
        await connection.chunk(b"")

    # together it takes four times as long as the longest silence that is allowed
    limits = {"first_byte_seconds": 0.3, "between_bytes_seconds": 0.3, "connect_seconds": 0.3}
    async with (
        playing(drips) as upstream,
        gateway(settings_for(upstream.url, **limits)) as url,
        aiohttp.ClientSession() as client,
        client.post(url + "/v1/chat/completions", json={**ASK, "stream": True}) as answer,
    ):
        assert await answer.read() == EVENT + chunk({"content": "a"}, None) * 11 + END
