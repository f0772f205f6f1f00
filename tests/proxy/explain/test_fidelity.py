"""What is told is what happens: beside the real gateway, with an upstream on loopback."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from pytest_aiohttp import AiohttpServer

from tests.asgi import ask
from tests.proxy.explain.samples import (
    ANSWERS,
    PAIRS,
    PATHS,
    REQUESTS,
    explained,
    settings_for,
)
from tests.proxy.explain.streams import STREAMS
from toolwire.proxy.app import create_app
from toolwire.proxy.explain.explanation import Explanation

SECRETS = 'api_key = "sk-of-the-upstream"\nheaders = { x-team = "of-the-team" }'
CLIENT_HEADERS = {
    "content-type": "application/json",
    "authorization": "Bearer sk-of-the-client",
    "anthropic-version": "2023-06-01",
    "openai-beta": "x=1",
    "x-own": "of-the-client",
}


@dataclass
class RealUpstream:
    """Notes what it is sent, and answers the same each time."""

    answer: bytes
    content_type: str
    seen: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    async def post(self, request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.seen.append((request.path, headers, await request.read()))
        return web.Response(body=self.answer, headers={"content-type": self.content_type})


async def both(
    client: str, upstream: str, stream: bool, aiohttp_server: AiohttpServer
) -> tuple[Explanation, RealUpstream, bytes]:
    """The explanation; what the real upstream saw; what the real client got."""
    answer = STREAMS[upstream] if stream else json.dumps(ANSWERS[upstream]).encode()
    real = RealUpstream(answer, "text/event-stream" if stream else "application/json")
    app = web.Application()
    app.router.add_post("/{path:.*}", real.post)
    server = await aiohttp_server(app)
    settings = settings_for(upstream, f"http://127.0.0.1:{server.port}", SECRETS)
    request = {**REQUESTS[client], **({"stream": True} if stream else {})}
    gateway = create_app(settings)
    try:
        body = json.dumps(request).encode()
        got = await ask(gateway, PATHS[client], body, headers=CLIENT_HEADERS)
    finally:
        await gateway.aclose()
    assert got.status == 200, got.body
    headers = [f"{name}: {value}" for name, value in CLIENT_HEADERS.items()]
    told = await explained(
        request, settings, answer, protocol=client, headers=headers, upstream="upstream"
    )
    return told, real, got.body


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_the_upstream_request_is_the_one_that_is_sent(
    client: str, upstream: str, stream: bool, aiohttp_server: AiohttpServer
) -> None:
    told, real, _ = await both(client, upstream, stream, aiohttp_server)
    (path, headers, body), (sent,) = real.seen[0], told.sent
    assert sent.body == body
    assert sent.url.endswith(path)
    assert path == PATHS[upstream]
    shown = dict(sent.headers)
    assert shown.keys() == headers.keys()
    hidden = {name for name, value in shown.items() if "***" in value}
    assert hidden == {"x-api-key" if upstream == "messages" else "authorization", "x-team"}
    assert {name: shown[name] for name in shown.keys() - hidden} == {
        name: headers[name] for name in headers.keys() - hidden
    }


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_the_client_gets_what_is_told(
    client: str, upstream: str, stream: bool, aiohttp_server: AiohttpServer
) -> None:
    told, _, got = await both(client, upstream, stream, aiohttp_server)
    assert told.answer is not None
    assert _without_chance(told.answer.body) == _without_chance(got)
    assert told.answer.complete
    assert "Take an umbrella." in json.dumps(told.answer.seen)


def _without_chance(body: bytes) -> bytes:
    """Without the ids that are drawn and the times of day."""
    body = re.sub(rb"_?[0-9a-f]{24,}", b"_ID", body)
    return re.sub(rb'("\w+_at"|"created"):[0-9.]+', rb"\1:0", body)


async def test_no_secret_is_told(aiohttp_server: AiohttpServer) -> None:
    told, real, _ = await both("chat", "messages", False, aiohttp_server)
    assert "sk-of-the-upstream" in str(real.seen)
    assert [
        secret
        for secret in ("sk-of-the-upstream", "of-the-team", "sk-of-the-client")
        if secret in repr(told.sent) or secret in repr(told.steps)
    ] == []
