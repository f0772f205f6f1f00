"""Streams of the same protocol on both sides, through the whole default stack."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from tests.proxy.app.streams import ASK, EVENTS, PATHS
from tests.proxy.live import Connection, gateway, playing, settings_for

PROTOCOLS = list(EVENTS)
KEEP_ALIVE = {"chat": b": ", "messages": b"event: ping\n", "responses": b": "}


@asynccontextmanager
async def streaming(
    protocol: str, play: Any, **rechunking: Any
) -> AsyncIterator[aiohttp.ClientResponse]:
    """A client's stream from an upstream that plays ``play`` after the head of its answer."""

    async def answer(connection: Connection) -> None:
        await connection.request()
        await connection.begin_chunked()
        await play(connection)
        await connection.chunk(b"")

    options = {"sse_rechunking": rechunking}
    async with (
        playing(answer) as upstream,
        gateway(settings_for(upstream.url, protocol, middlewares=options)) as url,
        aiohttp.ClientSession() as client,
        client.post(url + PATHS[protocol], json={**ASK[protocol], "stream": True}) as response,
    ):
        assert response.status == 200
        yield response


@pytest.mark.parametrize("flush", ["read", "budget"])
@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_what_is_right_passes_byte_for_byte(protocol: str, size: int, flush: str) -> None:
    body = b"".join(EVENTS[protocol])

    async def in_pieces(connection: Connection) -> None:
        for start in range(0, len(body), size):
            await connection.chunk(body[start : start + size])

    async with streaming(protocol, in_pieces, flush=flush) as answer:
        assert await answer.read() == body
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert answer.headers["cache-control"] == "no-cache"
        assert answer.headers["x-accel-buffering"] == "no"
        assert "content-length" not in answer.headers


@pytest.mark.parametrize("flush", ["read", "budget"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_every_event_goes_out_before_the_next_comes(protocol: str, flush: str) -> None:
    """The upstream sends an event only when the client has the one before; with a budget some
    wait for it, but none for a later read."""
    got = asyncio.Semaphore(0)

    async def in_turn(connection: Connection) -> None:
        for event in EVENTS[protocol]:
            await connection.chunk(event)
            await got.acquire()

    async with streaming(protocol, in_turn, flush=flush, flush_ms=30) as answer:
        for event in EVENTS[protocol]:
            async with asyncio.timeout(5):
                assert await answer.content.readexactly(len(event)) == event
            got.release()


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_budget_joins_writes_but_holds_no_border_back(protocol: str) -> None:
    """With a budget of a whole minute: what is not held comes at once, the rest with it."""
    first, *rest = EVENTS[protocol]
    delta = next(event for event in rest if b"llo" in event)
    got = asyncio.Event()

    async def slowly(connection: Connection) -> None:
        await connection.chunk(first)
        await got.wait()
        for event in rest:
            await connection.chunk(event)
            await asyncio.sleep(0.01)

    options = {"flush": "budget", "flush_ms": 1000, "flush_bytes": 1_000_000}
    async with streaming(protocol, slowly, **options) as answer:
        assert await answer.content.readexactly(len(first)) == first  # never the first
        got.set()
        writes = []
        while piece := await answer.content.readany():
            writes.append(piece)
    assert b"".join(writes) == b"".join(rest)
    held = next(write for write in writes if delta in write)
    assert not held.endswith(delta)  # it came with what followed, not by itself
    assert writes[-1].endswith(rest[-1])


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_keep_alives_while_the_upstream_is_silent(protocol: str) -> None:
    heard = asyncio.Event()

    async def pauses(connection: Connection) -> None:
        await connection.chunk(EVENTS[protocol][0])
        await heard.wait()
        await connection.chunk(b"".join(EVENTS[protocol][1:]))

    async with streaming(protocol, pauses, keep_alive_seconds=0.05) as answer:
        begun = await answer.content.readexactly(len(EVENTS[protocol][0]))
        between = b""
        while between.count(b"\n\n") < 3:
            between += await answer.content.readany()
        heard.set()
        rest = await answer.read()
    for keep_alive in (between + rest).split(b"\n\n")[:3]:
        assert (keep_alive + b"\n\n").startswith(KEEP_ALIVE[protocol]) or keep_alive == b":"
    assert begun == EVENTS[protocol][0]
    assert rest.endswith(b"".join(EVENTS[protocol][1:]))


async def test_no_keep_alives_where_none_are_wanted() -> None:
    async def pauses(connection: Connection) -> None:
        await connection.chunk(EVENTS["chat"][0])
        await asyncio.sleep(0.3)
        await connection.chunk(b"".join(EVENTS["chat"][1:]))

    async with streaming("chat", pauses, keep_alive_seconds=0) as answer:
        assert await answer.read() == b"".join(EVENTS["chat"])


async def test_no_keep_alives_while_events_come() -> None:
    async def drips(connection: Connection) -> None:
        for event in EVENTS["chat"]:
            await connection.chunk(event)
            await asyncio.sleep(0.1)

    async with streaming("chat", drips, keep_alive_seconds=0.4) as answer:
        assert await answer.read() == b"".join(EVENTS["chat"])


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_nothing_follows_the_end(protocol: str) -> None:
    """Not even a keep-alive that is due while the upstream does not close."""

    async def lingers(connection: Connection) -> None:
        await connection.chunk(b"".join(EVENTS[protocol]))
        await asyncio.sleep(0.4)

    async with streaming(protocol, lingers, keep_alive_seconds=0.1) as answer:
        body = await answer.read()
    assert body == b"".join(EVENTS[protocol])
