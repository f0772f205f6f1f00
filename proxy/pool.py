"""The connections to one upstream, with their limits, TLS and proxy: an aiohttp session."""

from __future__ import annotations

import ssl
import urllib.request
from collections.abc import AsyncIterable
from io import BytesIO
from typing import Protocol
from urllib.parse import urlsplit

import aiohttp
from aiohttp.connector import Connection
from aiohttp.tracing import Trace
from multidict import CIMultiDict
from yarl import URL

from toolwire.config.model import Upstream
from toolwire.proxy.asgi import Headers
from toolwire.proxy.direct import MAX_HEADER_BYTES, READ_BYTES, Direct

DNS_SECONDS = 60
"""How long the address of an upstream is remembered."""

AT_ONCE_BYTES = 1024 * 1024
"""A larger body goes out piece by piece, as the upstream takes it."""


class Answer(Protocol):
    """An answer whose head is there.  ``content`` is the rest; ``close`` is for what is unread."""

    status: int
    content: aiohttp.StreamReader

    @property
    def raw_headers(self) -> tuple[tuple[bytes, bytes], ...]: ...

    def close(self) -> None: ...


class Pool:
    """The connections; without ``keep`` each request has one of its own.

    It decides nothing itself: no redirects, cookies, headers or retries.
    """

    def __init__(self, upstream: Upstream, *, keep: bool = True) -> None:
        proxy = environment_proxy(upstream.base_url) if upstream.trust_env_proxies else None
        self._session = _open_session(upstream, keep, proxy)
        self._direct = Direct(self._session, URL(upstream.base_url)) if proxy is None else None

    async def ask(
        self,
        method: str,
        url: URL,
        headers: Headers,
        body: bytes | AsyncIterable[bytes] | None,
    ) -> Answer:
        """Sends the request; returns when the head of its answer is there.

        Raises ``aiohttp.ClientError`` and its kinds.
        """
        data: BytesIO | bytes | AsyncIterable[bytes] | None = body
        if isinstance(body, bytes) and len(body) > AT_ONCE_BYTES:
            data = BytesIO(body)
        elif self._direct is not None and (body is None or isinstance(body, bytes)):
            return await self._direct.ask(method, url, headers, body)
        return await self._session.request(
            method,
            url,
            data=data,
            headers=CIMultiDict((name.decode("latin-1"), _text(value)) for name, value in headers),
            allow_redirects=False,
        )

    async def aclose(self) -> None:
        """Closes them."""
        await self._session.close()


class _Connector(aiohttp.TCPConnector):
    """Uses no connection again on which something came while nobody was asking.

    An upstream may say that it closes (408), or answer once too often; the next request would take
    that for its own answer, and each one after it that of the request before.
    https://www.rfc-editor.org/rfc/rfc9112#section-9.2
    """

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109
    ) -> Connection:
        """See ``aiohttp.BaseConnector``, which looks at this only when a connection comes back."""
        for _ in range(self.limit + 1):
            connection = await super().connect(req, traces, timeout)
            if connection.protocol is not None and not connection.protocol.should_close:
                return connection
            connection.close()
        raise aiohttp.ServerDisconnectedError("the upstream speaks before it is asked")


def _open_session(upstream: Upstream, keep: bool, proxy: str | None) -> aiohttp.ClientSession:
    connector = _Connector(
        ssl=_tls(upstream),
        ttl_dns_cache=DNS_SECONDS,
        limit=upstream.max_connections,
        force_close=not keep,
        keepalive_timeout=upstream.keepalive_seconds if keep else None,
    )
    session = aiohttp.ClientSession(
        connector=connector,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=upstream.connect_seconds),
        cookie_jar=aiohttp.DummyCookieJar(),
        skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
        proxy=proxy,
        read_bufsize=READ_BYTES,
        max_line_size=MAX_HEADER_BYTES,
        max_field_size=MAX_HEADER_BYTES,
    )
    session._retry_connection = False  # of GETs and the like, which would be counted by nobody
    return session


def environment_proxy(url: str) -> str | None:
    """What ``HTTPS_PROXY``, ``HTTP_PROXY`` and ``NO_PROXY`` say of ``url``.

    aiohttp's own ``trust_env`` would read passwords from ``~/.netrc``, too.
    """
    parts = urlsplit(url)
    if urllib.request.proxy_bypass(parts.netloc):
        return None
    proxies = urllib.request.getproxies_environment()
    return proxies.get(parts.scheme) or proxies.get("all")


def _tls(upstream: Upstream) -> ssl.SSLContext | bool:
    if not upstream.verify_tls:
        return False
    return ssl.create_default_context(cafile=upstream.ca_file) if upstream.ca_file else True


def _text(value: bytes) -> str:
    """``value`` so that aiohttp, which encodes as UTF-8, writes the same bytes where it can."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
