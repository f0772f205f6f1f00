"""The innermost ASGI app: one upstream, asked over HTTP by aiohttp.

Passes on what it is given and what it gets.  It holds no more of either than a read: a slow client
slows the upstream down, and a client that leaves cancels the upstream request at once.  A body that
no middleware needed streams through.  A connection that fails before the first byte of the answer
is tried once more on a fresh one, for pooled connections die; later nothing is repeated.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
from yarl import URL

from toolwire.config.model import Upstream
from toolwire.proxy.asgi import Receive, Scope, Send
from toolwire.proxy.errors import (
    ClientDisconnected,
    UpstreamCut,
    UpstreamError,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from toolwire.proxy.exchange import Body, Exchange
from toolwire.proxy.headers import RequestHeaders, answer_headers
from toolwire.proxy.watch import Silence, Watch

READ_BYTES = 64 * 1024
"""aiohttp stops reading from the upstream when twice this waits to be taken."""


RequestBody = bytes | AsyncIterator[bytes] | None
"""All of it, or read by read (then it can be sent only once), or none."""


class Forwarder:
    """Forwards HTTP requests to one upstream.  Its pool is opened with the first request."""

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self._root = upstream.api_root
        self._request_headers = RequestHeaders(upstream)
        self._session: aiohttp.ClientSession | None = None
        self._fresh: aiohttp.ClientSession | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        upstream = self.upstream
        try:
            async with Watch(upstream.first_byte_seconds) as watch:
                body: RequestBody = None
                if isinstance(receive, Body) and receive.buffered:
                    body = await receive.encoded()
                elif _has_body(scope):
                    body = _streamed(receive, watch)
                if body is None or isinstance(body, bytes):
                    watch.client(receive)
                response = await self._ask(scope, body)
                try:
                    await self._answer(scope, response, send, watch)
                finally:
                    response.close()
        except Silence as silence:
            raise UpstreamTimeout(
                f"upstream {upstream.name!r} sent nothing for {silence.seconds:g} s"
            ) from None

    async def aclose(self) -> None:
        """Closes the pool."""
        for session in (self._session, self._fresh):
            if session is not None:
                await session.close()
        self._session = self._fresh = None

    # the request ----------------------------------------------------------------------------
    async def _ask(self, scope: Scope, body: RequestBody) -> aiohttp.ClientResponse:
        """The answer's head.  A streamed body can be read only once, so it is never sent again."""
        if self._session is None or self._fresh is None:
            self._session, self._fresh = self._pool(), self._pool(fresh=True)
        try:
            return await self._send_once(self._session, scope, body)
        except UpstreamUnreachable:
            if body is not None and not isinstance(body, bytes):
                raise
        Exchange.of(scope).retries += 1
        return await self._send_once(self._fresh, scope, body)

    async def _send_once(
        self, session: aiohttp.ClientSession, scope: Scope, body: RequestBody
    ) -> aiohttp.ClientResponse:
        name, streamed = self.upstream.name, body is not None and not isinstance(body, bytes)
        try:
            return await session.request(
                scope["method"],
                self._url(scope),
                data=body,
                headers=self._request_headers.of(scope, streamed=streamed),
                allow_redirects=False,
            )
        except aiohttp.ConnectionTimeoutError:
            raise UpstreamUnreachable(
                f"upstream {name!r} took no connection in {self.upstream.connect_seconds:g} s"
            ) from None
        except (aiohttp.ClientConnectionError, ConnectionError) as error:
            raise UpstreamUnreachable(f"upstream {name!r}: {_reason(error)}") from None
        except aiohttp.ClientError as error:
            raise UpstreamError(f"upstream {name!r}: {_reason(error)}") from None

    def _url(self, scope: Scope) -> URL:
        url = self._root + _tail(scope)
        if query := scope.get("query_string"):
            url += "?" + query.decode("latin-1")
        return URL(url, encoded=True)

    def _pool(self, *, fresh: bool = False) -> aiohttp.ClientSession:
        upstream = self.upstream
        limits: dict[str, Any] = (
            {"force_close": True}
            if fresh
            else {
                "limit": upstream.max_connections,
                "keepalive_timeout": upstream.keepalive_seconds,
            }
        )
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=_tls(upstream), ttl_dns_cache=60, **limits),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=upstream.connect_seconds),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            trust_env=upstream.trust_env_proxies,
            read_bufsize=READ_BYTES,
            max_line_size=64 * 1024,
            max_field_size=64 * 1024,
        )

    # the answer -----------------------------------------------------------------------------
    async def _answer(
        self, scope: Scope, response: aiohttp.ClientResponse, send: Send, watch: Watch
    ) -> None:
        """Passes the answer on, read by read, as it comes."""
        headers = answer_headers(response)
        watch.pause()
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        content, more = response.content, scope["method"] != "HEAD"
        while more:
            watch.heard(self.upstream.between_bytes_seconds)
            try:
                data = await content.readany()
            except (aiohttp.ClientError, ConnectionError) as error:
                raise UpstreamCut(
                    f"the answer of upstream {self.upstream.name!r} broke off: {_reason(error)}"
                ) from None
            watch.pause()
            more = not content.at_eof()
            if more and data:
                await send({"type": "http.response.body", "body": data, "more_body": True})
            elif not more:
                watch.stop()  # a server says "disconnect" after the last write too
                await send({"type": "http.response.body", "body": data, "more_body": False})
                return
        watch.stop()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _has_body(scope: Scope) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
        for name, value in scope["headers"]
    )


async def _streamed(receive: Receive, watch: Watch) -> AsyncIterator[bytes]:
    """The body, read by read; from its end on a disconnect is all that can come."""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnected
        more = message.get("more_body", False)
        if data := message.get("body"):
            yield data
    watch.client(receive)


def _tail(scope: Scope) -> str:
    """The path after ``/v1``, still percent-encoded, without what the app is mounted at."""
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    path = path.split(b"?", 1)[0].removeprefix(scope.get("root_path", "").encode())
    return path.decode("latin-1").removeprefix("/v1")


def _tls(upstream: Upstream) -> ssl.SSLContext | bool:
    if not upstream.verify_tls:
        return False
    return ssl.create_default_context(cafile=upstream.ca_file) if upstream.ca_file else True


def _reason(error: BaseException) -> str:
    """What happened, in words: some of these exceptions say nothing themselves."""
    return str(error) or type(error).__name__
