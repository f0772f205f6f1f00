"""Middlewares of others at any place of the stack, as the configuration says."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest

from tests.proxy.app import foreign
from tests.proxy.app.streams import ASK, EVENTS, PATHS
from tests.proxy.live import Connection, answering, gateway, playing, settings_for
from toolwire.proxy.stack import STACK

HERE = "tests.proxy.app.foreign"
PLACES = [step.name for step in STACK]
PAIRS = [(client, upstream) for client in PATHS for upstream in PATHS]
ANSWER = (
    b'{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"the mouse"},"finish_reason":"stop"}]}'
)


def replacing(place: str, side: str = "before") -> dict[str, Any]:
    """A middleware that lets the upstream hear of mice, and the client of elephants."""
    options = {"word": "elephant", "by": "mouse"}
    return {"replaces": {"use": f"{HERE}:Replaces", side: place, "options": options}}


@pytest.mark.parametrize("place", PLACES)
async def test_bodies_are_rewritten_both_ways(place: str) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "an elephant"}]}
    async with (
        answering(ANSWER) as upstream,
        gateway(settings_for(upstream.url, middlewares=replacing(place))) as url,
        aiohttp.ClientSession() as client,
        client.post(url + PATHS["chat"], json=body) as answer,
    ):
        message = (await answer.json())["choices"][0]["message"]
        assert message["content"] == "the elephant"
    sent = json.loads(upstream.request.body)
    assert sent["messages"][0]["content"] == "an mouse"


@pytest.mark.parametrize("place", ["routing", "tool_schema_conversion", "sse_rechunking"])
@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_streams_are_rewritten(client: str, upstream: str, place: str, side: str) -> None:
    async def streams(connection: Connection) -> None:
        await connection.request()
        await connection.begin_chunked()
        for event in EVENTS[upstream]:
            await connection.chunk(event.replace(b"llo", b"mouse"))
        await connection.chunk(b"")

    options = replacing(place, side)
    async with (
        playing(streams) as server,
        gateway(settings_for(server.url, upstream, middlewares=options)) as url,
        aiohttp.ClientSession() as session,
        session.post(url + PATHS[client], json={**ASK[client], "stream": True}) as answer,
    ):
        body = await answer.read()
    assert b"elephant" in body
    assert b"mouse" not in body
    if client == "chat":
        assert body.endswith(b"data: [DONE]\n\n")
    else:
        last = {"messages": b"event: message_stop\n", "responses": b"event: response.completed\n"}
        assert last[client] in body


@pytest.mark.parametrize(
    ("place", "sees"),
    [
        ({"before": "request_id"}, "came"),
        ({"after": "routing"}, "named"),
        ({"after": "reasoning_stripping"}, "stripped"),
        ({"after": "key_canonicalization"}, "sorted"),
        ({"after": "sse_rechunking"}, "sorted"),
    ],
)
async def test_it_sees_what_has_happened_outside_of_it(place: dict[str, str], sees: str) -> None:
    body = (
        b'{"model": "up/m", "messages": [{"role": "assistant", "content": "a", "reasoning": "b"}]}'
    )
    bodies = {
        "came": body,
        "named": body.replace(b"up/m", b"m").replace(b": ", b":").replace(b", ", b","),
        "stripped": b'{"model":"m","messages":[{"role":"assistant","content":"a"}]}',
        "sorted": b'{"messages":[{"content":"a","role":"assistant"}],"model":"m"}',
    }
    notes = {"use": f"{HERE}:Notes", "options": {"name": "me"}, **place}
    foreign.SEEN.clear()
    async with (
        answering() as upstream,
        gateway(settings_for(upstream.url, middlewares={"notes": notes})) as url,
        aiohttp.ClientSession() as client,
        client.post(url + PATHS["chat"], data=body) as answer,
    ):
        assert answer.status == 200
        assert upstream.request.body == bodies["sorted"]
        assert upstream.request.one("content-length") == str(len(bodies["sorted"]))
    assert foreign.SEEN[0] == ("me", bodies[sees])


async def test_several_stand_in_the_order_of_the_file() -> None:
    middlewares = {
        name: {"use": f"{HERE}:Notes", "after": "routing", "options": {"name": name}}
        for name in ("first", "second")
    }
    foreign.SEEN.clear()
    async with (
        answering() as upstream,
        gateway(settings_for(upstream.url, middlewares=middlewares)) as url,
        aiohttp.ClientSession() as client,
        client.post(url + PATHS["chat"], json=ASK["chat"]) as answer,
    ):
        assert answer.status == 200
    # of several directly inside of one place the last is next to it; the innermost reads first
    assert [name for name, _ in foreign.SEEN] == ["second", "first"]


async def test_one_that_answers_by_itself() -> None:
    answers = {"use": f"{HERE}:Answers", "after": "auth"}
    async with (
        answering() as upstream,
        gateway(settings_for(upstream.url, middlewares={"answers": answers})) as url,
        aiohttp.ClientSession() as client,
        client.post(url + PATHS["chat"], headers={"x-answer-me": "1"}) as answer,
    ):
        assert (answer.status, await answer.text()) == (418, "short and stout")
        assert answer.headers["x-request-id"]
        assert upstream.requests == []


async def test_one_that_is_switched_off_need_not_be_there() -> None:
    gone = {"use": "not.installed:Gone", "after": "auth", "enabled": False}
    async with (
        answering() as upstream,
        gateway(settings_for(upstream.url, middlewares={"gone": gone})) as url,
        aiohttp.ClientSession() as client,
        client.post(url + PATHS["chat"], json=ASK["chat"]) as answer,
    ):
        assert answer.status == 200


async def test_one_that_compresses() -> None:
    gzip = {
        "use": "starlette.middleware.gzip:GZipMiddleware",
        "after": "access_log",
        "options": {"minimum_size": 10},
    }
    async with (
        answering(ANSWER) as upstream,
        gateway(settings_for(upstream.url, middlewares={"gzip": gzip})) as url,
        aiohttp.ClientSession() as client,
        client.post(url + PATHS["chat"], json=ASK["chat"]) as answer,
    ):
        assert answer.headers["content-encoding"] == "gzip"
        assert (await answer.json())["choices"]
