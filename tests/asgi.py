"""A client and an innermost app for tests of middlewares, without a server."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from toolwire.proxy.asgi import ASGIApp, Message, Receive, Scope, Send

Headers = list[tuple[bytes, bytes]]


@dataclass
class Reply:
    """What a client got."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    writes: list[bytes] = field(default_factory=list)
    complete: bool = False

    @property
    def body(self) -> bytes:
        return b"".join(self.writes)

    def json(self) -> Any:
        return json.loads(self.body)


def scope_for(method: str, path: str, headers: Headers, **more: Any) -> Scope:
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        **more,
    }


async def ask(
    app: ASGIApp,
    path: str,
    body: Any = None,
    *,
    method: str = "POST",
    headers: dict[str, str] | None = None,
    pieces: list[bytes] | None = None,
    **more: Any,
) -> Reply:
    """One request; ``body`` is JSON or bytes, or comes in ``pieces``."""
    data = (
        body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
    )
    sent = pieces if pieces is not None else [data]
    given: Headers = [(k.encode(), v.encode()) for k, v in (headers or {}).items()]
    if pieces is None:
        given.append((b"content-length", b"%d" % len(data)))
    messages: list[Message] = [
        {"type": "http.request", "body": piece, "more_body": place < len(sent) - 1}
        for place, piece in enumerate(sent)
    ]
    reply = Reply()

    async def receive() -> Message:
        if messages:
            return messages.pop(0)
        await asyncio.Event().wait()  # a client that stays
        raise AssertionError

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            reply.status = message["status"]
            pairs = message["headers"]
            reply.headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in pairs}
        else:
            assert message["type"] == "http.response.body", message["type"]
            reply.writes.append(message.get("body", b""))
            reply.complete = not message.get("more_body", False)

    await app(scope_for(method, path, given, **more), receive, send)
    return reply


class Upstream:
    """The app that a middleware stands before: keeps what it got, answers what it is told."""

    def __init__(
        self,
        *answers: bytes | list[bytes],
        status: int = 200,
        content_type: str = "application/json",
    ) -> None:
        self.answers = list(answers) or [b"{}"]
        self.status = status
        self.content_type = content_type
        self.bodies: list[bytes] = []
        self.scopes: list[Scope] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        self.bodies.append(body)
        self.scopes.append(scope)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        writes = [answer] if isinstance(answer, bytes) else answer
        headers = [(b"content-type", self.content_type.encode())]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        for write in writes:
            await send({"type": "http.response.body", "body": write, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    @property
    def document(self) -> Any:
        """The body that came last, parsed."""
        return json.loads(self.bodies[-1])
