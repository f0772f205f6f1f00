"""Which headers cross the gateway, in both directions.

RFC 9110 section 7.6.1 for what concerns one connection only; credentials by CONTRACT: a client's
never reach an upstream unless ``forward_client_auth`` is set, an upstream's key never goes down.
"""

from __future__ import annotations

import aiohttp
from multidict import CIMultiDict

from toolwire.config.model import Upstream
from toolwire.proxy.asgi import Scope
from toolwire.proxy.exchange import Exchange

HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer"
    b" transfer-encoding upgrade".split()
)
CREDENTIALS = frozenset(b"authorization x-api-key api-key x-goog-api-key cookie".split())
_OWN_AFFAIR = frozenset(b"host content-length accept-encoding expect".split())

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
        self._added = {name.lower(): value.reveal() for name, value in upstream.headers.items()}

    def of(self, scope: Scope, *, streamed: bool) -> CIMultiDict[str]:
        """The headers for this request; a streamed body keeps its length, where it had one."""
        headers: CIMultiDict[str] = CIMultiDict()
        left_out = self._left_out | _named_by_connection(scope["headers"])
        for name, value in scope["headers"]:
            if name in left_out or name.startswith(self._foreign):
                if not (streamed and name == b"content-length"):
                    continue
            headers.add(name.decode("latin-1"), _text(value))
        # what comes back is read here, so compression would only cost time and hold deltas up
        headers["accept-encoding"] = "identity"
        profile = Exchange.of(scope).profile({})
        for name, value in profile.headers.items():
            headers.setdefault(name, value)
        if key := self._upstream.api_key.reveal():
            self._authorize(headers, key, profile.auth)
        headers.update(self._added)
        return headers

    def _authorize(self, headers: CIMultiDict[str], key: str, style: str) -> None:
        if self._upstream.forward_client_auth and any(
            name.decode() in headers for name in CREDENTIALS
        ):
            return
        if style == "auto":
            style = "x-api-key" if self._upstream.protocol == "messages" else "bearer"
        if style == "bearer":
            headers["authorization"] = f"Bearer {key}"
        else:
            headers[style] = key


def answer_headers(response: aiohttp.ClientResponse) -> list[tuple[bytes, bytes]]:
    """The headers of an upstream's answer, for the client."""
    raw = [(name.lower(), value) for name, value in response.raw_headers]
    left_out = HOP_BY_HOP | _named_by_connection(raw)
    if any(name == b"content-encoding" and value.lower() in _UNPACKED for name, value in raw):
        # aiohttp has unpacked the body: neither its length nor its packing is true any more
        left_out |= {b"content-encoding", b"content-length"}
    return [pair for pair in raw if pair[0] not in left_out]


def _named_by_connection(headers: list[tuple[bytes, bytes]]) -> frozenset[bytes]:
    """The further headers that ``Connection`` says are for this hop only."""
    named: frozenset[bytes] = frozenset()
    for name, value in headers:
        if name == b"connection" and value.lower() not in (b"keep-alive", b"close"):
            named |= {token.strip().lower() for token in value.split(b",")}
    return named


def _text(value: bytes) -> str:
    """``value`` so that aiohttp, which encodes as UTF-8, writes the same bytes where it can."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
