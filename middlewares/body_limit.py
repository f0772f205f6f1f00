"""Refuses request bodies over a size: 413, before the rest of the body is read.

Reads ``content-length`` and counts what comes.  ``max_bytes`` defaults to ``[server]
max_body_bytes``.

Stands outside of whatever reads bodies.

    [middlewares.body_limit]
    enabled = true
"""

from __future__ import annotations

from typing import ClassVar

from toolwire import config
from toolwire.proxy.asgi import ASGIApp, Message, Receive, Scope, Send
from toolwire.proxy.errors import BodyTooLarge, InvalidRequest

DEFAULT_MAX_BYTES = 64 * 1024 * 1024


class Options(config.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    per_upstream: ClassVar[bool] = False


class BodyLimit:
    """See the module."""

    def __init__(
        self, app: ASGIApp, options: Options | None = None, *, max_bytes: int = DEFAULT_MAX_BYTES
    ) -> None:
        self.app = app
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        length = _content_length(scope)
        if length is None:
            await self.app(scope, self._counting(receive), send)
            return
        self._check(length)
        await self.app(scope, receive, send)

    def _counting(self, receive: Receive) -> Receive:
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            if message["type"] == "http.request":
                seen += len(message.get("body", b""))
                self._check(seen)
            return message

        return counted

    def _check(self, size: int) -> None:
        if size > self.max_bytes:
            raise BodyTooLarge(
                f"the body is larger than this gateway's limit of {self.max_bytes} bytes "
                "([server] max_body_bytes)"
            )


def _content_length(scope: Scope) -> int | None:
    """The length that the client announced (the server holds it to it); None for a chunked body."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            try:
                return int(value)
            except ValueError:
                raise InvalidRequest("content-length is no number") from None
    return None
