"""CPU per request of the gateway beside a bare uvicorn + aiohttp pass-through, on the same work.

    python -m tests.bench [--rounds N] [--only SUBSTRING]

Both run at the same time beside the same canned upstream and take turns, so that a noisy minute
hits both; each figure is a median of rounds.  The gateway has everything on: all transformations,
the log (as JSON, to a file) and the metrics.  A row of a converted stream is compared with the bare
pass-through of the upstream's stream.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from statistics import median

from tests.bench.servers.http1 import Connection
from tests.bench.servers.processes import PATIENCE, ROOT, Running, free_port
from tests.bench.work import PATHS, WORK, Work

CONNECTIONS = 8
CONFIG = """
[server]
port = {port}
log_format = "json"

[[upstreams]]
name = "chat"
protocol = "chat"
base_url = "{stub}/v1"
models = ["*"]

[[upstreams]]
name = "messages"
protocol = "messages"
base_url = "{stub}/v1"
models = ["claude-*"]
"""


# the upstream ----------------------------------------------------------------------------------
@asynccontextmanager
async def canned_upstream() -> AsyncIterator[str]:
    """Answers each protocol's endpoint with canned bytes; yields its URL."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.bench.upstream", str(port := free_port())), cwd=ROOT
    )
    try:
        await _until_open(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def started(argv: list[str], port: int, **env: str) -> AsyncIterator[Running]:
    """A server process; killed in the end."""
    with tempfile.TemporaryFile() as log:
        process = await asyncio.create_subprocess_exec(
            *argv, cwd=ROOT, env=os.environ | env, stdout=log, stderr=log, start_new_session=True
        )
        try:
            await asyncio.wait_for(_until_open(port), PATIENCE)
            yield Running(port, process, 0)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def _until_open(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        except OSError:
            await asyncio.sleep(0.02)


# measuring -------------------------------------------------------------------------------------
async def cost(server: Running, target: str, body: bytes, requests: int) -> float:
    """CPU milliseconds of the server's process for each request."""
    await load(server.port, target, body, max(requests // 10, CONNECTIONS))
    before = server.cpu_seconds()
    await load(server.port, target, body, requests)
    return (server.cpu_seconds() - before) / requests * 1000


async def load(port: int, target: str, body: bytes, requests: int) -> None:
    """So many requests over some connections that are kept alive."""

    async def repeat() -> None:
        async with Connection(port) as connection:
            for _ in range(max(1, requests // CONNECTIONS)):
                await connection.ask("POST", target, body)

    await asyncio.gather(*(repeat() for _ in range(CONNECTIONS)))


async def measure(work: Work, bare: Running, gateway: Running, rounds: int) -> tuple[float, float]:
    """Medians in milliseconds: of the bare pass-through, and of the gateway."""
    pairs = []
    for _ in range(rounds):
        passed = await cost(bare, "/forward" + PATHS[work.upstream], work.body, work.requests)
        body = work.body
        if work.upstream != work.client:
            body = body.replace(b'"model-1"', b'"%b/model-1"' % work.upstream.encode(), 1)
        through = await cost(gateway, "/v1" + PATHS[work.client], body, work.requests)
        pairs.append((passed, through))
    return median(passed for passed, _ in pairs), median(through for _, through in pairs)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="part of a row's name")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores")
    print(f"{'':34}{'bare ms':>9}{'ours ms':>9}{'ratio':>7}{'aim':>6}")
    async with canned_upstream() as stub, bare_forwarder(stub) as bare, gateway(stub) as ours:
        for work in WORK:
            if options.only not in work.name:
                continue
            passed, through = await measure(work, bare, ours, options.rounds)
            row = f"{passed:9.3f}{through:9.3f}{through / passed:7.2f}{work.aim:6.2f}"
            print(f"{work.name:34}{row}", flush=True)
        print(f"memory of the gateway: {ours.memory():.0f} MiB")


@asynccontextmanager
async def bare_forwarder(stub: str) -> AsyncIterator[Running]:
    """The yardstick: uvicorn, aiohttp, nothing else."""
    port = free_port()
    app = "tests.bench.servers.app:app"
    argv = [sys.executable, "-m", "uvicorn", app, "--port", str(port), "--loop", "uvloop"]
    argv += ["--http", "httptools", "--no-access-log", "--ws", "none"]
    async with started(argv, port, STUB_URL=stub + "/v1") as running:
        yield running


@asynccontextmanager
async def gateway(stub: str) -> AsyncIterator[Running]:
    """Ours, as a user starts it."""
    port = free_port()
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as config:
        config.write(CONFIG.format(port=port, stub=stub))
        config.flush()
        argv = [sys.executable, "-m", "toolwire.proxy", "serve", "--config", config.name]
        async with started(argv, port) as running:
            yield running


if __name__ == "__main__":
    asyncio.run(main())
