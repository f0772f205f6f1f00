"""Counts requests, times, tokens, repairs and losses for Prometheus.

The metrics are those named below, by client protocol, upstream and model where that tells
something.  ``GET /metrics`` shows them (``[server] metrics``); with several workers each scrape
sums over all of them.

Stands outside of the error reply, so that it counts what clients get.

    [middlewares.metrics]
    enabled = true
    max_models = 200     # distinct model names with series of their own; further ones: "other"
"""

from __future__ import annotations

import time
from functools import cache
from typing import Annotated, Any, ClassVar

from msgspec import Meta
from prometheus_client import Counter, Gauge, Histogram

from toolwire import config
from toolwire.proxy.asgi import ASGIApp, Receive, Scope, Send
from toolwire.proxy.exchange import CLIENT_LEFT, Exchange
from toolwire.proxy.observe import Observation, observe

MAX_MODEL_CHARACTERS = 200
MAX_TOKENS = 10**12
"""Of one answer; anything more is no count."""

_WHERE = ("client", "upstream", "model")
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640)
"""Answers of models take from a fraction of a second to several minutes."""

REQUESTS = Counter("toolwire_requests", "Requests answered", (*_WHERE, "status"))
DURATION = Histogram(
    "toolwire_request_duration_seconds", "From request to last byte", _WHERE, buckets=_SECONDS
)
FIRST_BYTE = Histogram(
    "toolwire_time_to_first_byte_seconds", "From request to first byte", _WHERE, buckets=_SECONDS
)
TOKENS = Counter("toolwire_tokens", "Tokens that answers told", (*_WHERE, "kind"))
CHANGES = Counter("toolwire_changes", "Repairs and other changes", ("upstream", "kind"))
LOSSES = Counter("toolwire_losses", "Fields that did not cross as they were", ("upstream", "kind"))
RETRIES = Counter("toolwire_upstream_retries", "Requests sent once more", ("upstream",))
OPEN_STREAMS = Gauge(
    "toolwire_open_streams", "Streams under way", ("client",), multiprocess_mode="livesum"
)
BROKEN = Counter(
    "toolwire_broken_answers", "Answers that broke off after they began", ("upstream",)
)


class Options(config.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    per_upstream: ClassVar[bool] = False

    max_models: Annotated[int, Meta(ge=0)] = 200
    """Distinct model names with series of their own: clients choose the names."""


class Metrics:
    """See the module."""

    def __init__(self, app: ASGIApp, options: Options | None = None) -> None:
        self.app = app
        self.options = options or Options()
        self._series: dict[tuple[str, str, str], _Series] = {}
        self._models: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        exchange, observation = observe(scope, send)
        client = exchange.client.name if exchange.client is not None else "other"
        observation.on_stream = _open_streams(client).inc
        try:
            await self.app(scope, receive, observation)
        finally:
            if observation.streaming:
                _open_streams(client).dec()
            self._count(client, exchange, observation)

    def _count(self, client: str, exchange: Exchange, observation: Observation) -> None:
        upstream = exchange.upstream.name if exchange.upstream is not None else ""
        labels = (client, upstream, self._model_label(exchange))
        series = self._series.get(labels)
        if series is None:
            series = self._series[labels] = _Series(labels)
        series.count(exchange, observation)
        for kind, times in exchange.changes.items():
            CHANGES.labels(upstream, kind).inc(times)
        for loss in exchange.losses:
            LOSSES.labels(upstream, loss.kind).inc()
        if observation.status < 400 and exchange.error not in (None, CLIENT_LEFT):
            BROKEN.labels(upstream).inc()
        if exchange.retries:
            RETRIES.labels(upstream).inc(exchange.retries)

    def _model_label(self, exchange: Exchange) -> str:
        model = exchange.model or ""
        if exchange.upstream is None or not model:
            return ""
        if model not in self._models:
            if len(self._models) >= self.options.max_models or not _is_label(model):
                return "other"
            self._models.add(model)
        return model


def _is_label(model: str) -> bool:
    """Whether the page can show this name, which a client chose."""
    return len(model) <= MAX_MODEL_CHARACTERS and model.isprintable()


class _Series:
    """The children of one set of labels, looked up once."""

    def __init__(self, labels: tuple[str, str, str]) -> None:
        self._labels = labels
        self._duration = DURATION.labels(*labels)
        self._first_byte = FIRST_BYTE.labels(*labels)
        self._requests: dict[int, Any] = {}
        self._tokens: dict[str, Any] = {}

    def count(self, exchange: Exchange, observation: Observation) -> None:
        """Adds one request."""
        status = observation.status
        requests = self._requests.get(status)
        if requests is None:
            requests = self._requests[status] = REQUESTS.labels(*self._labels, str(status))
        requests.inc()
        self._duration.observe(time.perf_counter() - exchange.started_at)
        if observation.first_byte_at is not None:
            self._first_byte.observe(observation.first_byte_at - exchange.started_at)
        if (usage := exchange.usage) is not None:
            self._add_tokens("input", usage.input)
            self._add_tokens("cached", usage.cached)
            self._add_tokens("output", usage.output)
            self._add_tokens("reasoning", usage.reasoning)

    def _add_tokens(self, kind: str, count: int | None) -> None:
        if not count or not 0 < count < MAX_TOKENS:  # an upstream may say anything
            return
        child = self._tokens.get(kind)
        if child is None:
            child = self._tokens[kind] = TOKENS.labels(*self._labels, kind)
        child.inc(count)


@cache
def _open_streams(client: str) -> Gauge:
    return OPEN_STREAMS.labels(client)
