"""What a server costs: CPU time per request, memory, and the time until its first answer."""

import asyncio
from statistics import median

from tests.bench.servers.http1 import POST_BODY, Connection
from tests.bench.servers.processes import Running, start
from tests.bench.servers.stub import EVENTS, WRITES, upstream

CONNECTIONS = 8
ROUNDS = 3
WORK = {  # what is asked for, how often
    "CPU ms, 1 KB POST, application alone": ("/bare", 4_000),
    "CPU ms, 1 KB POST, forwarded": ("/forward/chat", 2_000),
    f"CPU ms, {EVENTS} events in {WRITES} writes, forwarded": ("/forward/stream", 600),
}

Costs = dict[str, list[float]]


async def costs(names: list[str]) -> dict[str, dict[str, str]]:
    """Medians of some rounds in which the servers take turns, so that a noisy minute hits all."""
    found: dict[str, Costs] = {name: {} for name in names}
    for _ in range(ROUNDS):
        for name in names:
            for row, value in (await one_round(name)).items():
                found[name].setdefault(row, []).append(value)
    return {
        name: {row: f"{median(values):.3g}" for row, values in rows.items()}
        for name, rows in found.items()
    }


async def one_round(name: str) -> dict[str, float]:
    async with upstream() as stub_url, start(name, stub_url=stub_url) as server:
        rows = {"start, s": server.started_in, "memory at start, MiB": server.memory()}
        for row, (target, count) in WORK.items():
            rows[row] = await cpu_per_request(server, target, count)
        return rows | {"memory after the load, MiB": server.memory()}


async def cpu_per_request(server: Running, target: str, count: int) -> float:
    """CPU time in ms of all the server's processes, the application and its client included."""
    await load(server.port, target, count // 10)
    before = server.cpu_seconds()
    await load(server.port, target, count)
    return (server.cpu_seconds() - before) / count * 1_000


async def load(port: int, target: str, count: int) -> None:
    """`count` requests over some connections that are kept alive."""

    async def repeat() -> None:
        async with Connection(port) as connection:
            for _ in range(count // CONNECTIONS):
                await connection.ask("POST", target, POST_BODY)

    await asyncio.gather(*(repeat() for _ in range(CONNECTIONS)))
