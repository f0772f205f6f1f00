"""The border between the client's protocol and the upstream's.

Outside of it a request and its answer are in the client's protocol, inside in the upstream's.
Where both speak the same it is not in the way at all.  Requests, answers, errors and streams are
read into the neutral form and written from it (``proxy/protocols``); what the upstream's protocol
cannot carry is reported in the headers ``x-toolwire-dropped`` and ``x-toolwire-coerced``, in the
log and in a counter, or, with ``on_loss = "reject"``, is a 400 that names the field.

Stands outside of everything that speaks the upstream's protocol.

    [middlewares.tool_schema_conversion]
    enabled = true
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from toolwire import config
from toolwire.config.model import Upstream
from toolwire.proxy.answer import AnswerSend, is_stream, request_id_of, without
from toolwire.proxy.asgi import ASGIApp, Headers, Receive, Scope, Send
from toolwire.proxy.convert_answer import AnswerConversion
from toolwire.proxy.errors import InvalidRequest, UpstreamError
from toolwire.proxy.exchange import Exchange, endpoint, open_body
from toolwire.proxy.protocols import failure, json, sse
from toolwire.proxy.protocols.codec import Codec
from toolwire.proxy.protocols.convert import convert_request
from toolwire.proxy.protocols.neutral import Loss, Opaque, Request
from toolwire.proxy.protocols.registry import CODECS
from toolwire.proxy.protocols.sse import Event
from toolwire.proxy.store import reference_error
from toolwire.proxy.thinking_store import ThinkingStore

MAX_REPORT_CHARACTERS = 2000
"""Of a report header: servers and proxies refuse heads of more than some kilobytes."""


class Options(config.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class ToolSchemaConversion:
    """See the module.  ``upstream`` says which protocol is spoken inside, and with what quirks."""

    def __init__(
        self,
        app: ASGIApp,
        options: Options | None = None,
        *,
        upstream: Upstream,
        thinking: ThinkingStore | None = None,
    ) -> None:
        self.app = app
        self.upstream = upstream
        self.codec = CODECS[upstream.protocol]
        self.thinking = thinking or ThinkingStore()
        self.vendor = vendor_of(upstream)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = endpoint(scope)
        if client is None or client is self.codec:
            await self.app(scope, receive, send)
            return
        exchange = Exchange.of(scope)
        scope, body = open_body(scope, receive)
        document = await body.document()
        profile = self.upstream.profile_for(str(document.get("model")))
        converted = convert_request(
            client,
            self.codec,
            document,
            profile,
            self.vendor,
            lambda turns: self.thinking.restore(self.vendor, turns),
        )
        if client.name == "responses":
            _refuse_references(scope, converted.request)
        losses = converted.losses.entries
        if losses and self.upstream.on_loss == "reject":
            _reject(losses)
        exchange.losses += losses
        body.replace(converted.document)
        conversion = AnswerConversion(
            client,
            self.codec,
            converted,
            remember=lambda parts: self.thinking.remember(self.vendor, parts),
            vendor=self.vendor,
            think_tags=profile.think_tags,
        )
        inner = {**scope, **_paths(scope, client, self.codec)}
        await _Conversion(scope, send, conversion).run(self.app, inner, body)


class _Conversion(AnswerSend):
    """One answer on its way from the upstream's protocol to the client's."""

    def __init__(self, scope: Scope, send: Send, conversion: AnswerConversion) -> None:
        super().__init__(scope, send)
        self._conversion = conversion
        self._exchange = Exchange.of(scope)

    def wants_stream(self, status: int, headers: Headers) -> bool:
        return status == 200 and is_stream(headers) and self._conversion.streaming

    def wants_body(self, status: int, headers: Headers) -> bool:
        return True

    def head(self, status: int, headers: Headers) -> tuple[int, Headers]:
        self._conversion.stream.known = self._exchange.usage  # of a whole answer, made a stream
        self._conversion.request_id = request_id_of(headers, self._exchange)
        return status, [*headers, *report(self._exchange.losses)]

    def events(self, events: list[Event]) -> list[Event]:
        return self._conversion.stream.events(events, repaired=self.came_decoded)

    def last_events(self) -> list[Event]:
        last = self._conversion.stream.close(repaired=self.came_decoded)
        self._exchange.losses += self._conversion.losses.entries
        return last

    def broken_off(self, error: UpstreamError) -> list[Event]:
        return self._conversion.stream.broken_off(failure.from_exception(error))

    def body(self, status: int, headers: Headers, body: bytes) -> tuple[int, Headers, bytes]:
        kind = b"application/json"
        self._conversion.request_id = request_id_of(headers, self._exchange)
        if status >= 400:
            body = self._conversion.error(status, body)
        elif not self._conversion.streaming:
            answer = self._conversion.collected(body) if is_stream(headers) else _parsed(body)
            body = json.encode(self._conversion.answer(answer))
        else:
            body = sse.encode(self._conversion.spelled_out(_parsed(body)))
            kind = b"text/event-stream; charset=utf-8"
        self._exchange.losses += self._conversion.losses.entries
        headers = [*without(headers, b"content-type"), (b"content-type", kind)]
        return status, [*headers, *report(self._exchange.losses)], body


def _refuse_references(scope: Scope, request: Request) -> None:
    """An id that only a store could resolve is no loss to be reported: the request means nothing
    without what it stands for."""
    if request.previous_response_id is not None:
        raise reference_error(scope, request.previous_response_id, "previous_response_id")
    for turn in request.turns:
        for part in turn.parts:
            if type(part) is Opaque and _names_item(part.value):
                raise reference_error(scope, str(part.value["id"]), f"{part.at}.id")


def _names_item(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") == "item_reference" and "id" in value


def vendor_of(upstream: Upstream) -> str:
    """Who signs this upstream's thinking: its provider, or itself where that is not told."""
    return upstream.provider if upstream.provider != "generic" else upstream.name


def report(losses: list[Loss]) -> Headers:
    """The headers that tell the client what did not cross as it was."""
    headers = []
    for kind in ("dropped", "coerced"):
        paths = dict.fromkeys(loss.path for loss in losses if loss.kind == kind)
        if paths:
            text = ", ".join(paths).encode("ascii", "backslashreplace")
            headers.append((b"x-toolwire-" + kind.encode(), _short(text)))
    return headers


def _short(text: bytes) -> bytes:
    text = bytes(byte if 32 <= byte < 127 else 63 for byte in text)
    if len(text) <= MAX_REPORT_CHARACTERS:
        return text
    return text[:MAX_REPORT_CHARACTERS].rpartition(b", ")[0] + b", ..."


def _reject(losses: list[Loss]) -> None:
    dropped = [loss for loss in losses if loss.kind == "dropped"]
    if dropped:
        first = dropped[0]
        paths = ", ".join(loss.path for loss in dropped)
        raise InvalidRequest(
            f"the upstream's protocol cannot carry {paths} ({first.path}: {first.why})",
            param=first.path,
            code="unsupported_field",
        )


def _paths(scope: Scope, client: Codec, upstream: Codec) -> dict[str, Any]:
    """The request's paths with the upstream's endpoint in place of the client's."""
    path = scope["path"].removesuffix(client.path) + upstream.path
    # a query (?beta=true) says something in the client's protocol only
    return {"path": path, "raw_path": quote(path).encode(), "query_string": b""}


def _parsed(body: bytes) -> Any:
    try:
        return json.decode(body)
    except ValueError:
        return None
