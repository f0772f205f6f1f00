"""A gateway between a client and an upstream that both do what a case says, all on loopback."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from msgspec import Struct

from tests.proxy.gateway import GUARD_SECONDS, listening

PATHS = {
    "chat": "/v1/chat/completions",
    "messages": "/v1/messages",
    "responses": "/v1/responses",
}
PROVIDERS = {
    "chat": ("generic", "openai", "bailian", "deepseek"),
    "messages": ("generic", "anthropic"),
    "responses": ("generic", "openai"),
}


class Exchange(Struct):
    """What the client got, and what reached the upstream: once, or more often."""

    status: int
    headers: dict[str, str]
    body: bytes
    asked: list[bytes]


class ScriptedUpstream:
    """Answers every attempt as the case says; ``asked`` are the bodies that came."""

    def __init__(self) -> None:
        self.case: dict[str, Any] = {}
        self.asked: list[bytes] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(await request.read())
        status, pieces = self.case.get("upstream_status", 200), _pieces(self.case)
        if pieces is None:
            body = json.dumps(self.case.get("upstream_response"), ensure_ascii=False)
            return web.Response(
                status=status,
                body=body.encode("utf-8", "surrogatepass"),
                content_type="application/json",
            )
        response = web.StreamResponse(status=status, headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece)
        return response


def _pieces(case: dict[str, Any]) -> list[bytes] | None:
    """The network writes of a stream; None where the answer is none."""
    if "upstream_bytes_b64" in case:
        return [base64.b64decode(piece) for piece in case["upstream_bytes_b64"]]
    if "upstream_sse" in case:
        return [piece.encode("utf-8", "surrogatepass") for piece in case["upstream_sse"]]
    return None


class Script:
    """Plays cases."""

    def __init__(
        self, upstream: ScriptedUpstream, session: aiohttp.ClientSession, url: str
    ) -> None:
        self._upstream = upstream
        self._session = session
        self._url = url

    async def play(self, case: dict[str, Any]) -> Exchange:
        upstream = f"{case['upstream']}-{case.get('provider', 'generic')}"
        request = {**case["request"], "model": f"{upstream}/{case['request']['model']}"}
        self._upstream.case, self._upstream.asked = case, []
        async with self._session.post(
            self._url + PATHS[case["client"]],
            data=json.dumps(request, ensure_ascii=False).encode("utf-8", "surrogatepass"),
            headers={"content-type": "application/json", **(case.get("headers") or {})},
        ) as response:
            body = await response.read()
            headers = {name.lower(): value for name, value in response.headers.items()}
            return Exchange(response.status, headers, body, self._upstream.asked)


def _config(url: str, state: Path) -> str:
    upstreams = [
        f'[[upstreams]]\nname = "{protocol}-{provider}"\nprotocol = "{protocol}"\n'
        f'provider = "{provider}"\nbase_url = "{url}"\n'
        for protocol, providers in PROVIDERS.items()
        for provider in providers
    ]
    store = f'[responses_store]\nurl = "sqlite:///{state}/responses.db"\n'
    return "\n".join([*upstreams, store])


@contextlib.asynccontextmanager
async def scripted(folder: Path) -> AsyncIterator[Script]:
    """A gateway with an upstream of each protocol and provider; ``folder`` is for its files."""
    upstream = ScriptedUpstream()
    app = web.Application(client_max_size=1 << 26)
    app.router.add_route("*", "/{path:.*}", upstream.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    config = folder / "toolwire.toml"
    config.write_text(_config(f"http://127.0.0.1:{runner.addresses[0][1]}", folder))
    try:
        async with (
            listening("serve", "--config", str(config)) as gateway,
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(GUARD_SECONDS)) as session,
        ):
            yield Script(upstream, session, gateway.url)
    finally:
        await runner.cleanup()
