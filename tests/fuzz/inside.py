"""The gateway's whole stack without a socket: a client, the stack, and a fake upstream inside."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.asgi import Reply, ask
from tests.proxy.live import settings_for
from toolwire.config.model import Settings
from toolwire.proxy.asgi import ASGIApp, Receive, Scope, Send
from toolwire.proxy.errors import UpstreamCut
from toolwire.proxy.stack import fold, inner_layers, outer_layers, shared_for

PATHS = {"chat": "/v1/chat/completions", "messages": "/v1/messages", "responses": "/v1/responses"}
PAIRS = [(client, upstream) for client in PATHS for upstream in PATHS]
HANGS_SECONDS = 20


class FakeUpstream:
    """The innermost app: answers with ``status``, ``headers`` and ``reads``, and keeps the body
    that it got last.  ``cut``: what it sends breaks off after the last read."""

    def __init__(self) -> None:
        self.answer(200, "application/json", [b"{}"])
        self.body: bytes | None = None
        self.path = ""

    def answer(
        self, status: int, content_type: str, reads: list[bytes], *, cut: bool = False
    ) -> None:
        """What it says from now on."""
        self.status, self.reads, self.cut = status, reads, cut
        self.headers = [(b"content-type", content_type.encode("latin-1"))]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        self.path, self.body = scope["path"], body
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        for read in self.reads:
            await send({"type": "http.response.body", "body": read, "more_body": True})
            await asyncio.sleep(0)
        if self.cut:
            raise UpstreamCut("the answer of upstream 'up' broke off")
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class Inside:
    """The stack before one fake upstream of a protocol."""

    def __init__(self, protocol: str = "chat", **options: Any) -> None:
        self.upstream = FakeUpstream()
        self.settings = settings_for(protocol=protocol, **options)
        self.app = stack_before(self.settings, self.upstream)

    async def ask(self, path: str, body: bytes, **more: Any) -> Reply:
        """One request; it fails where the gateway hangs."""
        async with asyncio.timeout(HANGS_SECONDS):
            return await ask(self.app, path, body, **more)


def stack_before(settings: Settings, app: ASGIApp) -> ASGIApp:
    """The stack for the first upstream of ``settings``, before ``app``."""
    shared = shared_for(settings)
    inner = fold(inner_layers(settings, settings.upstreams[0], shared), app)
    return fold(outer_layers(settings, shared), inner)


INSIDE = {protocol: Inside(protocol) for protocol in PATHS}
"""One for each protocol of the upstream; what they remember is part of what is tried."""
