"""The one place that knows the order: the stack, outermost first, and how it is built.

The stack has two parts.  The outer one is built once and ends in ``routing``, which chooses the
upstream; the inner one is built once for each upstream, with that upstream's options, and ends in
its forwarder.  A disabled middleware is not built, so it costs a request nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from toolwire.config.model import Settings, ThirdParty, Upstream
from toolwire.config.options import Options
from toolwire.middlewares import (
    access_log,
    answer_repair,
    auth,
    body_limit,
    count_tokens,
    error_reply,
    key_canonicalization,
    metrics,
    model_list,
    reasoning_stripping,
    request_id,
    response_store,
    routing,
    sse_rechunking,
    thinking_auto_disable,
    tool_schema_conversion,
)
from toolwire.proxy.asgi import ASGIApp, Receive, Scope, Send
from toolwire.proxy.exchange import Exchange
from toolwire.proxy.forward import Forwarder
from toolwire.proxy.store import Store, open_store
from toolwire.proxy.thinking_store import ThinkingStore


class Step(NamedTuple):
    """A middleware of ours: its name in the configuration, its options and its class."""

    name: str
    options: type[Options]
    build: Callable[..., ASGIApp]
    decodes: bool = False
    """Whether it reads every request's document."""


OUTER: list[Step] = [
    Step("request_id", request_id.Options, request_id.RequestId),
    Step("access_log", access_log.Options, access_log.AccessLog),
    Step("metrics", metrics.Options, metrics.Metrics),
    Step("error_reply", error_reply.Options, error_reply.ErrorReply),
    Step("auth", auth.Options, auth.Auth),
    Step("body_limit", body_limit.Options, body_limit.BodyLimit),
    Step("model_list", model_list.Options, model_list.ModelList),
    Step("response_store", response_store.Options, response_store.ResponseStore),
    Step("routing", routing.Options, routing.Routing),
]
"""Before an upstream is chosen."""

INNER: list[Step] = [
    Step("count_tokens", count_tokens.Options, count_tokens.CountTokens),
    Step(
        "tool_schema_conversion",
        tool_schema_conversion.Options,
        tool_schema_conversion.ToolSchemaConversion,
    ),
    Step(
        "reasoning_stripping",
        reasoning_stripping.Options,
        reasoning_stripping.ReasoningStripping,
        decodes=True,
    ),
    Step(
        "thinking_auto_disable",
        thinking_auto_disable.Options,
        thinking_auto_disable.ThinkingAutoDisable,
        decodes=True,
    ),
    Step(
        "key_canonicalization",
        key_canonicalization.Options,
        key_canonicalization.KeyCanonicalization,
        decodes=True,
    ),
    Step("answer_repair", answer_repair.Options, answer_repair.AnswerRepair),
    Step("sse_rechunking", sse_rechunking.Options, sse_rechunking.SSERechunking),
]
"""Towards one upstream."""

STACK = [*OUTER, *INNER]
_BORDER = "routing"
"""The last one that is built once for all upstreams."""

OPTIONS: dict[str, type[Options]] = {step.name: step.options for step in STACK}
"""What the configuration knows of the middlewares."""


_STEPS = {step.name: step for step in STACK}


class Layer(NamedTuple):
    """One built place of a stack: ours, or somebody else's."""

    name: str
    build: Callable[[ASGIApp], ASGIApp]
    options: Options


def order(options: Mapping[str, Options]) -> list[str]:
    """The names of the stack, outermost first, those of third parties in their place.

    Options that were loaded are in order already.  Made by hand they may be only some.
    """
    if options.keys() >= OPTIONS.keys():
        return list(options)
    names = [step.name for step in STACK]
    for name, third in options.items():
        if isinstance(third, ThirdParty):
            place = names.index(third.before or third.after)
            names.insert(place + (not third.before), name)
    return names


def layers(
    names: Iterable[str],
    options: Mapping[str, Options],
    arguments: Mapping[str, Mapping[str, Any]],
) -> list[Layer]:
    """The enabled ones among ``names``.

    ``arguments`` are what a class of ours is given beside its options.
    """
    found = []
    for name in names:
        step, chosen = _STEPS.get(name), options.get(name)
        if step is not None:
            chosen = chosen or step.options()
        if chosen is None or not chosen.enabled:
            continue
        if step is not None:
            build = _builder(step.build, options=chosen, **arguments.get(name, {}))
        elif isinstance(chosen, ThirdParty):  # imported only here: one left out may be missing
            build = _builder(chosen.factory, **chosen.arguments())
        else:
            raise TypeError(f"{name} is none of our middlewares, and its options no ThirdParty")
        found.append(Layer(name, build, chosen))
    return found


def _builder(build: Callable[..., Any], **arguments: Any) -> Callable[[ASGIApp], ASGIApp]:
    return lambda app: build(app, **arguments)


def fold(layers: list[Layer], app: ASGIApp) -> ASGIApp:
    """The layers around ``app``."""
    for layer in reversed(layers):
        app = layer.build(app)
    return app


class Shared(NamedTuple):
    """What the stacks of all upstreams share."""

    responses: Store
    thinking: ThinkingStore


def shared_for(settings: Settings) -> Shared:
    """The stores, not opened yet."""
    return Shared(open_store(settings.responses_store), ThinkingStore(settings.thinking_store))


def inner_layers(
    settings: Settings, upstream: Upstream, shared: Shared | None = None
) -> list[Layer]:
    """What stands between routing and the forwarder of ``upstream``."""
    shared = shared or shared_for(settings)
    options = {**settings.middlewares, **upstream.middlewares}
    names = order(options)
    arguments: dict[str, dict[str, Any]] = {
        "count_tokens": {"upstream": upstream},
        "tool_schema_conversion": {"upstream": upstream, "thinking": shared.thinking},
    }
    return layers(names[names.index(_BORDER) + 1 :], options, arguments)


def outer_layers(settings: Settings, shared: Shared | None = None) -> list[Layer]:
    """What stands before an upstream is chosen."""
    shared = shared or shared_for(settings)
    server = settings.server
    arguments: dict[str, dict[str, Any]] = {
        "auth": {"keys": server.client_keys},
        "body_limit": {"max_bytes": server.max_body_bytes},
        "model_list": {"upstreams": settings.upstreams},
        "response_store": {"store": shared.responses, "upstreams": settings.upstreams},
        "routing": {
            "upstreams": settings.upstreams,
            "default_upstream": settings.default_upstream,
            "decodes": _decodes(settings),
        },
    }
    names = order(settings.middlewares)
    found = layers(names[: names.index(_BORDER) + 1], settings.middlewares, arguments)
    if server.auth == "off" or not server.client_keys:
        found = [layer for layer in found if layer.name != "auth"]
    return found


def _decodes(settings: Settings) -> bool:
    return any(
        step.decodes and (upstream.middlewares.get(step.name) or step.options()).enabled
        for upstream in settings.upstreams
        for step in INNER
    )


class Stack:
    """The whole stack for some settings."""

    def __init__(self, settings: Settings) -> None:
        self.shared = shared_for(settings)
        self.forwarders = {u.name: Forwarder(u) for u in settings.upstreams}
        self._inner = {
            upstream.name: fold(
                inner_layers(settings, upstream, self.shared), self.forwarders[upstream.name]
            )
            for upstream in settings.upstreams
        }
        self._outer = fold(outer_layers(settings, self.shared), self._to_upstream)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._outer(scope, receive, send)

    async def _to_upstream(self, scope: Scope, receive: Receive, send: Send) -> None:
        upstream = Exchange.of(scope).upstream
        if upstream is None:
            raise RuntimeError("routing is disabled or chose no upstream")
        await self._inner[upstream.name](scope, receive, send)

    async def aclose(self) -> None:
        """Closes the connections to the upstreams, and the stores."""
        await self.shared.responses.aclose()
        for forwarder in self.forwarders.values():
            await forwarder.aclose()
