"""How a server ends, and how it shares its work among processes."""

import asyncio
import os
import signal
from collections import Counter

from tests.bench.servers.app import CUT
from tests.bench.servers.http1 import Connection, seen
from tests.bench.servers.processes import Running, start

STREAMS = 4
REQUESTS = 200


async def drain(name: str) -> dict[str, str]:
    """SIGTERM while streams run that end before, or long after, the time that was granted."""
    rows: dict[str, str] = {}
    for count, workers in (("", 1), ("2 workers, ", 2)):
        for row, told in (await drain_in_time(name, workers)).items():
            rows[f"SIGTERM, {count}streams end in time: {row}"] = told
    rows["SIGTERM, streams longer than the 2 s granted"] = await drain_too_late(name)
    rows["SIGTERM, an idle kept-alive connection"] = await drain_idle(name)
    return rows


async def drain_in_time(name: str, workers: int) -> dict[str, str]:
    async with start(name, workers=workers, grace=10) as server:
        streams = [asyncio.create_task(read_drip(server.port, 250)) for _ in range(STREAMS)]
        await asyncio.sleep(0.5)
        server.terminate()
        await asyncio.sleep(0.3)
        at_first = await knock(server.port)
        await asyncio.sleep(0.5)
        later = await knock(server.port)
        ended = await end(server)
        whole = sum(line != CUT and count == 250 for count, line in await asyncio.gather(*streams))
    return {
        "whole streams": f"{whole} of {STREAMS}",
        "a new client after 0.3 s": at_first,
        "a new client after 0.8 s": later,
        "the server": "ends" if ended is not None else "never ends",
    }


async def drain_too_late(name: str) -> str:
    async with start(name, grace=2) as server:
        streams = [asyncio.create_task(read_drip(server.port, 3_000)) for _ in range(STREAMS)]
        await asyncio.sleep(0.5)
        server.terminate()
        ended = await end(server)
        told = sum(line == CUT for _, line in await asyncio.gather(*streams))
    return f"ends after {ended} s; the application could tell {told} of {STREAMS} clients"


async def drain_idle(name: str) -> str:
    async with start(name, grace=10) as server, Connection(server.port) as connection:
        await connection.ask("GET", "/seen")
        server.terminate()
        ended = await end(server)
    return f"ends after {ended} s" if ended is not None else "never ends"


async def end(server: Running) -> float | None:
    """Seconds until the server ended; None when it did not, for long."""
    try:
        return round(await server.ended(), 1)
    except TimeoutError:
        return None


async def read_drip(port: int, lines: int) -> tuple[int, bytes]:
    """How many lines came of a stream of one line each 10 ms, and the last one."""
    got, last = 0, b""
    try:
        async with Connection(port) as connection:
            connection.send("GET", f"/drip?count={lines}&pause=0.01")
            async for piece in connection.pieces(await connection.read_head()):
                got += piece.count(b"\n")
                last = piece.splitlines(keepends=True)[-1]
    except (OSError, asyncio.IncompleteReadError):
        pass  # the stream was cut: what came is the result
    return got, last


async def knock(port: int) -> str:
    try:
        async with Connection(port) as connection:
            await asyncio.wait_for(connection.ask("GET", "/seen"), 1)
            return "served"
    except ConnectionRefusedError:
        return "refused"
    except (OSError, asyncio.IncompleteReadError) as failure:
        return f"left unanswered ({type(failure).__name__})"


async def workers(name: str) -> dict[str, str]:
    """Two workers: the share of each in new connections, and what follows when one is killed."""
    async with start(name, workers=2) as server:
        await asyncio.sleep(1)  # the first worker answers before the second is there
        memory = server.memory()
        shares = await count_by_worker(server, REQUESTS)
        victim = min(shares)
        os.kill(int(victim), signal.SIGKILL)
        await asyncio.sleep(8)
        later = await count_by_worker(server, REQUESTS) if running(server) else Counter()
        return {
            "2 workers: memory, MiB": f"{memory:.0f}",
            "2 workers: new connections each": " / ".join(map(str, sorted(shares.values()))),
            "2 workers, 8 s after one was killed": f"{len(later)} serve",
        }


async def count_by_worker(server: Running, requests: int) -> Counter[str]:
    """How many of some new connections, 20 at a time, each worker served, by process id."""
    pids: list[str] = []
    for _ in range(requests // 20):
        answers = await asyncio.gather(*(seen(server.port) for _ in range(20)))
        pids += [str(answer["pid"]) for answer in answers]
    return Counter(pids)


def running(server: Running) -> bool:
    return server.process.returncode is None
