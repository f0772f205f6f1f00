"""The ASGI application that every server under test runs.

| request | what the application does |
| --- | --- |
| `POST /bare` | reads the body, answers 1 KB of JSON: the server's own share |
| `POST /forward/PATH` | a bare pass-through to `STUB_URL` + `PATH`, by a pooled aiohttp client |
| `GET /drip?count=N&pause=S` | sends N lines, each the `time.monotonic_ns()` of its sending |
| `GET /silent` | waits for the client to leave, and never answers |
| `GET /hold` | sends one line, then waits for the client to leave |
| `GET /drip-until-left` | drips, and waits for the client to leave at the same time |
| `GET /flood` | sends 200 MB as fast as `send` lets it |
| `POST /late` | leaves the body unread for two seconds |
| `GET /seen` | what the application saw so far, and its process id |
"""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import parse_qsl

import aiohttp

from toolwire.proxy.asgi import Receive, Scope, Send

FLOOD_BYTES = 200_000_000
FLOOD_PIECE = b"x" * 50_000
ANSWER = json.dumps({"answer": "x" * 1_000}).encode()
CUT = b"cut\n"  # the last line of a stream that the server cancels

seen: dict[str, float | str] = {}
pool: list[aiohttp.ClientSession] = []


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
        return
    path = scope["path"]
    route = forward if path.startswith("/forward/") else ROUTES[path]
    await route(scope, receive, send)


async def lifespan(receive: Receive, send: Send) -> None:
    await receive()
    pool.append(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await pool.pop().close()
    await send({"type": "lifespan.shutdown.complete"})


async def bare(scope: Scope, receive: Receive, send: Send) -> None:
    await read_body(receive)
    await answer(send, ANSWER)


async def forward(scope: Scope, receive: Receive, send: Send) -> None:
    url = os.environ["STUB_URL"] + scope["path"].removeprefix("/forward")
    body = await read_body(receive)
    async with pool[0].post(url, data=body, headers={"content-type": "application/json"}) as reply:
        headers = [(name.lower(), value) for name, value in reply.raw_headers]
        kept = [pair for pair in headers if pair[0] in (b"content-type", b"content-length")]
        await send({"type": "http.response.start", "status": reply.status, "headers": kept})
        async for piece in reply.content.iter_any():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body"})


async def drip(scope: Scope, receive: Receive, send: Send) -> None:
    wanted = dict(parse_qsl(scope["query_string"].decode()))
    await stream(send, drops(int(wanted["count"]), float(wanted["pause"])))


async def silent(scope: Scope, receive: Receive, send: Send) -> None:
    await note_departure(receive)


async def hold(scope: Scope, receive: Receive, send: Send) -> None:
    await start_stream(send)
    await send({"type": "http.response.body", "body": b"here\n", "more_body": True})
    await note_departure(receive)


async def drip_until_left(scope: Scope, receive: Receive, send: Send) -> None:
    departure = asyncio.create_task(note_departure(receive))
    dripping = asyncio.create_task(stream(send, drops(10_000, 0.01)))
    await departure
    await asyncio.sleep(0.1)  # a server may fail a send to a client that left: at once, or never
    failed = dripping.exception() if dripping.done() else None
    seen["send_after_departure"] = type(failed).__name__ if failed else "returns"
    dripping.cancel()
    await asyncio.gather(dripping, return_exceptions=True)


async def flood(scope: Scope, receive: Receive, send: Send) -> None:
    seen.update(flooded=0, flood_ended="")
    await start_stream(send)
    try:
        for sent in range(len(FLOOD_PIECE), FLOOD_BYTES + 1, len(FLOOD_PIECE)):
            await send({"type": "http.response.body", "body": FLOOD_PIECE, "more_body": True})
            seen["flooded"] = sent
        await send({"type": "http.response.body"})
        seen["flood_ended"] = "complete"
    except BaseException as failure:
        seen["flood_ended"] = type(failure).__name__
        raise


async def late(scope: Scope, receive: Receive, send: Send) -> None:
    await asyncio.sleep(2)
    await answer(send, b"%d" % len(await read_body(receive)))


async def tell_seen(scope: Scope, receive: Receive, send: Send) -> None:
    await answer(send, json.dumps(seen | {"pid": os.getpid()}).encode())


async def note_departure(receive: Receive) -> None:
    seen["left_at_ns"] = 0
    while (await receive())["type"] != "http.disconnect":
        pass
    seen["left_at_ns"] = time.monotonic_ns()


async def drops(count: int, pause: float) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b"%d\n" % time.monotonic_ns()
        await asyncio.sleep(pause)


async def read_body(receive: Receive) -> bytes:
    pieces = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionResetError("the client left before its body was complete")
        pieces.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(pieces)


async def answer(send: Send, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def start_stream(send: Send) -> None:
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


async def stream(send: Send, pieces: AsyncIterator[bytes]) -> None:
    await start_stream(send)
    try:
        async for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    except asyncio.CancelledError:
        await send({"type": "http.response.body", "body": CUT, "more_body": True})
        raise
    await send({"type": "http.response.body"})


ROUTES: dict[str, Callable[[Scope, Receive, Send], Awaitable[None]]] = {
    "/bare": bare,
    "/drip": drip,
    "/silent": silent,
    "/hold": hold,
    "/drip-until-left": drip_until_left,
    "/flood": flood,
    "/late": late,
    "/seen": tell_seen,
}
