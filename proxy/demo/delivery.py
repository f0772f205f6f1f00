"""How the bytes of an answer go out: whole or in crumbs, at once or slowly, to the end or not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from enum import Enum

from msgspec import Struct
from starlette.responses import StreamingResponse
from starlette.types import Send


class Writes(Enum):
    EVENT = "one event a write"
    BYTE = "one byte a write"
    INSIDE_CHARACTERS = "each write ends inside a character of several bytes, where there is one"


class Delivery(Struct, frozen=True, kw_only=True):
    delay: float = 0.0
    """Seconds before each piece."""
    cut: bool = False
    """Half of it is sent, then the connection is dropped."""
    newline: bytes = b"\n"
    """End of line in streams."""
    writes: Writes = Writes.EVENT


class Delivered(StreamingResponse):
    """An answer in pieces. One that is cut never ends, so the server drops the connection."""

    def __init__(
        self,
        pieces: list[bytes],
        delivery: Delivery,
        *,
        status: int = 200,
        media_type: str,
        headers: Mapping[str, str],
    ) -> None:
        self._cut = delivery.cut
        kept = pieces[: max(1, len(pieces) // 2)] if self._cut else pieces
        super().__init__(
            _paced(kept, delivery),
            status_code=status,
            media_type=media_type,
            headers=headers,
        )

    async def stream_response(self, send: Send) -> None:
        start = {"type": "http.response.start", "status": self.status_code}
        await send({**start, "headers": self.raw_headers})
        async for piece in self.body_iterator:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if not self._cut:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _paced(pieces: list[bytes], delivery: Delivery) -> AsyncIterator[bytes]:
    for piece in pieces:
        await asyncio.sleep(delivery.delay)
        for crumb in _crumbs(piece, delivery.writes):
            await asyncio.sleep(0)  # lets the server send what it has
            yield crumb


def _crumbs(piece: bytes, writes: Writes) -> list[bytes]:
    if writes is Writes.EVENT:
        return [piece]
    if writes is Writes.BYTE:
        return [piece[i : i + 1] for i in range(len(piece))]
    # A byte from 0xC0 on begins a character of several: https://www.rfc-editor.org/rfc/rfc3629
    ends = [i + 1 for i, byte in enumerate(piece) if byte >= 0xC0]
    return [piece[a:b] for a, b in zip([0, *ends], [*ends, len(piece)], strict=True) if a < b]
