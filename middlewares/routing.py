"""Chooses the upstream of a request.

Reads the ``model`` of the body: ``upstream/model`` names the upstream, and the prefix is taken off;
any other name goes to the first upstream one of whose globs matches.  Should that one not be
reachable before the answer begins, the next that matches is asked.  A model that nobody serves, or
none, is a 404 that names what exists.  Requests other than the three endpoints (embeddings, audio,
files, …) go by their model where they name one, else to ``default_upstream``.

Stands outside of everything that is built per upstream.

    [middlewares.routing]
    enabled = true
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from toolwire import config
from toolwire.config.model import Upstream
from toolwire.proxy.asgi import ASGIApp, Message, Receive, Scope, Send, route_path
from toolwire.proxy.errors import InvalidRequest, ModelNotFound, NotFound, UpstreamUnreachable
from toolwire.proxy.exchange import Body, Exchange, open_body
from toolwire.proxy.models import Catalog
from toolwire.proxy.protocols import json

_API_PATH = re.compile(r"(/v1)?/(?!v1(/|$))(?!(.*/)?\.\.?(/|$))[^/]")
"""Something under the API.  Dot segments could lead out of it, to where the upstream's key opens
other doors (https://www.rfc-editor.org/rfc/rfc3986#section-5.2.4)."""


class Options(config.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    per_upstream: ClassVar[bool] = False


class _Asked(Struct):
    """What has to be known of a body that nobody else wants to read."""

    model: Any = None
    stream: Any = None


_asked = Decoder(_Asked)


class Routing:
    """See the module.  ``app`` finds its upstream in the exchange.

    ``decodes``: a middleware further in needs the document anyway.
    """

    def __init__(
        self,
        app: ASGIApp,
        options: Options | None = None,
        *,
        upstreams: Sequence[Upstream] = (),
        default_upstream: str = "",
        decodes: bool = True,
    ) -> None:
        self.app = app
        self.catalog = Catalog(upstreams)
        self.default = next((u for u in upstreams if u.name == default_upstream), None)
        self.decodes = decodes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        exchange = Exchange.of(scope)
        if not _API_PATH.match(route_path(scope)):
            raise NotFound(f"no such path: {scope['path']}; the API is under /v1/")
        if exchange.client is None or scope["method"] != "POST":
            await self._other(scope, receive, send, exchange)
            return
        scope, body = open_body(scope, receive)
        model = await self._read(body, exchange)
        candidates = self.catalog.candidates(model) if model else []
        if not candidates:
            raise ModelNotFound(self.catalog.missing(model), param="model")
        await self._ask(candidates, scope, body, send, exchange)

    async def _read(self, body: Body, exchange: Exchange) -> str | None:
        """Notes in the exchange what the client asks for; the model's name."""
        asked: Any = None
        if not self.decodes:
            try:
                asked = _asked.decode(await body.read())
            except (DecodeError, RecursionError):
                asked = None  # decoding in full says what is wrong
        if asked is None:
            document = await body.document()
            asked = _Asked(document.get("model"), document.get("stream"))
        if asked.model is not None and not isinstance(asked.model, str):
            raise InvalidRequest(
                f"model must be a string, not {json.type_name(asked.model)}", param="model"
            )
        exchange.client_model = asked.model
        exchange.stream = asked.stream is True
        return asked.model

    async def _ask(
        self,
        candidates: list[tuple[Upstream, str]],
        scope: Scope,
        body: Body,
        send: Send,
        exchange: Exchange,
    ) -> None:
        """One candidate after the other, until one can be reached."""
        changes = dict(exchange.changes)  # those of outer middlewares, which stay
        for place, (upstream, model) in enumerate(candidates, 1):
            exchange.upstream, exchange.model = upstream, model
            if model != exchange.client_model:
                (await body.document())["model"] = model
                body.touch()
            try:
                await self.app(scope, body, send)
                return
            except UpstreamUnreachable:
                if place == len(candidates):
                    raise
            exchange.retries += 1
            exchange.changes, exchange.losses = Counter(changes), []
            body.reset()

    async def _other(self, scope: Scope, receive: Receive, send: Send, exchange: Exchange) -> None:
        """A path that is passed through: by the model in its JSON or its form, or by default."""
        kind = _content_type(scope)
        if kind == b"application/json" and scope["method"] in _WITH_BODY:
            scope, body = open_body(scope, receive)
            await body.read()  # what cannot be unpacked is refused
            try:
                model = await self._read(body, exchange)
            except InvalidRequest:
                model = None  # what it says is not ours to judge
            candidates = self.catalog.candidates(model) if model else []
            if candidates:
                await self._ask(candidates, scope, body, send, exchange)
                return
            receive = body
        elif kind == b"multipart/form-data":
            scope, receive = await self._by_form(scope, receive, exchange)
        exchange.upstream = exchange.upstream or self.default
        if exchange.upstream is None:
            raise NotFound("no upstream for this path: set default_upstream")
        await self.app(scope, receive, send)

    async def _by_form(
        self, scope: Scope, receive: Receive, exchange: Exchange
    ) -> tuple[Scope, Receive]:
        """Routes by the form's field ``model``, where it stands in the first read (files do not
        come first in what SDKs send); the form streams on."""
        first = await receive()
        found = _FORM_MODEL.search(first.get("body", b""))
        candidates = self.catalog.candidates(found[1].decode("utf-8", "replace")) if found else []
        if found and candidates:
            upstream, model = candidates[0]
            exchange.client_model = found[1].decode("utf-8", "replace")
            exchange.upstream, exchange.model = upstream, model
            if model != exchange.client_model:
                data = first["body"]
                data = data[: found.start(1)] + model.encode() + data[found.end(1) :]
                first = {**first, "body": data}
                scope = {**scope, "headers": _chunked(scope["headers"])}
        return scope, _with_first(first, receive)


_WITH_BODY = ("POST", "PUT", "PATCH")
_FORM_MODEL = re.compile(
    rb'content-disposition: *form-data; *name="?model"?\r\n(?:[^\r\n]+\r\n)*\r\n([^\r\n]+)',
    re.IGNORECASE,
)


def _content_type(scope: Scope) -> bytes:
    for name, value in scope["headers"]:
        if name == b"content-type":
            return bytes(value.split(b";", 1)[0].strip().lower())
    return b""


def _chunked(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of a body whose length is no longer known."""
    kept = [pair for pair in headers if pair[0] not in (b"content-length", b"transfer-encoding")]
    return [*kept, (b"transfer-encoding", b"chunked")]


def _with_first(first: Message, receive: Receive) -> Receive:
    """``receive`` with a message that was already taken from it put back."""
    pending = [first]

    async def again() -> Message:
        return pending.pop() if pending else await receive()

    return again
