"""The server around the gateway, as a process: listening, draining, workers, metrics."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from pytest_aiohttp import AiohttpServer
from uvicorn.config import STARTUP_FAILURE

from tests.proxy.gateway import (
    GUARD_SECONDS,
    NAMESPACE,
    HeldUpstream,
    listening,
    running_stream,
    started,
)
from toolwire.proxy.serve import CannotListen, listen, url_of

FOR_EVER = 3600
BOTH = pytest.mark.parametrize("workers", [1, 2])
ASK = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture
async def upstream(aiohttp_server: AiohttpServer) -> AsyncIterator[HeldUpstream]:
    held = HeldUpstream()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", held.answer)
    server = await aiohttp_server(app)
    held.url = f"http://127.0.0.1:{server.port}"
    yield held
    held.release.set()


def configured(
    folder: Path,
    upstream: HeldUpstream,
    drain_seconds: float,
    workers: int = 1,
    *,
    server: str = "",
    more: str = "",
) -> str:
    """A configuration file for this upstream; its name."""
    file = folder / "toolwire.toml"
    file.write_text(f"""
[server]
drain_seconds = {drain_seconds}
workers = {workers}
{server}

[[upstreams]]
name = "held"
protocol = "chat"
base_url = "{upstream.url}"

{more}""")
    return str(file)


@BOTH
async def test_it_answers_where_it_says_that_it_listens(
    tmp_path: Path, upstream: HeldUpstream, workers: int
) -> None:
    config = configured(tmp_path, upstream, FOR_EVER, workers)
    async with (
        listening("serve", "--config", config) as gateway,
        aiohttp.ClientSession() as session,
    ):
        async with session.get(f"{gateway.url}/healthz") as answer:
            assert (answer.status, await answer.text()) == (200, "ok\n")
        async with session.post(f"{gateway.url}/v1/chat/completions", json=ASK) as answer:
            choice = (await answer.json())["choices"][0]
            assert choice["message"]["content"] == "whole"
        assert gateway.events("listening")[0]["workers"] == workers


async def test_a_reverse_proxy_may_take_the_root_path_off_or_leave_it(
    tmp_path: Path, upstream: HeldUpstream
) -> None:
    config = configured(tmp_path, upstream, FOR_EVER, server='root_path = "/llm"')
    async with (
        listening("serve", "--config", config) as gateway,
        aiohttp.ClientSession() as session,
    ):
        for root, status in (("", 200), ("/llm", 200), ("/llmx", 404)):
            async with session.get(f"{gateway.url}{root}/healthz") as answer:
                assert answer.status == status, root
            url = f"{gateway.url}{root}/v1/chat/completions"
            async with session.post(url, json=ASK) as answer:
                assert answer.status == status, root


@BOTH
async def test_a_running_stream_ends_after_sigterm_and_new_clients_are_refused(
    tmp_path: Path, upstream: HeldUpstream, workers: int
) -> None:
    config = configured(tmp_path, upstream, FOR_EVER, workers)
    async with (
        listening("serve", "--config", config) as gateway,
        running_stream(gateway.url) as stream,
    ):
        gateway.process.send_signal(signal.SIGTERM)
        await gateway.refuses_connections()
        assert gateway.process.returncode is None
        upstream.release.set()
        rest = await stream.text()
        assert '"last"' in rest
        assert rest.endswith("data: [DONE]\n\n")
        assert await gateway.stopped() == 0
        assert len(gateway.events("draining")) == len(gateway.events("stopped")) == 1


async def _told_of_the_end(stream: aiohttp.ClientResponse) -> None:
    rest = await stream.text()
    assert '"error"' in rest
    assert "shutting down" in rest
    assert "[DONE]" not in rest


@BOTH
async def test_a_stream_that_outlives_the_drain_is_never_taken_for_complete(
    tmp_path: Path, upstream: HeldUpstream, workers: int
) -> None:
    config = configured(tmp_path, upstream, 0.3, workers)
    async with (
        listening("serve", "--config", config) as gateway,
        running_stream(gateway.url) as stream,
    ):
        gateway.process.send_signal(signal.SIGTERM)
        await _told_of_the_end(stream)
        assert await gateway.stopped() == 0
        assert "Traceback" not in "".join(gateway.stderr)


async def test_a_request_that_outlives_the_drain_is_answered_an_error(
    tmp_path: Path, upstream: HeldUpstream, aiohttp_server: AiohttpServer
) -> None:
    asked = asyncio.Event()

    async def silent(request: web.Request) -> web.Response:
        asked.set()
        await upstream.release.wait()
        return web.Response()

    app = web.Application()
    app.router.add_post("/v1/chat/completions", silent)
    upstream.url = f"http://127.0.0.1:{(await aiohttp_server(app)).port}"
    config = configured(tmp_path, upstream, 0.3)
    async with (
        listening("serve", "--config", config) as gateway,
        aiohttp.ClientSession() as session,
    ):
        asking = asyncio.ensure_future(session.post(f"{gateway.url}/v1/chat/completions", json=ASK))
        await asked.wait()
        gateway.process.send_signal(signal.SIGTERM)
        async with await asking as answer:
            assert answer.status >= 500
        assert await gateway.stopped() == 0


@BOTH
async def test_sigint_ends_it_and_an_idle_connection_does_not_hold_it_up(
    tmp_path: Path, upstream: HeldUpstream, workers: int
) -> None:
    config = configured(tmp_path, upstream, FOR_EVER, workers)
    async with (
        listening("serve", "--config", config) as gateway,
        aiohttp.ClientSession() as session,
    ):
        async with session.get(f"{gateway.url}/healthz") as answer:
            assert answer.status == 200
        gateway.process.send_signal(signal.SIGINT)
        assert await gateway.stopped() == 0


async def test_a_second_sigint_does_not_wait(tmp_path: Path, upstream: HeldUpstream) -> None:
    config = configured(tmp_path, upstream, FOR_EVER)
    async with (
        listening("serve", "--config", config) as gateway,
        running_stream(gateway.url) as stream,
    ):
        gateway.process.send_signal(signal.SIGINT)
        await gateway.logged("draining")
        gateway.process.send_signal(signal.SIGINT)
        assert await gateway.stopped() == 0
        await _told_of_the_end(stream)


async def test_one_scrape_counts_the_requests_of_all_workers(
    tmp_path: Path, upstream: HeldUpstream
) -> None:
    config, count = configured(tmp_path, upstream, FOR_EVER, workers=2), 0
    async with listening("serve", "--config", config, TMPDIR=str(tmp_path)) as gateway:
        async with asyncio.timeout(GUARD_SECONDS):
            while len(_workers(tmp_path)) < 2:  # at first only one may be up
                await asyncio.gather(*(_ask(gateway.url) for _ in range(20)))
                count += 20
        metrics = await _metrics(gateway.url)
        labels = 'client="chat",model="m",status="200",upstream="held"'
        assert metrics[f"toolwire_requests_total{{{labels}}}"] == count
        labels = 'client="chat",kind="output",model="m",upstream="held"'
        assert metrics[f"toolwire_tokens_total{{{labels}}}"] == 3 * count
        gateway.process.send_signal(signal.SIGTERM)
        assert await gateway.stopped() == 0
        assert _workers(tmp_path) == set()


async def test_a_worker_that_died_is_replaced_and_its_open_streams_are_forgotten(
    tmp_path: Path, upstream: HeldUpstream
) -> None:
    config = configured(tmp_path, upstream, FOR_EVER, workers=2)
    async with listening("serve", "--config", config, TMPDIR=str(tmp_path)) as gateway:
        await _ask(gateway.url)
        async with running_stream(gateway.url) as stream:
            assert (await _metrics(gateway.url))[OPEN] == 1
            for worker in _workers(tmp_path):
                os.kill(worker, signal.SIGKILL)
            with pytest.raises(aiohttp.ClientPayloadError):
                await stream.text()
        ended = await gateway.logged("worker ended")
        assert ended["exit_status"] == -signal.SIGKILL
        async with asyncio.timeout(GUARD_SECONDS):  # the other worker's death may be seen later
            while (metrics := await _metrics(gateway.url)).get(OPEN, 0):
                pass
        labels = 'client="chat",model="m",status="200",upstream="held"'
        assert metrics[f"toolwire_requests_total{{{labels}}}"] == 1


async def test_workers_leave_when_their_supervisor_was_killed(
    tmp_path: Path, upstream: HeldUpstream
) -> None:
    config = configured(tmp_path, upstream, FOR_EVER, workers=2)
    async with listening("serve", "--config", config) as gateway:
        await _ask(gateway.url)
        gateway.process.kill()
        await gateway.refuses_connections()


async def test_workers_that_cannot_start_end_it_with_status_1(
    tmp_path: Path, upstream: HeldUpstream
) -> None:
    (tmp_path / "not_in_workers.py").write_text(
        "import multiprocessing\n"
        "def build(app):\n"
        "    if multiprocessing.parent_process():\n"
        f"        raise SystemExit({STARTUP_FAILURE})\n"
        "    return app\n"
    )
    third_party = '[middlewares.x]\nuse = "not_in_workers:build"\nbefore = "auth"\n'
    config = configured(tmp_path, upstream, FOR_EVER, workers=2, more=third_party)
    path = f"{NAMESPACE}{os.pathsep}{tmp_path}"
    async with listening("serve", "--config", config, PYTHONPATH=path) as gateway:
        assert await gateway.stopped() == 1


async def test_a_port_in_use_is_told_and_the_status_is_1(
    tmp_path: Path, upstream: HeldUpstream
) -> None:
    config = configured(tmp_path, upstream, FOR_EVER)
    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        async with started("serve", "--config", config, "--port", port) as gateway:
            assert await gateway.stopped() == 1
    assert "".join(gateway.stderr) == (
        f"toolwire: cannot listen on 127.0.0.1:{port}: the port is in use; --port takes another "
        "one, and --port 0 any that is free\n"
    )


def test_a_name_that_nobody_knows_cannot_be_listened_on() -> None:
    with pytest.raises(CannotListen, match=r"cannot listen on nowhere\.invalid:1: \w+"):
        listen("nowhere.invalid", 1)


def test_an_address_of_another_machine_cannot_be_listened_on() -> None:
    # an address for documentation, which no machine has: https://www.rfc-editor.org/rfc/rfc5737
    with pytest.raises(CannotListen, match=r"192\.0\.2\.1:1: [Cc]annot assign"):
        listen("192.0.2.1", 1)


def test_the_url_of_a_listener_on_all_addresses_can_be_connected_to() -> None:
    with listen("0.0.0.0", 0) as listener:
        port = listener.getsockname()[1]
        assert url_of(listener) == f"http://127.0.0.1:{port}"
        socket.create_connection(("127.0.0.1", port)).close()


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_all_addresses_of_ipv6_are_those_of_ipv4_too() -> None:
    with listen("::", 0) as listener:
        port = listener.getsockname()[1]
        assert url_of(listener) == f"http://[::1]:{port}"
        socket.create_connection(("127.0.0.1", port)).close()
        socket.create_connection(("::1", port)).close()


OPEN = 'toolwire_open_streams{client="chat"}'


async def _ask(url: str) -> None:
    """One request over a connection of its own."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/chat/completions", json=ASK) as answer,
    ):
        assert answer.status == 200, await answer.text()


async def _metrics(url: str) -> dict[str, float]:
    """The samples of a scrape, by name and labels in the order of the alphabet."""
    async with asyncio.timeout(GUARD_SECONDS), aiohttp.ClientSession() as session:
        async with session.get(f"{url}/metrics") as answer:
            text = await answer.text()
    samples = re.findall(r"^(\w+)(?:\{(.*)\})? (\S+)$", text, re.MULTILINE)
    return {
        f"{name}{{{','.join(sorted(labels.split(',')))}}}": float(value)
        for name, labels, value in samples
    }


def _workers(folder: Path) -> set[int]:
    """The processes that have metrics; each has files of its own."""
    files = folder.glob("toolwire-metrics-*/*.db")
    return {int(file.stem.rpartition("_")[2]) for file in files}
