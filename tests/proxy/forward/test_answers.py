"""What a client gets: the upstream's answer as it came, in pieces that it can take."""

from __future__ import annotations

import asyncio
import gzip
import zlib

import aiohttp
import pytest

from tests.proxy.live import (
    HEADERS,
    Connection,
    answering,
    gateway,
    playing,
    settings_for,
    settled,
)

FILE = "/v1/files/1/content"
MANY_BYTES = 64 * 1024 * 1024
HELD_BYTES = 16 * 1024 * 1024
"""More than what lies in the buffers of three sockets and two programs, on any system."""


async def fetched(
    body: bytes, headers: HEADERS, status: str = "200 OK", *, path: str = FILE, method: str = "GET"
) -> tuple[aiohttp.ClientResponse, bytes]:
    async with (
        answering(body, status, headers) as upstream,
        gateway(settings_for(upstream.url)) as url,
        aiohttp.ClientSession(auto_decompress=False) as client,
        client.request(method, url + path, allow_redirects=False) as answer,
    ):
        return answer, await answer.read()


async def test_status_headers_and_bytes_pass() -> None:
    headers = [
        ("content-type", "application/octet-stream"),
        ("x-twice", "1"),
        ("x-twice", "2"),
        ("set-cookie", "a=1"),
        ("set-cookie", "b=2"),
        ("openai-processing-ms", "7"),
        ("x-request-id", "theirs"),
        ("date", "Mon, 01 Jan 2024 00:00:00 GMT"),
        ("x-text", "gr\xfc\xdfe"),
    ]
    answer, body = await fetched(b"\x00\xff", headers, "201 Created")
    assert (answer.status, body) == (201, b"\x00\xff")
    assert answer.headers.getall("x-twice") == ["1", "2"]
    assert answer.headers.getall("set-cookie") == ["a=1", "b=2"]
    assert answer.headers["x-request-id"] == "theirs"
    assert answer.headers.getall("date") == ["Mon, 01 Jan 2024 00:00:00 GMT"]
    assert answer.headers["content-length"] == "2"
    assert answer.headers["x-toolwire-upstream"] == "up"
    assert (b"x-text", b"gr\xfc\xdfe") in answer.raw_headers


@pytest.mark.parametrize("status", ["101 Switching Protocols", "600 What", "999 What"])
async def test_a_status_that_no_client_can_take_is_a_502(status: str) -> None:
    answer, body = await fetched(b"", [], status)
    assert answer.status == 502
    assert f"answered with the status {status[:3]}".encode() in body


async def test_headers_of_one_hop_stay_behind() -> None:
    hop = [
        ("connection", "x-foo"),
        ("connection", "keep-alive, X-Bar"),
        ("keep-alive", "timeout=5"),
        ("proxy-authenticate", "Basic"),
        ("trailer", "x-end"),
        ("x-foo", "1"),
        ("x-bar", "1"),
    ]
    answer, _ = await fetched(b"x", [*hop, ("x-stays", "1")])
    assert {name.lower() for name in answer.headers} & {name for name, _ in hop} == set()
    assert answer.headers["x-stays"] == "1"


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
async def test_redirects_are_passed_on(status: str) -> None:
    target = "http://127.0.0.1:9/elsewhere"
    answer, _ = await fetched(b"", [("location", target)], status)
    assert answer.status == int(status[:3])
    assert answer.headers["location"] == target


async def test_the_answer_to_head_has_no_body_and_keeps_its_length() -> None:
    async def answers(connection: Connection) -> None:
        while await connection.request():
            await connection.begin([("content-length", "1234"), ("x-file", "1")])

    async with (
        playing(answers) as upstream,
        gateway(settings_for(upstream.url)) as url,
        aiohttp.ClientSession() as client,
    ):
        for _ in range(2):  # the connection is still good for the next
            async with client.head(url + FILE) as answer:
                assert answer.status == 200
                assert answer.headers["content-length"] == "1234"
                assert answer.headers["x-file"] == "1"
        assert len(upstream.connections) == 1


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
async def test_answers_without_a_body(status: str) -> None:
    async def answers(connection: Connection) -> None:
        await connection.request()
        await connection.begin([("x-file", "1")], status)

    async with (
        playing(answers) as upstream,
        gateway(settings_for(upstream.url)) as url,
        aiohttp.ClientSession() as client,
        client.delete(url + FILE) as answer,
    ):
        assert (answer.status, await answer.read()) == (int(status[:3]), b"")


RAW_DEFLATE = zlib.compressobj(wbits=-15)


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(b"plain text")),
        ("GZIP", gzip.compress(b"plain text")),
        ("deflate", zlib.compress(b"plain text")),
        ("deflate", RAW_DEFLATE.compress(b"plain text") + RAW_DEFLATE.flush()),
    ],
)
async def test_a_packed_answer_is_unpacked(encoding: str, packed: bytes) -> None:
    answer, body = await fetched(packed, [("content-encoding", encoding)])
    assert body == b"plain text"
    assert "content-encoding" not in answer.headers
    assert answer.headers.get("content-length") in (None, "10")


async def test_an_encoding_that_nobody_knows_stays() -> None:
    answer, body = await fetched(b"??", [("content-encoding", "aes128gcm")])
    assert (answer.headers["content-encoding"], body) == ("aes128gcm", b"??")
    assert answer.headers["content-length"] == "2"


async def test_a_packed_answer_of_the_api_is_unpacked() -> None:
    _, body = await fetched(
        gzip.compress(b'{"object":"list","data":[]}'),
        [("content-encoding", "gzip"), ("content-type", "application/json")],
        path="/v1/embeddings",
        method="POST",
    )
    assert body == b'{"object":"list","data":[]}'


async def test_broken_packing_is_no_answer() -> None:
    with pytest.raises(aiohttp.ClientError):
        await fetched(b"not packed", [("content-encoding", "gzip")])


async def test_a_slow_client_slows_the_upstream_down() -> None:
    sent = 0

    async def pours(connection: Connection) -> None:
        nonlocal sent
        await connection.request()
        await connection.begin([("content-length", str(MANY_BYTES))])
        while sent < MANY_BYTES:
            await connection.write(b"x" * 65536)
            sent += 65536

    async with (
        playing(pours) as upstream,
        gateway(settings_for(upstream.url)) as url,
        aiohttp.ClientSession() as client,
        client.get(url + FILE) as answer,
    ):
        assert await settled(lambda: sent) < HELD_BYTES
        got = 0
        async for piece in answer.content.iter_any():
            got += len(piece)
            assert sent - got < HELD_BYTES
        assert got == MANY_BYTES


async def test_a_slow_client_slows_a_stream_down() -> None:
    """The same through the decoding of events, and with keep-alives that are due meanwhile."""
    sent, events = 0, 4000
    text = "x" * 8000

    async def pours(connection: Connection) -> None:
        nonlocal sent
        await connection.request()
        await connection.begin_chunked()
        for place in range(events):
            delta = '"role":"assistant",' if place == 0 else ""
            event = (
                '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":'
                f'[{{"index":0,"delta":{{{delta}"content":"{text}"}},"finish_reason":null}}]}}'
            )
            await connection.chunk(f"data: {event}\n\n".encode())
            sent += 1
        await connection.chunk(b"data: [DONE]\n\n")
        await connection.chunk(b"")

    options = {"sse_rechunking": {"keep_alive_seconds": 0.05}}
    async with (
        playing(pours) as upstream,
        gateway(settings_for(upstream.url, middlewares=options)) as url,
        aiohttp.ClientSession() as client,
        client.post(
            url + "/v1/chat/completions", json={"model": "m", "messages": [], "stream": True}
        ) as answer,
    ):
        assert await settled(lambda: sent) * len(text) < HELD_BYTES
        await asyncio.sleep(0.3)  # several keep-alives are due, and none can be sent
        body = await answer.read()
        assert body.count(b"\n:") < 3
        assert body.count(text.encode()) == events
