"""The gateway under its own server, and upstreams that play a part, on loopback in the test's loop.

``Upstream`` speaks HTTP by hand, so that it can do what no HTTP server would: reset a connection,
stop in the middle, announce more than it sends, not read.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn

from toolwire.config.load import from_dict
from toolwire.config.model import Server, Settings
from toolwire.proxy.app import create_app
from toolwire.proxy.asgi import ASGIApp
from toolwire.proxy.serve import listen, url_of, uvicorn_config
from toolwire.proxy.stack import OPTIONS

GUARD_SECONDS = 20
"""No test may take longer: one that waits for what never comes fails instead of hanging."""

HEADERS = list[tuple[str, str]]


def settings_for(
    url: str = "http://127.0.0.1:1",
    protocol: str = "chat",
    *,
    server: dict[str, Any] | None = None,
    middlewares: dict[str, Any] | None = None,
    document: dict[str, Any] | None = None,
    **upstream: Any,
) -> Settings:
    """Settings with one upstream ``up`` at ``url``, as if they were loaded from a file."""
    table = {"name": "up", "protocol": protocol, "base_url": url, **upstream}
    whole = {
        "server": server or {},
        "upstreams": [table],
        "middlewares": middlewares or {},
        "responses_store": {"enabled": False},
        **(document or {}),
    }
    return from_dict(whole, environ={}, options=OPTIONS)


class _Uvicorn(uvicorn.Server):
    """A server that leaves the signals to pytest."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def serving(app: ASGIApp, *, root_path: str = "") -> AsyncIterator[str]:
    """``app`` under uvicorn, configured as the gateway's; its URL."""
    config = uvicorn_config(app, Server(drain_seconds=0.1))
    config.root_path = root_path
    with listen("127.0.0.1", 0) as listener:
        running = _Uvicorn(config)
        task = asyncio.create_task(running.serve(sockets=[listener]))
        try:
            await eventually(lambda: running.started or task.done())
            yield url_of(listener)
        finally:
            running.should_exit = True
            await task


@contextlib.asynccontextmanager
async def gateway(settings: Settings) -> AsyncIterator[str]:
    """The gateway for ``settings`` under its server; its URL."""
    async with serving(create_app(settings)) as url:
        yield url


async def eventually(is_so: Callable[[], bool], seconds: float = GUARD_SECONDS) -> None:
    """Returns as soon as it is so; fails when it never is."""
    async with asyncio.timeout(seconds):
        while not is_so():  # noqa: ASYNC110  (no event tells of it)
            await asyncio.sleep(0.005)


async def settled(count: Callable[[], int], quiet_seconds: float = 0.3) -> int:
    """The count, once it has stopped rising."""
    before = -1
    async with asyncio.timeout(GUARD_SECONDS):
        while before != (before := count()):  # noqa: ASYNC110
            await asyncio.sleep(quiet_seconds)
    return before


@dataclass
class Request:
    """What an upstream was asked."""

    method: str
    target: str
    headers: HEADERS
    body: bytes = b""

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name]

    def one(self, name: str) -> str | None:
        return next(iter(self.all(name)), None)


class Connection:
    """One connection to an upstream, from its side."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.closed = False
        """The gateway closed it; seen only while somebody reads (``until_closed``)."""

    async def head(self) -> Request | None:
        """The next request's head; None when the gateway closes the connection instead."""
        try:
            block = await self.reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            self.closed = True
            return None
        line, *lines = block.decode("latin-1").split("\r\n")[:-2]
        method, target, _ = line.split(" ")
        pairs = [tuple(header.split(": ", 1)) for header in lines]
        return Request(method, target, pairs)  # type: ignore[arg-type]

    async def request(self) -> Request | None:
        """The next request, whole."""
        request = await self.head()
        if request is not None:
            async for piece in self.body(request):
                request.body += piece
        return request

    async def body(self, request: Request) -> AsyncIterator[bytes]:
        """The body of ``request``, read by read."""
        if request.one("transfer-encoding") == "chunked":
            while size := int(await self.reader.readline(), 16):
                yield await self.reader.readexactly(size)
                await self.reader.readline()
            await self.reader.readline()
            return
        left = int(request.one("content-length") or 0)
        while left and (piece := await self.reader.read(min(left, 64 * 1024))):
            left -= len(piece)
            yield piece

    async def answer(
        self, body: bytes = b"{}", status: str = "200 OK", headers: HEADERS | None = None
    ) -> None:
        """A whole answer."""
        given = headers or [("content-type", "application/json")]
        await self.begin([*given, ("content-length", str(len(body)))], status)
        await self.write(body)

    async def begin(self, headers: HEADERS, status: str = "200 OK") -> None:
        """The head of an answer."""
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
        await self.write(f"HTTP/1.1 {status}\r\n{lines}\r\n".encode("latin-1"))

    async def begin_chunked(self, content_type: str = "text/event-stream") -> None:
        """The head of an answer whose length is not told."""
        await self.begin([("content-type", content_type), ("transfer-encoding", "chunked")])

    async def chunk(self, data: bytes) -> None:
        """One chunk of it; the empty one is the end."""
        await self.write(b"%x\r\n%b\r\n" % (len(data), data))

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def until_closed(self) -> None:
        """Returns when the gateway has closed the connection."""
        with contextlib.suppress(ConnectionError):
            while await self.reader.read(64 * 1024):
                pass
        self.closed = True

    def close(self) -> None:
        self.writer.close()

    def reset(self) -> None:
        """Breaks the connection off: the gateway gets a RST."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Play = Callable[[Connection], Awaitable[None]]


@dataclass
class Upstream:
    """A server each of whose connections plays a part; ``connections`` in the order they came."""

    url: str = ""
    connections: list[Connection] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    @property
    def request(self) -> Request:
        """The one that came last."""
        return self.requests[-1]


@contextlib.asynccontextmanager
async def playing(*parts: Play, tls: ssl.SSLContext | None = None) -> AsyncIterator[Upstream]:
    """An upstream whose connections play ``parts`` in turn, and the last one from then on."""
    upstream, tasks = Upstream(), set[asyncio.Task[None]]()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(reader, writer)
        part = parts[min(len(upstream.connections), len(parts) - 1)]
        upstream.connections.append(connection)
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await part(connection)
        finally:
            writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
    upstream.url = url_of(server.sockets[0])  # type: ignore[arg-type]
    if tls is not None:
        upstream.url = upstream.url.replace("http:", "https:")
    try:
        yield upstream
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def answering(
    body: bytes = b'{"choices": []}',
    status: str = "200 OK",
    headers: HEADERS | None = None,
    *,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[Upstream]:
    """An upstream that notes each request and gives each the same answer."""
    noted: list[Request] = []

    async def answer(connection: Connection) -> None:
        while (request := await connection.request()) is not None:
            noted.append(request)
            await connection.answer(b"" if request.method == "HEAD" else body, status, headers)

    async with playing(answer, tls=tls) as upstream:
        upstream.requests = noted
        yield upstream
