"""Whose credentials go where: a client's stay here, an upstream's never come down."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest
from structlog.testing import capture_logs

from tests.proxy.live import Connection, Request, answering, gateway, playing, settings_for

CHAT = "/v1/chat/completions"
ASK = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
CLIENT_SECRETS = {
    "authorization": "Bearer sk-client",
    "x-api-key": "sk-client-x",
    "api-key": "sk-client-a",
    "x-goog-api-key": "sk-client-g",
    "cookie": "session=sk-client-c",
    "proxy-authorization": "Basic sk-client-p",
}
KEY = "sk-upstream-0123456789"


async def upstream_sees(headers: dict[str, str], **options: Any) -> Request:
    async with (
        answering() as upstream,
        gateway(settings_for(upstream.url, **options)) as url,
        aiohttp.ClientSession() as client,
        client.post(url + CHAT, json=ASK, headers=headers) as answer,
    ):
        assert answer.status == 200
        return upstream.request


@pytest.mark.parametrize("key", ["", KEY])
async def test_a_client_s_credentials_stay_here(key: str) -> None:
    request = await upstream_sees(CLIENT_SECRETS, api_key=key)
    assert "sk-client" not in str(request.headers)
    assert request.one("authorization") == (f"Bearer {key}" if key else None)


@pytest.mark.parametrize("key", ["", KEY])
async def test_unless_they_shall_go_up(key: str) -> None:
    request = await upstream_sees(CLIENT_SECRETS, api_key=key, forward_client_auth=True)
    found = {name: request.one(name) for name in CLIENT_SECRETS}
    assert found == {**CLIENT_SECRETS, "proxy-authorization": None}


async def test_the_upstream_s_key_stands_in_for_a_client_without_one() -> None:
    request = await upstream_sees({}, api_key=KEY, forward_client_auth=True)
    assert request.one("authorization") == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("protocol", "provider", "name", "value"),
    [
        ("chat", "generic", "authorization", f"Bearer {KEY}"),
        ("responses", "openai", "authorization", f"Bearer {KEY}"),
        ("messages", "anthropic", "x-api-key", KEY),
        ("messages", "generic", "x-api-key", KEY),
    ],
)
async def test_the_key_goes_where_the_upstream_looks(
    protocol: str, provider: str, name: str, value: str
) -> None:
    async with (
        answering() as upstream,
        gateway(settings_for(upstream.url, protocol, provider=provider, api_key=KEY)) as url,
        aiohttp.ClientSession() as client,
        client.get(url + "/v1/files") as answer,
    ):
        assert answer.status == 200
    assert upstream.request.one(name) == value
    assert str(upstream.request.headers).count(KEY) == 1


@pytest.mark.parametrize("path", [CHAT, "/v1/messages", "/v1/responses", "/v1/embeddings"])
@pytest.mark.parametrize("failing", ["refused", "cut", "html", "error", "echo", "stream"])
async def test_the_upstream_s_key_is_told_to_nobody(path: str, failing: str) -> None:
    """Not even where the upstream repeats it, as some do of a key that they refuse."""

    async def play(connection: Connection) -> None:
        await connection.request()
        told = f"Incorrect API key provided: {KEY}."
        if failing == "html":
            await connection.answer(
                f"<p>{told}".encode(), "401 No", [("content-type", "text/html")]
            )
        elif failing == "error":
            error = {"message": told, "type": "t", "param": None, "code": "c"}
            body = json.dumps({"error": error})
            await connection.answer(body.encode(), "401 Unauthorized")
        elif failing == "echo":
            body = json.dumps({"error": {"message": told}})
            await connection.answer(body.encode())
        elif failing == "stream":
            await connection.begin_chunked()
            data = b"data: " + json.dumps({"error": {"message": told}}).encode()
            cut = data.index(KEY.encode()) + 9
            await connection.chunk(data[:cut])
            await asyncio.sleep(0.05)  # so that it comes in two reads
            await connection.chunk(data[cut:])
            await connection.chunk(b"")
        elif failing == "cut":
            await connection.begin([("content-length", "9")])

    async with playing(play) as upstream:
        url_of_upstream = upstream.url
        if failing == "refused":
            url_of_upstream = "http://127.0.0.1:1"
        with capture_logs() as log:
            async with (
                gateway(settings_for(url_of_upstream, api_key=KEY)) as url,
                aiohttp.ClientSession() as client,
                client.post(
                    url + path, json={**ASK, "input": "hi", "stream": failing == "stream"}
                ) as answer,
            ):
                try:
                    body = await answer.read()
                except aiohttp.ClientPayloadError:
                    body = b""
        assert KEY.encode() not in body
        assert KEY not in str(answer.headers)
        assert KEY not in str(log)
