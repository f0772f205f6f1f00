"""Asks clients for a key.

Reads ``Authorization: Bearer …`` or ``x-api-key``; a request with neither, or with a key that is
not among the configured ones, is a 401 in the client's own protocol.  The keys are those of
``[server] client_keys`` and ``client_keys_file``, or ``keys`` where it is mounted alone.

Stands outside of everything that costs something, and inside of the error reply.

    [middlewares.auth]
    enabled = true
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from toolwire import config
from toolwire.config.secret import Secret
from toolwire.proxy.asgi import ASGIApp, Receive, Scope, Send
from toolwire.proxy.errors import Unauthorized


class Options(config.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    per_upstream: ClassVar[bool] = False


class Auth:
    """See the module.  ``keys`` are compared in constant time."""

    def __init__(
        self, app: ASGIApp, options: Options | None = None, *, keys: Sequence[Secret] = ()
    ) -> None:
        self.app = app
        self.keys = tuple(keys)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] != "OPTIONS":
            self._check(_shown(scope))
        await self.app(scope, receive, send)

    def _check(self, shown: list[str]) -> None:
        if not shown:
            raise Unauthorized(
                "no key: send one of this gateway's client keys as 'Authorization: Bearer KEY' "
                "or 'x-api-key: KEY'"
            )
        # every key is compared, so that the time does not tell which one came near
        matches = [key.matches(candidate) for candidate in shown for key in self.keys]
        if not any(matches):
            raise Unauthorized("this key is not one of this gateway's client keys")


def _shown(scope: Scope) -> list[str]:
    shown = []
    for name, value in scope["headers"]:
        if name == b"x-api-key":
            shown.append(value.decode("latin-1"))
        elif name == b"authorization" and value[:7].lower() == b"bearer ":
            shown.append(value[7:].decode("latin-1").strip())
    return [candidate for candidate in shown if candidate]
