"""Asks with a whole request over one of aiohttp's connections, for a part of what a session costs.

A session prepares each request anew for everything that a request can be.  Nearly all of ours are
one head and a body that is there already, so they are written in one go.  Pooling, addresses and
TLS stay the connector's, reading the answer stays the parser's; a body that streams, and a proxy,
stay with the session (``proxy/pool.py``).
"""

from __future__ import annotations

import asyncio

import aiohttp
from aiohttp.connector import Connection
from aiohttp.http import HttpProcessingError, RawResponseMessage
from yarl import URL

from toolwire.proxy.asgi import Headers
from toolwire.proxy.errors import InvalidRequest

READ_BYTES = 64 * 1024
"""aiohttp stops reading from the upstream when twice this waits to be taken."""

MAX_HEADER_BYTES = 64 * 1024

WITHOUT_BODY = frozenset(("GET", "HEAD", "OPTIONS", "TRACE"))
"""Methods that say nothing of a body that they do not have."""


class DirectAnswer:
    """An answer whose head is there; the connection goes back to the pool when it is read."""

    __slots__ = ("_connection", "content", "raw_headers", "status")

    def __init__(
        self, connection: Connection, message: RawResponseMessage, content: aiohttp.StreamReader
    ) -> None:
        self.status = message.code
        self.raw_headers = message.raw_headers
        self.content = content
        self._connection: Connection | None = connection
        content.on_eof(self._release)

    def close(self) -> None:
        """What has not been read is not wanted."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _release(self) -> None:
        if self._connection is None:
            return
        transport = self._connection.transport
        if transport is not None and transport.get_write_buffer_size():
            self.close()  # answered before the request had gone out
        else:
            self._connection.release()
            self._connection = None


class Direct:
    """Asks the server of ``url`` by the connector of a session.  Raises what the session raises."""

    def __init__(self, session: aiohttp.ClientSession, url: URL) -> None:
        if session.connector is None:
            raise RuntimeError("the session is closed")
        self._connector = session.connector
        self._timeout = session.timeout
        # what the connector wants to know of a request is the same for all of them
        self._to_connect = aiohttp.ClientRequest("POST", url, loop=asyncio.get_running_loop())
        self._host = b"host: " + self._to_connect.headers["Host"].encode()

    async def ask(
        self, method: str, url: URL, headers: Headers, body: bytes | None
    ) -> DirectAnswer:
        """Sends the request; returns when the head of its answer is there."""
        head = self._head(method, url.raw_path_qs, headers, body)
        try:
            connection = await self._connector.connect(
                self._to_connect, traces=[], timeout=self._timeout
            )
        except TimeoutError:
            raise aiohttp.ConnectionTimeoutError("connection timeout") from None
        try:
            return await self._exchange(connection, method, head + body if body else head)
        except BaseException:
            connection.close()
            raise

    async def _exchange(self, connection: Connection, method: str, request: bytes) -> DirectAnswer:
        protocol, transport = connection.protocol, connection.transport
        if protocol is None or transport is None:
            raise aiohttp.ServerDisconnectedError
        protocol.set_response_params(
            skip_payload=method == "HEAD",
            read_until_eof=True,
            read_bufsize=READ_BYTES,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
        )
        transport.write(request)
        try:
            message, content = await protocol.read()
            while 100 <= message.code < 200 and message.code != 101:
                message, content = await protocol.read()
        except HttpProcessingError as error:
            raise aiohttp.ClientPayloadError(error.message) from error
        return DirectAnswer(connection, message, content)

    def _head(self, method: str, target: str, headers: Headers, body: bytes | None) -> bytes:
        lines = [b"%b %b HTTP/1.1" % (method.encode(), target.encode()), self._host]
        lines += [b"%b: %b" % pair for pair in headers]
        if body or method not in WITHOUT_BODY:
            lines.append(b"content-length: %d" % len(body or b""))
        head = b"\r\n".join(lines)
        if head.count(b"\n") != len(lines) - 1 or head.count(b"\r") != len(lines) - 1:
            raise InvalidRequest("the path or a header holds a line break")
        return head + b"\r\n\r\n"
