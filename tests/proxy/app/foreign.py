"""Middlewares of somebody else: they know ASGI, and nothing of this gateway."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

SEEN: list[tuple[str, bytes]] = []
"""Who saw which request body, in order."""


class Notes:
    """Reads the request's body, and passes it on as it came."""

    def __init__(self, app: Any, name: str) -> None:
        self.app, self.name = app, name

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def noting() -> Any:
            message = await receive()
            if message["type"] == "http.request":
                SEEN.append((self.name, message["body"]))
            return message

        await self.app(scope, noting, send)


class Replaces:
    """Replaces a word in request bodies and in answers, as an ASGI middleware may: bytes by bytes,
    also in event streams; with a word of another length."""

    class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
        word: str
        by: str

    def __init__(self, app: Any, options: Options) -> None:
        self.app = app
        self.word, self.by = options.word.encode(), options.by.encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def replaced_receive() -> Any:
            message = await receive()
            if message["type"] == "http.request":
                message = {**message, "body": message["body"].replace(self.word, self.by)}
            return message

        async def replaced_send(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = [pair for pair in message["headers"] if pair[0] != b"content-length"]
                message = {**message, "headers": headers}
            elif message["type"] == "http.response.body":
                message = {**message, "body": message["body"].replace(self.by, self.word)}
            await send(message)

        headers = [pair for pair in scope["headers"] if pair[0] != b"content-length"]
        await self.app({**scope, "headers": headers}, replaced_receive, replaced_send)


class Answers:
    """Answers by itself where it is asked to."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if b"x-answer-me" not in dict(scope.get("headers", ())):
            await self.app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 418, "headers": []})
        await send({"type": "http.response.body", "body": b"short and stout"})
