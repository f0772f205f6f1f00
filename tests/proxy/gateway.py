"""The gateway as a process of its own, and an upstream whose streams a test ends when it likes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

import toolwire.config

GUARD_SECONDS = 30
"""A test that waits longer for something has failed; nothing here takes a tenth of it."""

NAMESPACE = Path(toolwire.config.__file__).parents[2]
"""What has to be on the path of another interpreter for it to find the same packages."""


class Gateway:
    """A running ``toolwire``: what it wrote, line by line, and where it listens."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.url = ""
        self.stdout: list[str] = []
        self.stderr: list[str] = []
        self._wrote = asyncio.Condition()
        self._ended = False
        assert process.stdout is not None and process.stderr is not None
        self._readers = [
            asyncio.create_task(self._read(process.stdout, self.stdout)),
            asyncio.create_task(self._read(process.stderr, self.stderr)),
        ]

    async def _read(self, stream: asyncio.StreamReader, lines: list[str]) -> None:
        async for line in stream:
            async with self._wrote:
                lines.append(line.decode())
                self._wrote.notify_all()
        async with self._wrote:
            self._ended = True
            self._wrote.notify_all()

    async def _wait_for(self, is_written: Callable[[], bool]) -> None:
        """Waits for what is written, and fails at once when it cannot come any more."""
        async with asyncio.timeout(GUARD_SECONDS), self._wrote:
            await self._wrote.wait_for(lambda: is_written() or self._ended)
        assert is_written(), "".join(self.stderr)

    def events(self, name: str) -> list[dict[str, Any]]:
        """The log's lines about ``name`` so far."""
        lines = [json.loads(line) for line in self.stderr if line.startswith("{")]
        return [line for line in lines if line["event"] == name]

    async def logged(self, name: str) -> dict[str, Any]:
        """The first line of the log about ``name``, as soon as it is there."""
        await self._wait_for(lambda: bool(self.events(name)))
        return self.events(name)[0]

    async def printed(self, last_line: str) -> str:
        """What it printed up to this line, as soon as that is there."""
        await self._wait_for(lambda: f"{last_line}\n" in self.stdout)
        return "".join(self.stdout)

    async def stopped(self) -> int:
        """The exit status, when it has ended and everything that it wrote has been read."""
        async with asyncio.timeout(GUARD_SECONDS):
            await asyncio.gather(*self._readers)
            return await self.process.wait()

    async def refuses_connections(self) -> None:
        """Returns as soon as a new client is refused."""
        host, _, port = self.url.removeprefix("http://").rpartition(":")
        async with asyncio.timeout(GUARD_SECONDS):
            while True:
                try:
                    _, writer = await asyncio.open_connection(host, int(port))
                except ConnectionRefusedError:
                    return
                writer.close()
                await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def started(*arguments: str, **environ: str) -> AsyncIterator[Gateway]:
    """``toolwire`` with these arguments; it is killed, with its workers, when it still runs."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "toolwire.proxy",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(NAMESPACE), **environ},
        start_new_session=True,
    )
    gateway = Gateway(process)
    try:
        yield gateway
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await gateway.stopped()


@contextlib.asynccontextmanager
async def listening(*arguments: str, **environ: str) -> AsyncIterator[Gateway]:
    """A gateway on a free port, as soon as it listens."""
    async with started(*arguments, "--port", "0", "--log-format", "json", **environ) as gateway:
        told = await gateway.logged("listening")
        gateway.url = f"http://{told['host']}:{told['port']}"
        yield gateway


class HeldUpstream:
    """Speaks chat: a stream's first event goes out at once, the rest when ``release`` is set."""

    def __init__(self) -> None:
        self.release = asyncio.Event()
        self.url = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if not (await request.json()).get("stream"):
            return web.json_response(ANSWER)
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(chunk({"role": "assistant", "content": "first"}, None))
        await self.release.wait()
        with contextlib.suppress(ConnectionError):
            await response.write(chunk({"content": "last"}, None) + chunk({}, "stop"))
            await response.write(b"data: [DONE]\n\n")
        return response


ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "whole"},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5},
}


def chunk(delta: dict[str, Any], finish_reason: str | None) -> bytes:
    """One event of a chat stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps({**head, "choices": [choice]}).encode() + b"\n\n"


@contextlib.asynccontextmanager
async def running_stream(url: str) -> AsyncIterator[aiohttp.ClientResponse]:
    """A client's stream from ``HeldUpstream``, whose first event has come."""
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(GUARD_SECONDS)) as session,
        session.post(f"{url}/v1/chat/completions", json=body) as response,
    ):
        assert response.status == 200, await response.text()
        assert b'"first"' in await response.content.readany()
        yield response
