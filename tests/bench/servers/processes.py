"""The servers under test: how each is started, and what its processes cost (Linux: /proc)."""

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.servers.http1 import Connection

ROOT = Path(__file__).parents[3]
APPLICATION = "tests.bench.servers.app:app"
TICKS = os.sysconf("SC_CLK_TCK")
PATIENCE = 20  # seconds, before a server that does not start or end counts as hanging

Command = Callable[[int, int, int], list[str]]


def uvicorn(parser: str) -> Command:
    def command(port: int, workers: int, grace: int) -> list[str]:
        return [
            *("uvicorn", APPLICATION, "--port", str(port), "--workers", str(workers)),
            *("--loop", "uvloop", "--http", parser, "--ws", "none"),
            *("--timeout-graceful-shutdown", str(grace)),
            *("--no-access-log", "--log-level", "warning"),
        ]

    return command


def granian(port: int, workers: int, grace: int) -> list[str]:
    return [
        *("granian", APPLICATION, "--port", str(port), "--workers", str(workers)),
        *("--interface", "asgi", "--loop", "uvloop", "--http", "1", "--no-ws"),
        *("--workers-kill-timeout", str(grace), "--respawn-failed-workers"),
        *("--no-access-log", "--log-level", "warning"),
    ]


def hypercorn(port: int, workers: int, grace: int) -> list[str]:
    return [
        *("hypercorn", APPLICATION, "--bind", f"127.0.0.1:{port}", "--workers", str(workers)),
        *("--worker-class", "uvloop", "--graceful-timeout", str(grace)),
        *("--log-level", "warning"),
    ]


SERVERS: dict[str, Command] = {
    "uvicorn": uvicorn("httptools"),
    "uvicorn-zttp": uvicorn("zttp"),
    "granian": granian,
    "hypercorn": hypercorn,
}


@dataclass
class Running:
    """A started server. `started_in` is the time in seconds from the spawn to the first answer."""

    port: int
    process: asyncio.subprocess.Process
    started_in: float

    def cpu_seconds(self) -> float:
        """User and system time of all its processes so far, in steps of 10 ms."""
        return sum(sum(map(int, stat(pid)[11:13])) for pid in self.pids()) / TICKS

    def memory(self) -> float:
        """MiB; a page that several processes share counts in parts (proportional set size)."""
        rollups = (Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in self.pids())
        return sum(int(rollup.split("\nPss:")[1].split()[0]) for rollup in rollups) / 1024

    def pids(self) -> list[int]:
        parents = {int(entry): int(stat(int(entry))[1]) for entry in running_pids()}
        found = [self.process.pid]
        for parent in found:
            found += [child for child, its_parent in parents.items() if its_parent == parent]
        return found

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    async def ended(self) -> float:
        """Waits for its end; seconds waited. Raises TimeoutError when it does not end."""
        since = time.monotonic()
        await asyncio.wait_for(self.process.wait(), PATIENCE)
        return time.monotonic() - since


def running_pids() -> list[str]:
    return [entry for entry in os.listdir("/proc") if entry.isdigit()]


def stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the command's name; zeros for a process that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ["0"] * 20


@asynccontextmanager
async def start(
    name: str, workers: int = 1, grace: int = 2, stub_url: str = ""
) -> AsyncIterator[Running]:
    """Starts one of `SERVERS`; `grace` is its time in seconds to drain after SIGTERM."""
    port = free_port()
    since = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", *SERVERS[name](port, workers, grace)),
        cwd=ROOT,
        env=os.environ | {"STUB_URL": stub_url},
        stderr=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        await asyncio.wait_for(until_it_answers(port), PATIENCE)
        yield Running(port, process, time.monotonic() - since)
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        await process.wait()


async def until_it_answers(port: int) -> None:
    while True:
        try:
            async with Connection(port) as connection:
                await connection.ask("GET", "/seen")
                return
        except (OSError, asyncio.IncompleteReadError):
            await asyncio.sleep(0.005)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
