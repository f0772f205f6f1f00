"""Turns every exception below it into an answer in the client's own protocol.

What the gateway has to say (bad JSON, no such model, upstream not reachable, …) gets its status and
its shape; anything unforeseen is logged with its traceback and becomes a 500 that shows nothing of
it.  Once the answer has begun nothing can be said any more: the connection is broken off, so that
no client takes the answer for complete.  A client that has left is answered nothing.

Stands outside of everything that may raise, and inside of the log and the metrics, which count
what it answers.

    [middlewares.error_reply]
    enabled = true
"""

from __future__ import annotations

import re
from asyncio import CancelledError
from typing import ClassVar

import structlog

from toolwire import config
from toolwire.proxy.asgi import ASGIApp, Message, Receive, Scope, Send, route_path
from toolwire.proxy.errors import ClientDisconnected, InvalidRequest, ShuttingDown, ToolwireError
from toolwire.proxy.exchange import CLIENT_LEFT, Exchange
from toolwire.proxy.protocols import failure, json
from toolwire.proxy.protocols.codec import Codec
from toolwire.proxy.protocols.registry import CODECS

_log = structlog.get_logger("toolwire")

_MESSAGES_PATH = re.compile(r"(/v1)?/messages(/|$)")


class Options(config.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    per_upstream: ClassVar[bool] = False


class ErrorReply:
    """See the module."""

    def __init__(self, app: ASGIApp, options: Options | None = None) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        exchange = Exchange.of(scope)
        started = False

        async def noting_send(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, noting_send)
        except ClientDisconnected:
            exchange.error = CLIENT_LEFT
        except CancelledError:
            error = ShuttingDown()
            exchange.error = error.message
            if not started:
                await _answer(scope, send, error)
            raise
        except Exception as error:
            told = _told(error, exchange)
            if started:
                raise
            await _answer(scope, send, told)


def _told(error: Exception, exchange: Exchange) -> ToolwireError:
    """What the client is told of ``error``; the log is told more."""
    if isinstance(error, ToolwireError):
        exchange.error = error.message
        return error
    exchange.error = f"{type(error).__name__}: {error}"
    if isinstance(error, RecursionError | json.NestedTooDeeply):
        return InvalidRequest("the request is nested too deeply")
    _log.error("internal error", request_id=exchange.request_id, exc_info=error)
    return ToolwireError(_INTERNAL.format(exchange.request_id))


_INTERNAL = "internal error of the gateway; its log has the details under request id {}"


async def _answer(scope: Scope, send: Send, error: ToolwireError) -> None:
    told = failure.from_exception(error)
    told.request_id = Exchange.of(scope).request_id
    body = json.encode(_codec(scope).write_failure(told))
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        *((name.encode(), value.encode()) for name, value in error.headers.items()),
    ]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _codec(scope: Scope) -> Codec:
    """The client's protocol, by its endpoint, else by the header that Anthropic's SDKs send."""
    if (codec := Exchange.of(scope).client) is not None:
        return codec
    speaks_messages = _MESSAGES_PATH.match(route_path(scope)) or any(
        name == b"anthropic-version" for name, _ in scope["headers"]
    )
    return CODECS["messages" if speaks_messages else "chat"]
