"""The innermost ASGI app: one upstream, asked over HTTP by aiohttp.

Passes on what it is given and what it gets.  It holds no more of either than a read: a slow client
slows the upstream down, and a client that leaves cancels the upstream request at once.  A body that
no middleware needed streams through.  A connection that fails before the first byte of the answer
is tried once more on a fresh one, for pooled connections die; later nothing is repeated.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import quote, unquote_to_bytes

import aiohttp
from yarl import URL

from toolwire.config.model import Upstream
from toolwire.proxy.asgi import Message, Receive, Scope, Send
from toolwire.proxy.errors import (
    BadUpstreamAnswer,
    ClientDisconnected,
    UpstreamCut,
    UpstreamError,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from toolwire.proxy.exchange import Body, Exchange
from toolwire.proxy.headers import RequestHeaders, answer_headers
from toolwire.proxy.pool import Answer, Pool
from toolwire.proxy.redaction import Redaction, redacted, secrets_of
from toolwire.proxy.watch import Silence, Watch


class Upload:
    """A body that streams through.  It can be read only once, so it is never sent again.

    ``error`` is why it broke off: aiohttp makes an error of its own of what its reader raises.
    """

    def __init__(self, first: Message, receive: Receive, watch: Watch, patience: float) -> None:
        self._message, self._receive = first, receive
        self._watch, self._patience = watch, patience
        self.error: Exception | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The body, read by read.  What is waited for is the client here and the upstream in
        between, which may take ``patience`` seconds for each."""
        try:
            while True:
                if self._message["type"] == "http.disconnect":
                    raise ClientDisconnected
                self._watch.heard(self._patience)
                if data := self._message.get("body"):
                    yield data
                if not self._message.get("more_body", False):
                    break
                self._watch.pause()
                self._message = await self._receive()
        except Exception as error:
            self.error = error
            raise
        self._watch.client(self._receive)


RequestBody = bytes | Upload | None


class Forwarder:
    """Forwards HTTP requests to one upstream.  Its pool is opened with the first request."""

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self._root = upstream.api_root
        self._request_headers = RequestHeaders(upstream)
        self._secrets = secrets_of(upstream)
        self._pool: Pool | None = None
        self._fresh: Pool | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        upstream = self.upstream
        try:
            async with Watch(upstream.first_byte_seconds) as watch:
                body = await self._body(receive, watch)
                answer = await self._ask(scope, body)
                try:
                    await self._answer(scope, answer, send, watch)
                finally:
                    answer.close()
        except Silence as silence:
            raise UpstreamTimeout(
                f"upstream {upstream.name!r} sent nothing for {silence.seconds:g} s"
            ) from None

    async def aclose(self) -> None:
        """Closes the pool."""
        for pool in (self._pool, self._fresh):
            if pool is not None:
                await pool.aclose()
        self._pool = self._fresh = None

    # the request ----------------------------------------------------------------------------
    async def _body(self, receive: Receive, watch: Watch) -> RequestBody:
        """The body as it goes up: whole where it is, so that it could be sent again."""
        patience = self.upstream.first_byte_seconds
        if isinstance(receive, Body) and receive.buffered:
            whole = await receive.encoded()
        else:
            watch.pause()
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnected
            if message.get("more_body", False):
                return Upload(message, receive, watch, patience)
            whole = message.get("body", b"")
            watch.heard(patience)
        watch.client(receive)
        return whole or None

    async def _ask(self, scope: Scope, body: RequestBody) -> Answer:
        """The answer, of which the head is there."""
        if self._pool is None or self._fresh is None:
            self._pool = Pool(self.upstream)
            self._fresh = Pool(self.upstream, keep=False)
        try:
            return await self._send_once(self._pool, scope, body)
        except UpstreamUnreachable:
            if isinstance(body, Upload):
                raise
        Exchange.of(scope).retries += 1
        return await self._send_once(self._fresh, scope, body)

    async def _send_once(self, pool: Pool, scope: Scope, body: RequestBody) -> Answer:
        name = self.upstream.name
        headers = self._request_headers.of(scope, streamed=isinstance(body, Upload))
        try:
            answer = await pool.ask(scope["method"], self._url(scope), headers, body)
        except aiohttp.ConnectionTimeoutError:
            raise UpstreamUnreachable(
                f"upstream {name!r} took no connection in {self.upstream.connect_seconds:g} s"
            ) from None
        except (aiohttp.ClientConnectionError, ConnectionError) as error:
            if isinstance(body, Upload) and body.error is not None:
                raise body.error from None
            raise UpstreamUnreachable(f"upstream {name!r}: {_reason(error)}") from None
        except aiohttp.ClientError as error:
            raise UpstreamError(f"upstream {name!r}: {_reason(error)}") from None
        if not 200 <= answer.status <= 599:  # nobody asked for another protocol (101)
            answer.close()
            raise BadUpstreamAnswer(f"upstream {name!r} answered with the status {answer.status}")
        return answer

    def _url(self, scope: Scope) -> URL:
        url = self._root + _tail(scope)
        if query := scope.get("query_string"):
            url += "?" + query.decode("latin-1")
        return URL(url, encoded=True)

    # the answer -----------------------------------------------------------------------------
    async def _answer(self, scope: Scope, answer: Answer, send: Send, watch: Watch) -> None:
        """Passes the answer on, read by read, as it comes."""
        headers = answer_headers(answer.raw_headers)
        if self._secrets:
            headers = [(name, redacted(value, self._secrets)) for name, value in headers]
        redaction = Redaction(self._secrets)
        watch.pause()
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        content, more = answer.content, scope["method"] != "HEAD"
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
            data = redaction.feed(data, last=not more)
            if more and data:
                await send({"type": "http.response.body", "body": data, "more_body": True})
            elif not more:
                watch.stop()  # a server says "disconnect" after the last write too
                await send({"type": "http.response.body", "body": data, "more_body": False})
                return
        watch.stop()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _tail(scope: Scope) -> str:
    """The path after ``/v1``, still percent-encoded, without what the app is mounted at."""
    path: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
    path = path.split(b"?", 1)[0]
    root = scope.get("root_path", "").rstrip("/").encode()
    # what the app is mounted at stands decoded in the scope, and as the client wrote it in the path
    end = -1
    while root and (end := path.find(b"/", end + 1)) >= 0:
        if unquote_to_bytes(path[:end]) == root:
            path = path[end:]
            break
    tail = path.decode("latin-1")
    return tail[3:] if tail.startswith("/v1/") else tail


def _reason(error: BaseException) -> str:
    """What happened, in words: some of these exceptions say nothing themselves."""
    if isinstance(error, aiohttp.ServerDisconnectedError) and not isinstance(error.message, str):
        return "it closed the connection inside the head of its answer"  # which may hold a secret
    return str(error) or type(error).__name__
