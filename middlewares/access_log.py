"""Logs one line for each request, when its answer is over.

The line tells the request id, the client's protocol, upstream, model, status, bytes, time to the
first byte and duration in milliseconds, tokens where the answer told them, retries, and what was
repaired, changed or dropped.  Never a body, never a header's value.

Stands outside of the error reply, so that it sees the status that the client gets.

    [middlewares.access_log]
    enabled = true
    skip = ["/healthz", "/metrics"]   # paths that are not logged
"""

from __future__ import annotations

import time
from typing import Any, ClassVar

import structlog

from toolwire import config
from toolwire.proxy.asgi import ASGIApp, Receive, Scope, Send, route_path
from toolwire.proxy.exchange import Exchange
from toolwire.proxy.observe import Observation, observe

_log = structlog.get_logger("toolwire.access")


class Options(config.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    per_upstream: ClassVar[bool] = False

    skip: tuple[str, ...] = ("/healthz", "/metrics")
    """Paths that are not logged."""


class AccessLog:
    """See the module."""

    def __init__(self, app: ASGIApp, options: Options | None = None) -> None:
        self.app = app
        self.options = options or Options()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or route_path(scope) in self.options.skip:
            await self.app(scope, receive, send)
            return
        exchange, observation = observe(scope, send)
        try:
            await self.app(scope, receive, observation)
        finally:
            line = describe(scope, exchange, observation)
            if exchange.error or observation.status >= 500:
                _log.warning("request", **line)
            else:
                _log.info("request", **line)


def describe(scope: Scope, exchange: Exchange, observation: Observation) -> dict[str, Any]:
    """The fields of the line; those that have nothing to say are left out."""
    now = time.perf_counter()
    line: dict[str, Any] = {
        "request_id": exchange.request_id,
        "method": scope["method"],
        "path": scope["path"],
        "status": observation.status,
        "duration_ms": round((now - exchange.started_at) * 1000, 1),
        "bytes_out": observation.bytes_out,
    }
    if exchange.client is not None:
        line["client"] = exchange.client.name
    if exchange.upstream is not None:
        line["upstream"] = exchange.upstream.name
        line["upstream_protocol"] = exchange.upstream.protocol
    if exchange.model:
        line["model"] = exchange.model
    if observation.streaming:
        line["stream"] = True
    if observation.first_byte_at is not None:
        line["first_byte_ms"] = round((observation.first_byte_at - exchange.started_at) * 1000, 1)
    if observation.upstream_id:
        line["upstream_request_id"] = observation.upstream_id
    _add_outcome(line, exchange)
    return line


def _add_outcome(line: dict[str, Any], exchange: Exchange) -> None:
    if (usage := exchange.usage) is not None:
        counts = {
            "input_tokens": usage.input,
            "cached_tokens": usage.cached,
            "output_tokens": usage.output,
            "reasoning_tokens": usage.reasoning,
        }
        line.update({name: count for name, count in counts.items() if count is not None})
    if exchange.retries:
        line["retries"] = exchange.retries
    if exchange.changes:
        line["changes"] = dict(exchange.changes)
    if exchange.losses:
        line["losses"] = [f"{loss.kind} {loss.path}" for loss in exchange.losses]
    if exchange.error:
        line["error"] = exchange.error
