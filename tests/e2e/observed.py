"""The demo upstream in this process, so that a test sees what reaches it and when it is left."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import uvicorn
from msgspec import Struct, field
from starlette.types import Message, Receive, Scope, Send

from tests.proxy.gateway import GUARD_SECONDS
from toolwire.proxy.demo import create_demo
from toolwire.proxy.serve import listen, url_of

EVENTS_PER_SECOND = 10
"""At which the quirk `slow` sends here."""

HANGS = "demo-that-hangs"
"""Asked for this model, it says nothing at all."""


class Seen(Struct):
    """One request, as the upstream lived through it."""

    headers: dict[str, str]
    writes: int = 0
    """Of the body, so far."""
    complete: bool = False
    over: threading.Event = field(default_factory=threading.Event)
    """Set when it was answered, or left."""


class Observed:
    """The demo, which remembers its requests; the next ``failures`` are refused."""

    def __init__(self) -> None:
        self.url = ""
        self.seen: list[Seen] = []
        self.failures = 0
        self._demo = create_demo(delay=1 / EVENTS_PER_SECOND)
        self._arrived = threading.Condition()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        seen = Seen({name.decode(): value.decode() for name, value in scope["headers"]})
        with self._arrived:
            self.seen.append(seen)
            self._arrived.notify_all()
        body = await _body(receive)
        unread = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def again() -> Message:
            return next(unread, None) or await receive()

        async def counted(message: Message) -> None:
            await send(message)
            if message["type"] == "http.response.body":
                seen.writes += 1
                seen.complete = not message.get("more_body", False)

        try:
            if HANGS.encode() in body:
                await _left(receive)
            elif self.failures:
                self.failures -= 1
                await _refuse(send)
            else:
                await self._demo(scope, again, counted)
        finally:
            seen.over.set()

    def wait_for_request(self) -> Seen:
        """The latest request, as soon as there is one."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: self.seen, GUARD_SECONDS)
        return self.seen[-1]


async def _body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)


async def _left(receive: Receive) -> None:
    async with asyncio.timeout(GUARD_SECONDS):
        while (await receive())["type"] != "http.disconnect":
            pass


async def _refuse(send: Send) -> None:
    """429, come back in a moment."""
    headers = [(b"content-type", b"application/json"), (b"retry-after", b"0.02")]
    await send({"type": "http.response.start", "status": 429, "headers": headers})
    body = b'{"error":{"message":"Slow down.","type":"requests","param":null,"code":null}}'
    await send({"type": "http.response.body", "body": body})


@contextlib.contextmanager
def observed() -> Iterator[Observed]:
    """The observed demo on a free port."""
    app: Any = Observed()
    listener = listen("127.0.0.1", 0)
    app.url = url_of(listener)
    config = uvicorn.Config(app, lifespan="off", ws="none", log_config=None, log_level="critical")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield app
    finally:
        server.should_exit = server.force_exit = True
        thread.join()
