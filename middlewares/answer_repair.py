"""Makes whole answers what their protocol says, and errors what clients can read.

A JSON answer is repaired (arguments given as an object, ``content`` given as a list, a wrong finish
reason, …); unknown fields stay.  An error keeps its status and gets its protocol's shape, also
where it came as HTML, empty or broken JSON.  An error object, or no answer at all, under status 200
is a 502.  Where the client asked for a stream and the upstream answers with a whole document, the
client gets a stream of it, and the other way round; other streams are not touched: see
``sse_rechunking``.

Stands innermost, around ``sse_rechunking``: whatever is outside sees well-formed answers.

    [middlewares.answer_repair]
    enabled = true
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from toolwire import config
from toolwire.proxy.answer import AnswerSend, events_in, is_stream, request_id_of, without
from toolwire.proxy.asgi import ASGIApp, Headers, Receive, Scope, Send
from toolwire.proxy.errors import BadUpstreamAnswer
from toolwire.proxy.exchange import Exchange, asked_for_stream, endpoint, known_request
from toolwire.proxy.protocols import failure, json, sse
from toolwire.proxy.protocols.codec import Codec

_JSON = (b"content-type", b"application/json")
_STREAM = (b"content-type", b"text/event-stream; charset=utf-8")
_ANSWER_FIELDS = ("choices", "content", "output")
"""An answer of each protocol has one of these; an error under status 200 has none."""


class Options(config.Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class AnswerRepair:
    """See the module."""

    def __init__(self, app: ASGIApp, options: Options | None = None) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        codec = endpoint(scope)
        if codec is None:
            await self.app(scope, receive, send)
        else:
            await _Repair(scope, send, codec, receive).run(self.app, scope, receive)


class _Repair(AnswerSend):
    reads_events = False

    def __init__(self, scope: Scope, send: Send, codec: Codec, receive: Receive) -> None:
        super().__init__(scope, send)
        self._scope = scope
        self._codec = codec
        self._receive = receive
        self._exchange = Exchange.of(scope)

    def wants_body(self, status: int, headers: Headers) -> bool:
        if status == 200 and is_stream(headers):
            return asked_for_stream(self._scope, self._receive) is False
        return status >= 400 or status == 200

    def body(self, status: int, headers: Headers, body: bytes) -> tuple[int, Headers, bytes]:
        if status >= 400:
            request_id = request_id_of(headers, self._exchange)
            body, changed = repair_error(self._codec, status, body, request_id)
            headers = [*without(headers, b"content-type"), _JSON] if changed else headers
            return status, headers, body
        request, tags = known_request(self._receive), self._exchange.profile({}).think_tags
        came_as_stream = is_stream(headers)
        if came_as_stream:
            document = self._codec.collected(events_in(body))
        else:
            document = _answer_in(body)
        kinds = self._codec.repair_answer(document, think_tags=tags, request=request)
        self._exchange.usage = self._codec.usage_of(document)
        self._exchange.changes.update(kinds)
        if came_as_stream:
            self._exchange.changes["stream_collected"] += 1
            return status, [*without(headers, b"content-type"), _JSON], json.encode(document)
        if asked_for_stream(self._scope, self._receive) and (
            events := self._codec.spelled_out(document, request)
        ):
            self._exchange.changes["answer_spelled_out"] += 1
            repair = self._codec.stream_repair()
            events = [*repair.feed(events), *repair.close()]
            return status, [*without(headers, b"content-type"), _STREAM], sse.encode(events)
        return status, headers, json.encode(document) if kinds else body


def _answer_in(body: bytes) -> dict[str, Any]:
    """The answer under a status 200; ``BadUpstreamAnswer`` where it is none."""
    try:
        document = json.decode(body)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        told = failure.read_body(200, body)
        raise BadUpstreamAnswer(told.message)
    answered = any(document.get(name) for name in _ANSWER_FIELDS)
    if not answered and document.get("object") != "response":
        read = failure.read_document(200, document)
        if read is not None:
            code = read.code if isinstance(read.code, str) else None
            raise BadUpstreamAnswer(read.message, code=code)
    return document


def repair_error(codec: Codec, status: int, body: bytes, request_id: str) -> tuple[bytes, bool]:
    """An error body in the protocol's shape, and whether it had to be changed; fields beside those
    of the shape stay where they were.  ``request_id`` is for a body that has none."""
    told = codec.read_failure(status, body)
    written = codec.write_failure(replace(told, request_id=told.request_id or request_id))
    try:
        document = json.decode(body)
    except ValueError:
        document = None
    if not isinstance(document, dict) or not isinstance(error := document.get("error"), dict):
        return json.encode(written), True
    error = {key: value for key, value in error.items() if key not in _TEXTS or _is_text(value)}
    merged = {**written, **document, "error": {**written["error"], **error}}
    if "type" in written:
        merged["type"] = written["type"]
    return (body, False) if merged == document else (json.encode(merged), True)


_TEXTS = ("message", "type")
"""Of an error, what clients take for text without a look."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)
