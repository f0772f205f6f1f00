"""Which headers cross the gateway, in both directions.

RFC 9110 section 7.6.1 for what concerns one connection only; credentials by CONTRACT: a client's
never reach an upstream unless ``forward_client_auth`` is set, an upstream's key never goes down.
"""

from __future__ import annotations

from collections.abc import Iterable

from toolwire.config.model import Upstream
from toolwire.proxy.asgi import Headers, Scope
from toolwire.proxy.exchange import Exchange

HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer"
    b" transfer-encoding upgrade".split()
)
CREDENTIALS = frozenset(b"authorization x-api-key api-key x-goog-api-key cookie".split())
_OWN_AFFAIR = frozenset(b"host content-length accept-encoding expect".split())

_AS_IT_IS = (b"accept-encoding", b"identity")
"""What comes back is read here, so compression would only cost time and hold deltas up."""

_UNPACKED = frozenset(b"gzip deflate br zstd".split())
"""The encodings that aiohttp takes off."""

_FOREIGN_PREFIXES = {
    "chat": (b"anthropic-",),
    "responses": (b"anthropic-",),
    "messages": (b"openai-",),
}
"""A vendor's own headers mean something to upstreams of its protocol alone."""


class RequestHeaders:
    """The headers towards one upstream."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        credentials = frozenset() if upstream.forward_client_auth else CREDENTIALS
        self._left_out = HOP_BY_HOP | _OWN_AFFAIR | credentials
        self._foreign = _FOREIGN_PREFIXES[upstream.protocol]
        self._added = [
            (name.lower().encode(), value.reveal().encode("latin-1"))
            for name, value in upstream.headers.items()
        ]

    def of(self, scope: Scope, *, streamed: bool) -> Headers:
        """The headers for this request; a streamed body keeps its length, where it had one."""
        left_out = self._left_out | _named_by_connection(scope["headers"])
        if streamed:
            left_out -= {b"content-length"}
        headers: Headers = [
            (name, value)
            for name, value in scope["headers"]
            if name not in left_out and not name.startswith(self._foreign)
        ]
        headers.append(_AS_IT_IS)
        profile = Exchange.of(scope).profile({})
        for text, value in profile.headers.items():
            name = text.lower().encode()
            if not _has(headers, name):
                headers.append((name, value.encode("latin-1")))
        if key := self._upstream.api_key.reveal():
            self._authorize(headers, key.encode("latin-1"), profile.auth)
        for pair in self._added:
            _put(headers, *pair)
        return headers

    def _authorize(self, headers: Headers, key: bytes, style: str) -> None:
        if self._upstream.forward_client_auth and any(_has(headers, name) for name in CREDENTIALS):
            return
        if style == "auto":
            style = "x-api-key" if self._upstream.protocol == "messages" else "bearer"
        if style == "bearer":
            _put(headers, b"authorization", b"Bearer " + key)
        else:
            _put(headers, style.lower().encode(), key)


def _has(headers: Headers, name: bytes) -> bool:
    return any(given == name for given, _ in headers)


def _put(headers: Headers, name: bytes, value: bytes) -> None:
    """Once, in the place of all others of this name."""
    if _has(headers, name):
        headers[:] = [pair for pair in headers if pair[0] != name]
    headers.append((name, value))


def answer_headers(given: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers of an upstream's answer, for the client."""
    raw = [(name.lower(), value) for name, value in given]
    left_out = HOP_BY_HOP | _named_by_connection(raw)
    if any(name == b"content-encoding" and value.lower() in _UNPACKED for name, value in raw):
        # aiohttp has unpacked the body: neither its length nor its packing is true any more
        left_out |= {b"content-encoding", b"content-length"}
    return [pair for pair in raw if pair[0] not in left_out]


def _named_by_connection(headers: Headers) -> frozenset[bytes]:
    """The further headers that ``Connection`` says are for this hop only."""
    named: frozenset[bytes] = frozenset()
    for name, value in headers:
        if name == b"connection" and value.lower() not in (b"keep-alive", b"close"):
            named |= {token.strip().lower() for token in value.split(b",")}
    return named
