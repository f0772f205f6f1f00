"""The pool: how many connections there are, which are used again, and what a dead one costs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable

import aiohttp
import pytest

from tests.proxy.live import (
    Connection,
    Play,
    answering,
    eventually,
    gateway,
    playing,
    settings_for,
)

CHAT = "/v1/chat/completions"
ASK = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
ANSWER = b'{"choices": [], "answered": true}'


async def answers(connection: Connection) -> None:
    while await connection.request():
        await connection.answer(ANSWER)


async def answers_once_and_closes(connection: Connection) -> None:
    await connection.request()
    await connection.answer(ANSWER)


async def answers_once_and_resets_the_next(connection: Connection) -> None:
    await answers_once_and_closes(connection)
    await connection.request()
    connection.reset()


async def closes_before_a_byte(connection: Connection) -> None:
    await connection.request()


async def resets_before_a_byte(connection: Connection) -> None:
    await connection.request()
    connection.reset()


async def test_a_connection_is_used_again() -> None:
    async with (
        playing(answers) as upstream,
        gateway(settings_for(upstream.url)) as url,
        aiohttp.ClientSession() as client,
    ):
        for _ in range(5):
            async with client.post(url + CHAT, json=ASK) as answer:
                assert (await answer.json())["answered"]
        assert len(upstream.connections) == 1


async def test_no_more_connections_than_allowed() -> None:
    waiting, release, most = 0, asyncio.Event(), 0

    async def holds(connection: Connection) -> None:
        nonlocal waiting, most
        while await connection.request():
            waiting += 1
            most = max(most, waiting)
            await release.wait()
            waiting -= 1
            await connection.answer(ANSWER)

    async with (
        playing(holds) as upstream,
        gateway(settings_for(upstream.url, max_connections=3)) as url,
        aiohttp.ClientSession() as client,
    ):

        async def ask() -> int:
            async with client.post(url + CHAT, json=ASK) as answer:
                return answer.status

        asked = [asyncio.create_task(ask()) for _ in range(8)]
        await eventually(lambda: waiting == 3)
        await asyncio.sleep(0.1)  # the others could come now
        release.set()
        assert await asyncio.gather(*asked) == [200] * 8
        assert most == 3
        assert len(upstream.connections) == 3


async def test_an_unused_connection_is_closed_after_a_while() -> None:
    async def notes(connection: Connection) -> None:
        await answers_once_and_closes(connection)
        await connection.until_closed()

    async with (
        playing(notes) as upstream,
        gateway(settings_for(upstream.url, keepalive_seconds=0.1)) as url,
        aiohttp.ClientSession() as client,
    ):
        async with client.post(url + CHAT, json=ASK):
            pass
        await eventually(lambda: upstream.connections[0].closed)


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
@pytest.mark.parametrize("first", [answers_once_and_closes, answers_once_and_resets_the_next])
async def test_a_connection_that_died_in_the_pool_is_replaced(first: Play, method: str) -> None:
    async with (
        playing(first, answers) as upstream,
        gateway(settings_for(upstream.url)) as url,
        aiohttp.ClientSession() as client,
    ):
        for _ in range(2):
            async with client.request(method, url + "/v1/files/1", json=ASK) as answer:
                assert answer.status == 200, await answer.text()
                assert b"answered" in await answer.read()
        assert len(upstream.connections) == 2


@pytest.mark.parametrize("pieces", [1, 2], ids=["whole", "upload"])
@pytest.mark.parametrize("closing", [True, False], ids=["a-notice", "an-answer-too-many"])
async def test_what_came_while_nobody_asked_is_nobody_s_answer(closing: bool, pieces: int) -> None:
    async def answers_and_goes_on(connection: Connection) -> None:
        await answers_once_and_closes(connection)
        await idle.wait()
        headers = [("connection", "close")] if closing else []
        await connection.begin([*headers, ("content-length", "5")], "408 Request Timeout")
        await connection.write(b"stray")
        told.set()
        await connection.until_closed()

    async def body() -> AsyncIterator[bytes]:
        for _ in range(pieces):
            yield b"x" * 50_000

    idle, told = asyncio.Event(), asyncio.Event()
    async with (
        playing(answers_and_goes_on, answers) as upstream,
        gateway(settings_for(upstream.url)) as url,
        aiohttp.ClientSession() as client,
    ):
        async with client.post(url + CHAT, json=ASK) as answer:
            assert answer.status == 200
            await answer.read()
        await asyncio.sleep(0.05)  # until the connection is back in the pool
        idle.set()
        await told.wait()
        await asyncio.sleep(0.05)  # until it has come through the sockets
        data = json.dumps(ASK).encode() if pieces == 1 else body()
        async with client.put(url + "/v1/files/1", data=data) as answer:
            assert (answer.status, await answer.read()) == (200, ANSWER)
        await eventually(lambda: upstream.connections[0].closed)


@pytest.mark.parametrize("first", [closes_before_a_byte, resets_before_a_byte])
@pytest.mark.parametrize("method", ["POST", "GET", "PUT"])
async def test_a_connection_that_ends_before_a_byte_is_tried_once_more(
    first: Play, method: str
) -> None:
    async with (
        playing(first, answers) as upstream,
        gateway(settings_for(upstream.url)) as url,
        aiohttp.ClientSession() as client,
        client.request(method, url + "/v1/files/1", json=ASK) as answer,
    ):
        assert answer.status == 200
        assert len(upstream.connections) == 2


@pytest.mark.parametrize("part", [closes_before_a_byte, resets_before_a_byte])
@pytest.mark.parametrize("method", ["POST", "GET"])
async def test_and_not_twice(part: Play, method: str) -> None:
    async with (
        playing(part) as upstream,
        gateway(settings_for(upstream.url)) as url,
        aiohttp.ClientSession() as client,
        client.request(method, url + CHAT, json=ASK) as answer,
    ):
        assert answer.status == 502
        assert (await answer.json())["error"]["code"] == "upstream_unreachable"
        assert len(upstream.connections) == 2


async def test_a_head_that_broke_off_is_not_shown() -> None:
    async def breaks_off(connection: Connection) -> None:
        await connection.request()
        await connection.write(b"HTTP/1.1 200 OK\r\nx-token: hush\r\ncont")

    async with (
        playing(breaks_off) as upstream,
        gateway(settings_for(upstream.url)) as url,
        aiohttp.ClientSession() as client,
        client.post(url + CHAT, json=ASK) as answer,
    ):
        assert answer.status == 502
        assert "inside the head" in (await answer.json())["error"]["message"]
        assert "hush" not in await answer.text()


async def part_of_a_body(connection: Connection) -> None:
    await connection.begin([("content-type", "application/json"), ("content-length", "100")])
    await connection.write(b'{"choices"')


async def part_of_a_stream(connection: Connection) -> None:
    await connection.begin_chunked()
    await connection.chunk(b'data: {"choices": [{"index": 0, "delta": {"content": "a"}}]}\n\n')


@pytest.mark.parametrize("begin", [part_of_a_body, part_of_a_stream])
async def test_after_the_first_byte_nothing_is_repeated(
    begin: Callable[[Connection], Awaitable[None]],
) -> None:
    async def begins_and_closes(connection: Connection) -> None:
        await connection.request()
        await begin(connection)

    async with (
        playing(begins_and_closes, answers) as upstream,
        gateway(settings_for(upstream.url)) as url,
        aiohttp.ClientSession() as client,
    ):
        async with client.post(url + CHAT, json={**ASK, "stream": True}) as answer:
            await answer.read()
        assert len(upstream.connections) == 1


async def test_a_streamed_body_is_not_sent_twice() -> None:
    async def pieces() -> object:  # more than one read of the server's
        for _ in range(40):
            yield b"x" * 50_000

    async with (
        playing(resets_before_a_byte, answers) as upstream,
        gateway(settings_for(upstream.url)) as url,
        aiohttp.ClientSession() as client,
        client.put(url + "/v1/files/1", data=pieces()) as answer,
    ):
        assert answer.status == 502
        assert (await answer.json())["error"]["code"] == "upstream_unreachable"
        assert len(upstream.connections) == 1


async def test_nobody_listens() -> None:
    async with answering() as gone:
        pass
    async with (
        gateway(settings_for(gone.url)) as url,
        aiohttp.ClientSession() as client,
        client.post(url + "/v1/messages", json=ASK) as answer,
    ):
        assert answer.status == 502
        error = (await answer.json())["error"]
        assert error["type"] == "api_error"
        assert "'up'" in error["message"]
