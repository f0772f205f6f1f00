"""An upstream that breaks off in the middle: no client takes what it got for complete."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

from tests.proxy.live import Connection, Play, gateway, playing, settings_for

ASK: dict[str, Any] = {
    "model": "m",
    "max_tokens": 9,
    "stream": True,
    "messages": [{"role": "user", "content": "hi"}],
    "input": "hi",
}
PATHS = {"chat": "/v1/chat/completions", "messages": "/v1/messages", "responses": "/v1/responses"}
PAIRS = [(client, upstream) for client in PATHS for upstream in PATHS]


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(
        (f"event: {event['type']}\n" if "type" in event else "").encode()
        + f"data: {json.dumps(event)}\n\n".encode()
        for event in events
    )


def _chat(delta: dict[str, Any]) -> dict[str, Any]:
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


_MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
_RESPONSE = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "output": []}
_ITEM = {"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress"}
_PART = {"type": "output_text", "text": "", "annotations": []}
_AT = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
BEGUN = {
    "chat": sse(_chat({"role": "assistant", "content": "par"}), _chat({"content": "tial"})),
    "messages": sse(
        {"type": "message_start", "message": _MESSAGE},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": "partial"},
        },
    ),
    "responses": sse(
        {
            "type": "response.created",
            "sequence_number": 0,
            "response": {**_RESPONSE, "status": "in_progress"},
        },
        {
            "type": "response.output_item.added",
            "sequence_number": 1,
            "output_index": 0,
            "item": {**_ITEM, "content": []},
        },
        {"type": "response.content_part.added", "sequence_number": 2, "part": _PART, **_AT},
        {
            "type": "response.output_text.delta",
            "sequence_number": 3,
            "delta": "partial",
            "logprobs": [],
            **_AT,
        },
    ),
}
"""The beginning of a stream of each protocol, which says "partial"."""


async def _reset(connection: Connection) -> None:
    connection.reset()


async def _close(connection: Connection) -> None:
    connection.close()


async def _end(connection: Connection) -> None:
    """HTTP's end, though the stream has none."""
    await connection.chunk(b"")


async def _half_an_event(connection: Connection) -> None:
    await connection.chunk(b'data: {"choices": [{"ind')
    await asyncio.sleep(0.05)
    connection.close()


def breaking(begun: bytes, cut: Callable[[Connection], Any], seen: asyncio.Event) -> Play:
    """Breaks off when what has begun was seen: a reset may overtake what came before it."""

    async def play(connection: Connection) -> None:
        await connection.request()
        await connection.begin_chunked()
        await connection.chunk(begun)
        await seen.wait()
        await cut(connection)

    return play


def last_event(body: bytes) -> tuple[str | None, Any]:
    """Name and document of the last event of a stream that ends in a blank line."""
    assert body.endswith(b"\n\n")
    lines = body[:-2].rpartition(b"\n\n")[2].decode().split("\n")
    fields = dict(line.split(": ", 1) for line in lines)
    return fields.get("event"), json.loads(fields["data"])


def assert_broken_off(client: str, body: bytes) -> None:
    """The last event is the error of the client's protocol, and nothing looks like an end."""
    name, document = last_event(body)
    if client == "chat":
        assert document["error"].keys() == {"message", "type", "param", "code"}
        assert b"[DONE]" not in body
        assert b'"finish_reason":"' not in body.replace(b" ", b"")
    elif client == "messages":
        assert (name, document["type"]) == ("error", "error")
        assert document["error"].keys() >= {"type", "message"}
        assert b"message_stop" not in body
        assert b"message_delta" not in body
    else:
        assert (name, document["type"]) == ("response.failed", "response.failed")
        assert document["response"]["status"] == "failed"
        assert document["response"]["error"]["message"]
        assert b"response.completed" not in body
        assert b"response.incomplete" not in body


@pytest.mark.parametrize("cut", [_reset, _close, _end, _half_an_event])
@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_a_stream_ends_in_an_error(
    client: str, upstream: str, cut: Callable[[Connection], Any]
) -> None:
    seen = asyncio.Event()
    async with (
        playing(breaking(BEGUN[upstream], cut, seen)) as server,
        gateway(settings_for(server.url, upstream)) as url,
        aiohttp.ClientSession() as session,
        session.post(url + PATHS[client], json=ASK) as answer,
    ):
        assert answer.status == 200
        body = b""
        while b"tial" not in body:
            body += await answer.content.readany()
        seen.set()
        body += await answer.read()
    assert_broken_off(client, body)


@pytest.mark.parametrize("cut", [_reset, _close, _end])
@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_a_stream_that_breaks_off_before_its_first_event(
    client: str, upstream: str, cut: Callable[[Connection], Any]
) -> None:
    seen = asyncio.Event()
    seen.set()
    async with (
        playing(breaking(b": hello\n\n", cut, seen)) as server,
        gateway(settings_for(server.url, upstream)) as url,
        aiohttp.ClientSession() as session,
        session.post(url + PATHS[client], json=ASK) as answer,
    ):
        assert_broken_off(client, await answer.read())


async def _part_of_an_answer(connection: Connection) -> None:
    await connection.request()
    await connection.begin([("content-type", "application/json"), ("content-length", "1000")])
    await connection.write(b'{"choices": [], "usage": {}}')


async def _part_of_chunks(connection: Connection) -> None:
    await connection.request()
    await connection.begin_chunked("application/json")
    await connection.chunk(b'{"choices": [], "usage": {}}')


@pytest.mark.parametrize("play", [_part_of_an_answer, _part_of_chunks])
@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_a_whole_answer_that_breaks_off_is_a_502(
    client: str, upstream: str, play: Play
) -> None:
    async with (
        playing(play) as server,
        gateway(settings_for(server.url, upstream)) as url,
        aiohttp.ClientSession() as session,
        session.post(url + PATHS[client], json={**ASK, "stream": False}) as answer,
    ):
        assert answer.status == 502
        assert "broke off" in (await answer.json())["error"]["message"]


@pytest.mark.parametrize("play", [_part_of_an_answer, _part_of_chunks])
async def test_a_file_that_breaks_off_is_broken_off(play: Play) -> None:
    async with (
        playing(play) as server,
        gateway(settings_for(server.url)) as url,
        aiohttp.ClientSession() as session,
        session.get(url + "/v1/files/1/content") as answer,
    ):
        assert answer.status == 200
        with pytest.raises(aiohttp.ClientPayloadError):
            await answer.read()
