"""Gives each request an id, and tells the client in headers who answered.

Reads ``x-request-id``: a client's own id is taken over where it is short and plain, else one is
made.  Adds ``x-toolwire-request-id`` (the id in this gateway's log) and ``x-toolwire-upstream`` to
every answer, and ``x-request-id`` (for clients of Messages ``request-id``, too) where the upstream
gave none of its own.

Stands outermost, so that whatever is logged, counted or answered has its id.

    [middlewares.request_id]
    enabled = true
    trust_client = true      # take a client's x-request-id over
"""

from __future__ import annotations

import re
from typing import ClassVar

from toolwire import config
from toolwire.proxy.answer import header
from toolwire.proxy.asgi import ASGIApp, Message, Receive, Scope, Send
from toolwire.proxy.exchange import KEY, Exchange
from toolwire.proxy.protocols.registry import CODECS

_PLAIN = re.compile(rb"[A-Za-z0-9._:/+=@-]{1,128}\Z")
"""Anything else could forge lines of a log that is not JSON."""

HEADER = b"x-request-id"
OWN_HEADER = b"x-toolwire-request-id"
MESSAGES_HEADER = b"request-id"
"""Where clients of Messages look: https://docs.anthropic.com/en/api/errors#request-id"""

_MESSAGES = CODECS["messages"]


class Options(config.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    per_upstream: ClassVar[bool] = False

    trust_client: bool = True
    """Whether a client's own ``x-request-id`` becomes the id."""


class RequestId:
    """See the module."""

    def __init__(self, app: ASGIApp, options: Options | None = None) -> None:
        self.app = app
        self.options = options or Options()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = self._given(scope) if self.options.trust_client else None
        exchange = Exchange(scope, given)

        async def send_with_ids(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": _with_ids(message["headers"], exchange)}
            await send(message)

        await self.app({**scope, KEY: exchange}, receive, send_with_ids)

    def _given(self, scope: Scope) -> str | None:
        for name, value in scope["headers"]:
            if name == HEADER and _PLAIN.match(value):
                return str(value.decode("ascii"))
        return None


def _with_ids(headers: list[tuple[bytes, bytes]], exchange: Exchange) -> list[tuple[bytes, bytes]]:
    own = exchange.request_id.encode("ascii")
    added = [(OWN_HEADER, own)]
    if not header(headers, HEADER):
        added.append((HEADER, own))
    if exchange.client is _MESSAGES and not header(headers, MESSAGES_HEADER):
        added.append((MESSAGES_HEADER, header(headers, HEADER) or own))
    if exchange.upstream is not None:
        added.append((b"x-toolwire-upstream", exchange.upstream.name.encode()))
    return [*headers, *added]
