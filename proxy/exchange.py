"""What one request carries through the stack: the exchange, and its body.

The **exchange** (``scope["toolwire"]``) holds what the middlewares learn of a request and what they
changed, for the log line, the metrics and the report headers.

The **body** is decoded once and encoded once.  It travels as the ``receive`` callable itself: a
middleware of ours that gets a ``Body`` as its ``receive`` takes the document from it, anything else
just awaits it and gets the bytes, encoded at that moment.  So a foreign middleware may stand
anywhere, also one that puts a ``receive`` of its own around ours to rewrite the bytes: the next of
ours then sees that it has no ``Body`` before it, and decodes what it is given.
"""

from __future__ import annotations

import time
import zlib
from collections import Counter
from typing import Any

from toolwire.config.model import Upstream
from toolwire.config.profile import Profile
from toolwire.config.resolution import ProfileRules
from toolwire.proxy.asgi import Message, Receive, Scope
from toolwire.proxy.errors import BodyTooLarge, ClientDisconnected, InvalidRequest
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.codec import Codec
from toolwire.proxy.protocols.identifiers import random_id
from toolwire.proxy.protocols.known_tools import KNOWN_TOOLS
from toolwire.proxy.protocols.neutral import Loss, Usage
from toolwire.proxy.protocols.registry import codec_for_path

KEY = "toolwire"
MAX_INFLATED_BYTES = 256 * 1024 * 1024
"""What a compressed request body may grow to: past this it is a zip bomb."""

CLIENT_LEFT = "client disconnected"
"""``Exchange.error`` of a request that nobody waited for."""

_GENERIC = ProfileRules()


class Exchange:
    """One request and its answer, as the stack knows them.

    ``model`` is the name that goes up (prefix taken off), ``changes`` counts repairs and other
    changes by kind, ``losses`` are what a conversion could not carry.  Times are of
    ``time.perf_counter``.
    """

    __slots__ = (
        "changes",
        "client",
        "client_model",
        "error",
        "losses",
        "model",
        "request_id",
        "retries",
        "started_at",
        "stream",
        "upstream",
        "usage",
    )

    def __init__(self, scope: Scope, request_id: str | None = None) -> None:
        self.request_id = request_id or random_id("req_")
        self.client: Codec | None = codec_for_path(scope["path"])
        self.client_model: str | None = None
        self.model: str | None = None
        self.stream = False
        self.upstream: Upstream | None = None
        self.changes: Counter[str] = Counter()
        self.losses: list[Loss] = []
        self.retries = 0
        self.usage: Usage | None = None
        self.error: str | None = None
        self.started_at = time.perf_counter()

    @classmethod
    def of(cls, scope: Scope) -> Exchange:
        """The exchange of this request; made here by the outermost middleware that asks."""
        exchange = scope.get(KEY)
        if not isinstance(exchange, Exchange):
            exchange = scope[KEY] = cls(scope)
        return exchange

    def profile(self, document: dict[str, Any]) -> Profile:
        """The quirks of the model that ``document`` asks for, at this request's upstream."""
        model = document.get("model")
        name = model if isinstance(model, str) else self.model or ""
        return self.upstream.profile_for(name) if self.upstream else _GENERIC.for_model(name)


def endpoint(scope: Scope) -> Codec | None:
    """The protocol that this request speaks at this place of the stack; None for anything but the
    three endpoints.  Read from the path, so that inside the conversion it is the upstream's."""
    if scope["type"] != "http" or scope["method"] != "POST":
        return None
    return codec_for_path(scope["path"])


class Body:
    """A request body that is decoded at most once, and encoded at most once (``receive``).

    Nothing is read before somebody asks.  ``document`` may be changed in place, but for what is
    inside its ``tools`` (see ``known_tools``); whoever does so calls ``touch``.  ``sort_keys`` asks
    for every object's keys in sorted order.
    """

    def __init__(self, receive: Receive, encoding: str = "") -> None:
        self._receive = receive
        self._encoding = encoding
        self._raw: bytes | None = None
        self._document: dict[str, Any] | None = None
        self._encoded: bytes | None = None
        self._delivered = False
        self._sort_keys = False

    async def __call__(self) -> Message:
        if self._raw is None and not self._encoding:
            return await self._receive()
        if self._delivered:
            return await self._receive()
        body = await self.encoded()
        self._delivered = True
        return {"type": "http.request", "body": body, "more_body": False}

    @property
    def buffered(self) -> bool:
        """Whether it has been read: a body that nobody needed can still stream through."""
        return self._raw is not None

    @property
    def known(self) -> dict[str, Any] | None:
        """The JSON object, where somebody has asked for it already."""
        return self._document

    async def read(self) -> bytes:
        """The bytes as they came (decompressed)."""
        if self._raw is None:
            self._raw = await self._read_all()
        return self._raw

    async def document(self) -> dict[str, Any]:
        """The JSON object; ``InvalidRequest`` says where it is none."""
        if self._document is None:
            self._document = json.decode_object(await self.read(), decode=KNOWN_TOOLS.decode)
        return self._document

    def touch(self) -> None:
        """The document was changed: what came is no longer what goes up."""
        self._encoded = b""

    def replace(self, document: dict[str, Any]) -> None:
        """Another document goes up."""
        self._document = document
        self._encoded = b""

    def sort_keys(self) -> None:
        """From here on the keys are sorted."""
        self._sort_keys = True
        self._encoded = b""

    async def encoded(self) -> bytes:
        """The bytes that go up."""
        if self._encoded is None:
            return await self.read()
        if not self._encoded:
            try:
                self._encoded = KNOWN_TOOLS.encode(self._document, sort_keys=self._sort_keys)
            except json.NestedTooDeeply as error:
                raise InvalidRequest(f"the request body is {error}") from None
        return self._encoded

    def rewind(self) -> None:
        """The inner app is called once more: it gets the whole body again."""
        self._delivered = False

    def reset(self) -> None:
        """Back to what came: another upstream is asked, and others may change it otherwise."""
        self._document = self._encoded = None
        self._delivered = self._sort_keys = False

    async def _read_all(self) -> bytes:
        message = await self._receive()
        if not message.get("more_body", False) and message["type"] == "http.request":
            return self._inflated(message.get("body", b""))
        pieces = []
        while message["type"] == "http.request":
            pieces.append(message.get("body", b""))
            if not message.get("more_body", False):
                return self._inflated(b"".join(pieces))
            message = await self._receive()
        raise ClientDisconnected

    def _inflated(self, data: bytes) -> bytes:
        if not self._encoding:
            return data
        return inflate(data, self._encoding)


def inflate(data: bytes, encoding: str) -> bytes:
    """``data`` without its ``content-encoding``: gzip or deflate; another one is a 400."""
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise InvalidRequest(
            f"content-encoding {encoding!r} is not supported: send the body as it is, or as gzip"
        )
    bare = encoding == "deflate" and data[:1] != b"\x78"  # some clients leave the zlib header out
    inflater = zlib.decompressobj(-zlib.MAX_WBITS if bare else zlib.MAX_WBITS | 32)
    try:
        plain = inflater.decompress(data, MAX_INFLATED_BYTES)
    except zlib.error:
        raise InvalidRequest(f"the body is no {encoding} data, as its header says") from None
    if inflater.unconsumed_tail:
        raise BodyTooLarge(f"the body inflates to more than {MAX_INFLATED_BYTES} bytes")
    return plain


def known_request(receive: Receive) -> dict[str, Any] | None:
    """The document of the request that is being answered, where it has been decoded."""
    return receive.known if isinstance(receive, Body) else None


def asked_for_stream(scope: Scope, receive: Receive) -> bool | None:
    """Whether the answer to this request is to be a stream; None where nobody has read it."""
    request = known_request(receive)
    if request is not None:
        return request.get("stream") is True
    exchange = Exchange.of(scope)
    return exchange.stream if exchange.upstream is not None else None


def open_body(scope: Scope, receive: Receive) -> tuple[Scope, Body]:
    """The body of this request as a ``Body``, and the scope that goes inwards with it.

    Where ``receive`` is one already, both are what came.  Else the scope loses the headers that
    say how long the bytes are and how they are packed, for they may change.
    """
    if isinstance(receive, Body):
        return scope, receive
    encoding = ""
    headers = []
    for pair in scope["headers"]:
        if pair[0] == b"content-encoding":
            encoding = pair[1].decode("latin-1").strip().lower()
        elif pair[0] != b"content-length":
            headers.append(pair)
    inner = {**scope, "headers": headers}
    return inner, Body(receive, "" if encoding == "identity" else encoding)
