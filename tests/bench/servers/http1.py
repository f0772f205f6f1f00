"""The smallest HTTP/1.1 client: it does not hide when bytes came, nor how a connection ended."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self

POST_BODY = json.dumps(
    {"model": "m", "messages": [{"role": "user", "content": "x" * 950}], "stream": False}
).encode()


class Connection:
    """One TCP connection to 127.0.0.1; leaving the block closes it.

    `buffer` is the size in bytes of the socket's receive buffer and of the reader's, where a test
    needs the server to feel at once that nobody reads.
    Raises OSError when refused, asyncio.IncompleteReadError when an answer ends early.
    """

    def __init__(self, port: int, buffer: int | None = None) -> None:
        self.port = port
        self.buffer = buffer

    async def __aenter__(self) -> Self:
        peer = socket.socket()
        if self.buffer:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.buffer)
        peer.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(peer, ("127.0.0.1", self.port))
        except BaseException:
            peer.close()
            raise
        limit = self.buffer or 65_536
        self.reader, self.writer = await asyncio.open_connection(sock=peer, limit=limit)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.writer.close()

    def send(self, method: str, target: str, body: bytes = b"") -> None:
        length = f"content-length: {len(body)}\r\n" if method == "POST" else ""
        head = f"{method} {target} HTTP/1.1\r\nhost: 127.0.0.1\r\n{length}\r\n"
        self.writer.write(head.encode() + body)

    async def read_head(self) -> dict[str, str]:
        """The answer's header fields, names in lower case. Its status must be 200."""
        status, *fields = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        if " 200 " not in status:
            raise ValueError(f"expected a status of 200, got {status!r}")
        pairs = (field.partition(":") for field in fields if field)
        return {name.lower(): value.strip() for name, _, value in pairs}

    async def pieces(self, head: dict[str, str]) -> AsyncIterator[bytes]:
        """The body as it was framed: one piece per chunk, or one piece."""
        if "content-length" in head:
            yield await self.reader.readexactly(int(head["content-length"]))
            return
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            yield (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readexactly(2)

    async def ask(self, method: str, target: str, body: bytes = b"") -> bytes:
        """One whole exchange; the connection can be used again."""
        self.send(method, target, body)
        return b"".join([piece async for piece in self.pieces(await self.read_head())])


async def seen(port: int) -> dict[str, float | str]:
    """What the application under test saw, see `app.py`."""
    async with Connection(port) as connection:
        found: dict[str, float | str] = json.loads(await connection.ask("GET", "/seen"))
        return found
