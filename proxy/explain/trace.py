"""One request through the real stack, with a probe in each gap."""

from __future__ import annotations

import asyncio
from functools import partial

from msgspec import Struct, field

from toolwire.config.model import Settings
from toolwire.config.options import Options
from toolwire.proxy.asgi import ASGIApp, Headers, Message, Receive, Scope, Send
from toolwire.proxy.errors import ClientDisconnected
from toolwire.proxy.exchange import Exchange
from toolwire.proxy.explain.probe import Passage, Probe
from toolwire.proxy.explain.upstream import RecordedAnswer, RecordedUpstream, Sent
from toolwire.proxy.stack import Layer, Shared, fold, inner_layers, outer_layers
from toolwire.proxy.store import MemoryStore
from toolwire.proxy.thinking_store import ThinkingStore

LEFT_OUT = ("access_log", "metrics", "auth")
"""They look on, or ask for a key, which a file has not."""


class Attempt(Struct):
    """One request that reached the upstream, and the last passage of each place before it."""

    passages: dict[int, Passage]
    sent: Sent


class Trace(Struct):
    """What the probes noted.  ``layers`` are outermost first; place ``i`` is outside of layer
    ``i``, and the last place is before the upstream.  ``latest`` holds the last passage of each
    place; ``left_out`` the layers that are not built here."""

    layers: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    latest: dict[int, Passage] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)
    exchange: Exchange | None = None
    step: int = 0
    error: Exception | None = None
    """What the stack raised, so that a server breaks the connection off: the answer had begun, or
    the error reply is disabled."""

    def entered(self, passage: Passage) -> None:
        """A probe was asked.  What was further in belongs to an earlier attempt."""
        self.latest = {
            place: seen for place, seen in self.latest.items() if place < passage.place
        } | {passage.place: passage}

    def sent(self, sent: Sent) -> None:
        """The upstream was asked."""
        self.attempts.append(Attempt(dict(self.latest), sent))

    def began(self, step: int) -> None:
        """The upstream makes its next write."""
        self.step = step


async def trace(
    settings: Settings, path: str, headers: Headers, body: bytes, answer: RecordedAnswer | None
) -> Trace:
    """What happens to ``body``, posted to ``path``, where an upstream answers ``answer``.

    Asks nobody, and writes no file: responses are kept in memory, so none is there yet.
    """
    shared = Shared(MemoryStore(), ThinkingStore(settings.thinking_store))
    traced = Trace()
    outer = outer_layers(settings, shared)
    traced.left_out = [layer.name for layer in outer if layer.name in LEFT_OUT]
    outer = [layer for layer in outer if layer.name not in LEFT_OUT]

    async def to_upstream(scope: Scope, receive: Receive, send: Send) -> None:
        upstream = Exchange.of(scope).upstream
        if upstream is None:
            raise RuntimeError("routing is disabled or chose no upstream")
        inner = inner_layers(settings, upstream, shared)
        traced.layers = [layer.name for layer in [*outer, *inner]]
        recorded = RecordedUpstream(
            upstream, answer, client_headers=headers, note=traced.sent, begin=traced.began
        )
        await _probed(inner, recorded, traced, len(outer))(scope, receive, send)

    traced.layers = [layer.name for layer in outer]
    app = Probe(fold(_with_probes(outer, traced, 0), to_upstream), place=0, record=traced)
    try:
        await app(_scope(path, headers), _client(body), _nobody)
    except ClientDisconnected:
        pass  # no answer is known; without the error reply nobody below minds
    except Exception as error:  # stands for the server, which would break the connection off
        traced.error = error
    return traced


def _with_probes(layers: list[Layer], traced: Trace, first: int) -> list[Layer]:
    """Each layer with a probe inside of it."""
    probed: list[Layer] = []
    for place, layer in enumerate(layers, first + 1):
        probe = partial(Probe, place=place, record=traced)
        probed += [layer, Layer("probe", probe, Options())]
    return probed


def _probed(layers: list[Layer], app: ASGIApp, traced: Trace, first: int) -> ASGIApp:
    return fold(_with_probes(layers, traced, first), app)


def _scope(path: str, headers: Headers) -> Scope:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": list(headers),
        "client": ("127.0.0.1", 0),
        "server": ("127.0.0.1", 80),
    }


def _client(body: bytes) -> Receive:
    """A client that sends its body and stays."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if messages:
            return messages.pop()
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    return receive


async def _nobody(message: Message) -> None:
    """The outermost probe has noted it."""
