"""What a connection is given in one go leaves in one go, in order, and none of it stays."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from toolwire.proxy.asgi import Receive, Scope, Send
from toolwire.proxy.connection import AT_MOST_BYTES, ClientConnection


class Transport(asyncio.Transport):
    """Notes what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.closed = False

    def write(self, data: Any) -> None:
        assert not self.closed
        self.writes.append(bytes(data))

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


async def answered(*pieces: bytes, request: bytes = b"GET / HTTP/1.1\r\n\r\n") -> Transport:
    async def app(_: Scope, __: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    config = uvicorn.Config(app, http=ClientConnection, lifespan="off", log_config=None)
    config.load()
    state, transport = ServerState(), Transport()
    connection = ClientConnection(config, state, {}, asyncio.get_running_loop())
    connection.connection_made(transport)
    connection.data_received(request)
    while state.tasks:
        await asyncio.gather(*state.tasks)
    await asyncio.sleep(0)
    connection.connection_lost(None)
    return transport


async def test_head_and_body_leave_in_one_write() -> None:
    transport = await answered(b"one", b"two")
    assert len(transport.writes) == 1
    assert transport.writes[0].startswith(b"HTTP/1.1 200 OK\r\n")
    assert transport.writes[0].endswith(b"\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n")


async def test_no_more_is_held_back_than_flow_control_may_miss() -> None:
    piece = b"x" * (AT_MOST_BYTES // 2)
    transport = await answered(*[piece] * 20)
    assert b"".join(transport.writes).count(b"x") == 20 * len(piece)
    assert max(map(len, transport.writes)) < 2 * AT_MOST_BYTES


async def test_what_is_held_back_goes_out_before_the_end() -> None:
    close = b"GET / HTTP/1.1\r\nconnection: close\r\n\r\n"
    transport = await answered(b"all of it", request=close)
    assert transport.closed
    assert b"".join(transport.writes).endswith(b"9\r\nall of it\r\n0\r\n\r\n")


async def test_a_request_that_is_none_is_answered() -> None:
    transport = await answered(request=b"nonsense\r\n\r\n")
    assert transport.closed
    assert transport.writes[0].startswith(b"HTTP/1.1 400 ")
