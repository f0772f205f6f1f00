"""A client's connection: uvicorn's, but what is written in one go leaves in one go.

uvicorn writes the head of an answer and its body apart, and uvloop passes each write on at once:
two system calls and two packets for an answer that is there as a whole, as nearly all are.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

AT_MOST_BYTES = 64 * 1024
"""So much is written at once: what waits here is not seen by the flow control."""


class ClientConnection(HttpToolsProtocol):
    """uvicorn's protocol over a transport that gathers."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See ``asyncio.BaseProtocol``."""
        super().connection_made(_Gathering(transport, self.loop))


class _Gathering(asyncio.Transport):
    """Holds writes back until the loop has nothing else to do in this turn."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held: list[bytes] = []
        self._size = 0
        for name in ("get_extra_info", "is_closing", "pause_reading", "resume_reading"):
            setattr(self, name, getattr(transport, name))

    def write(self, data: Any) -> None:
        if not self._held:
            self._loop.call_soon(self._flush)
        self._held.append(data)
        self._size += len(data)
        if self._size > AT_MOST_BYTES:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._held:
            data = self._held[0] if len(self._held) == 1 else b"".join(self._held)
            self._held.clear()
            self._size = 0
            self._transport.write(data)
