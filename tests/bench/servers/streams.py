"""How a server carries a stream: at once, no faster than it is read, and not for longer."""

import asyncio
import socket
import struct
import time
from statistics import median, quantiles

from tests.bench.servers.app import FLOOD_BYTES
from tests.bench.servers.http1 import Connection, seen
from tests.bench.servers.processes import Running, start

DROPS = 300
UPLOAD = b"x" * 100_000_000
PATIENCE = 5  # seconds, before a departure counts as unnoticed
NEVER = f"never (in {PATIENCE} s)"


async def flush(name: str) -> dict[str, str]:
    """From the application's `send` to the client's read, one line each 5 ms."""
    async with start(name) as server, Connection(server.port) as connection:
        connection.send("GET", f"/drip?count={DROPS}&pause=0.005")
        head = await connection.read_head()
        delays = []
        async for piece in connection.pieces(head):
            now = time.monotonic_ns()
            delays += [(now - int(line)) / 1e6 for line in piece.split()]
    return {
        "send to client, median ms": f"{median(delays):.2f}",
        "send to client, 99th percentile ms": f"{quantiles(delays, n=100)[98]:.2f}",
    }


async def departure(name: str) -> dict[str, str]:
    """From the client's leaving to `http.disconnect` in the application's `receive`."""
    async with start(name) as server:
        return {
            "client closes, no answer yet: disconnect after": await leave(server, "/silent"),
            "client closes, stream idle: disconnect after": await leave(server, "/hold"),
            "client resets, stream idle: disconnect after": await leave(server, "/hold", True),
            "client closes, stream busy: disconnect after": await leave(server, "/drip-until-left"),
            "`send` after the client left": str(await told(server, "send_after_departure")),
        }


async def leave(server: Running, target: str, reset: bool = False) -> str:
    async with Connection(server.port) as connection:
        connection.send("GET", target)
        if target != "/silent":
            await anext(connection.pieces(await connection.read_head()))
        await asyncio.sleep(0.1)
        if reset:  # a linger time of zero makes close() send RST
            peer = connection.writer.get_extra_info("socket")
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        left_at = time.monotonic_ns()
    noticed_at = await told(server, "left_at_ns")
    return f"{(int(noticed_at) - left_at) / 1e6:.1f} ms" if noticed_at else NEVER


async def told(server: Running, what: str) -> float | str | None:
    """Asks until the application saw it; None when it did not, for long."""
    for _ in range(PATIENCE * 20):
        await asyncio.sleep(0.05)
        if found := (await seen(server.port)).get(what):
            return found
    return None


async def pressure(name: str) -> dict[str, str]:
    """200 MB down to a client that does not read, then reads; 100 MB up to such an application."""
    async with start(name) as server:
        before = server.memory()
        async with Connection(server.port, buffer=65_536) as connection:
            connection.send("GET", "/flood")
            await asyncio.sleep(3)
            held = (await seen(server.port)).get("flooded", 0)
            grown = server.memory() - before
            head = await connection.read_head()
            total = sum([len(piece) async for piece in connection.pieces(head)])
        return {
            "client does not read: `send` let through, MB": f"{float(held) / 1e6:.1f}",
            "client does not read: memory grown, MiB": f"{grown:.1f}",
            "client reads at last: all came": "yes" if total == FLOOD_BYTES else f"{total} bytes",
            "client leaves unread: `send` ends": await abandoned_flood(server),
            **await upload(server),
        }


async def abandoned_flood(server: Running) -> str:
    """How a `send` that waits for the client ends when the client leaves instead."""
    async with Connection(server.port, buffer=65_536) as connection:
        connection.send("GET", "/flood")
        await asyncio.sleep(0.5)
    ended = await told(server, "flood_ended")
    return "returns" if ended == "complete" else str(ended or NEVER)


async def upload(server: Running) -> dict[str, str]:
    before = server.memory()
    async with Connection(server.port) as connection:
        connection.send("POST", "/late", UPLOAD)
        await asyncio.sleep(1.5)
        unsent = connection.writer.transport.get_write_buffer_size()
        grown = server.memory() - before
        head = await connection.read_head()
        total = b"".join([piece async for piece in connection.pieces(head)])
    return {
        "application does not read: taken from the client, MB": f"{100 - unsent / 1e6:.1f}",
        "application does not read: memory grown, MiB": f"{grown:.1f}",
        "application reads at last: all came": "yes" if int(total) == len(UPLOAD) else "no",
    }
