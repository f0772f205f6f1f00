"""The gateway as an ASGI app: a request begins here.

    app = create_app(load(Path("toolwire.toml"), environ=os.environ, options=OPTIONS))

Runs under any ASGI server, or mounted into another app (``Mount("/llm", app)``): it needs no
lifespan of its own, for what has to be opened is opened with the first request.  An app that mounts
it can close its connections with ``await app.aclose()``.
"""

from __future__ import annotations

from typing import Any

from toolwire.config.model import Settings
from toolwire.proxy.asgi import Receive, Scope, Send, route_path
from toolwire.proxy.metrics_page import metrics_page
from toolwire.proxy.stack import Stack

_TEXT = b"text/plain; charset=utf-8"


class Toolwire:
    """The gateway for some settings.  ``/``, ``/healthz`` and ``/metrics`` ask for no key."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.stack = Stack(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path = route_path(scope)
            if path == "/healthz":
                await _answer(send, b"ok\n", _TEXT)
            elif path == "/" and scope["method"] in ("GET", "HEAD"):
                # people look here, and Claude Code does before its first request
                await _answer(send, b"toolwire: the API is under /v1/\n", _TEXT)
            elif path == "/metrics" and self.settings.server.metrics:
                await _answer(send, *metrics_page())
            else:
                await self.stack(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000, "reason": "HTTP only"})

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self.aclose()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def aclose(self) -> None:
        """Closes what the requests opened."""
        await self.stack.aclose()


def create_app(settings: Settings) -> Toolwire:
    """The gateway.  ``settings`` come from ``toolwire.config.load``."""
    return Toolwire(settings)


async def _answer(send: Send, body: bytes, content_type: bytes) -> None:
    headers: list[Any] = [
        (b"content-type", content_type),
        (b"content-length", b"%d" % len(body)),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
