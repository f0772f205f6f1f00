"""What the log and the metrics tell of a request: everything that matters, nothing that is said."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from tests.proxy.app.streams import ASK, EVENTS, PATHS
from tests.proxy.gateway import chunk
from tests.proxy.live import Connection, answering, eventually, gateway, playing, settings_for

PROTOCOLS = list(PATHS)
SECRETS = ("sk-client-0123", "sk-upstream-0123", "héllo", "question-0123", "query-0123")


async def streams(connection: Connection) -> None:
    """The stream of the protocol that the path names."""
    while (request := await connection.request()) is not None:
        protocol = next(name for name, path in PATHS.items() if request.target.startswith(path))
        await connection.begin(
            [
                ("content-type", "text/event-stream"),
                ("transfer-encoding", "chunked"),
                ("request-id", "theirs"),
            ]
        )
        await connection.chunk(b"".join(EVENTS[protocol]))
        await connection.chunk(b"")


async def calls_oddly(connection: Connection) -> None:
    """A chat stream of a call whose arguments are no object."""
    while await connection.request() is not None:
        function = {"name": "f", "arguments": "[1]"}
        call = {"index": 0, "id": "c", "type": "function", "function": function}
        await connection.begin(
            [("content-type", "text/event-stream"), ("transfer-encoding", "chunked")]
        )
        await connection.chunk(chunk({"role": "assistant", "tool_calls": [call]}, None))
        await connection.chunk(chunk({}, "tool_calls") + b"data: [DONE]\n\n")
        await connection.chunk(b"")


async def logged(
    protocol: str,
    upstream: str,
    play: Callable[[Connection], Awaitable[None]] = streams,
    **more: Any,
) -> tuple[dict[str, Any], str]:
    """The line of a streamed request, and the whole log as text."""
    settings = {"api_key": SECRETS[1], "server": {"client_keys": [SECRETS[0]]}}
    body = {**ASK[protocol], "stream": True, "user": SECRETS[3], **more}
    with capture_logs() as log:
        async with (
            playing(play) as server,
            gateway(settings_for(server.url, upstream, **settings)) as url,
            aiohttp.ClientSession(headers={"authorization": f"Bearer {SECRETS[0]}"}) as client,
            client.post(f"{url}{PATHS[protocol]}?key={SECRETS[4]}", json=body) as answer,
        ):
            size = len(await answer.read())
            await eventually(lambda: bool(log))
    (line,) = log
    assert line["bytes_out"] == size
    return line, str(log)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_the_line_of_a_request(protocol: str) -> None:
    line, text = await logged(protocol, protocol)
    assert 0 < line["first_byte_ms"] <= line["duration_ms"]
    assert line["request_id"].startswith("req_")
    known = {
        "event": "request",
        "log_level": "info",
        "method": "POST",
        "path": PATHS[protocol],
        "status": 200,
        "client": protocol,
        "upstream": "up",
        "upstream_protocol": protocol,
        "upstream_request_id": "theirs",
        "model": "m",
        "stream": True,
        "input_tokens": 7,
        "cached_tokens": 4,
        "output_tokens": 3,
    }
    assert known.items() <= line.items()
    assert [secret for secret in SECRETS if secret in text] == []


@pytest.mark.parametrize("protocol", ["messages", "responses"])
async def test_the_line_of_a_converted_request(protocol: str) -> None:
    line, text = await logged(protocol, "chat", top_k=3)
    assert (line["client"], line["upstream_protocol"]) == (protocol, "chat")
    assert (line["input_tokens"], line["output_tokens"]) == (7, 3)
    assert "dropped top_k" in line["losses"]
    assert [secret for secret in SECRETS if secret in text] == []


async def test_what_a_stream_could_not_carry_is_told_at_its_end() -> None:
    line, _ = await logged("messages", "chat", calls_oddly)
    assert "coerced content[0].input" in line["losses"]
    line, _ = await logged("responses", "chat", calls_oddly)
    assert "coerced content[0].input" not in line.get("losses", [])


async def test_what_was_changed_is_told() -> None:
    history = [{"role": "assistant", "content": "a", "reasoning_content": "why"}]
    more = {"messages": [*ASK["chat"]["messages"], *history]}
    line, _ = await logged("chat", "chat", **more)
    assert line["changes"] == {"reasoning_stripped": 1}


async def failing(status: str, body: bytes) -> dict[str, Any]:
    with capture_logs() as log:
        async with (
            answering(body, status) as upstream,
            gateway(settings_for(upstream.url)) as url,
            aiohttp.ClientSession() as client,
            client.post(url + PATHS["chat"], json=ASK["chat"]) as answer,
        ):
            await answer.read()
            await eventually(lambda: bool(log))
    (line,) = log
    return dict(line)


async def test_the_line_of_a_refused_request() -> None:
    line = await failing("429 Too Many", b'{"error": {"message": "slow down"}}')
    assert (line["status"], line["log_level"]) == (429, "info")


async def test_the_line_of_a_failed_request() -> None:
    line = await failing("200 OK", b"<html>oops")
    assert (line["status"], line["log_level"]) == (502, "warning")
    assert "oops" in line["error"]


async def test_health_is_not_logged() -> None:
    with capture_logs() as log:
        async with gateway(settings_for()) as url, aiohttp.ClientSession(url) as client:
            for path in ("/healthz", "/metrics"):
                async with client.get(path) as answer:
                    assert answer.status == 200
    assert log == []


# metrics -----------------------------------------------------------------------------------------
class Samples:
    """The registry's values before, to tell what was added."""

    def __init__(self) -> None:
        self.before = self._all()

    def added(self) -> dict[str, float]:
        """What was added since, by name and labels, times and times of making left out."""
        found = {key: value - self.before.get(key, 0) for key, value in self._all().items()}
        return {key: value for key, value in found.items() if value}

    def _all(self) -> dict[str, float]:
        return {
            f"{sample.name.removeprefix('toolwire_')}{sorted(sample.labels.values())}": sample.value
            for metric in REGISTRY.collect()
            for sample in metric.samples
            if metric.name.startswith("toolwire_")
            and not sample.name.endswith(("_created", "_sum", "_bucket"))
        }


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_what_is_counted(protocol: str) -> None:
    samples = Samples()
    await logged(protocol, protocol, model="m-counted")
    where = ["m-counted", protocol, "up"]

    def labels(*more: str) -> list[str]:
        return sorted([*where, *more])

    assert samples.added() == {
        f"requests_total{labels('200')}": 1,
        f"request_duration_seconds_count{labels()}": 1,
        f"time_to_first_byte_seconds_count{labels()}": 1,
        f"tokens_total{labels('input')}": 7,
        f"tokens_total{labels('cached')}": 4,
        f"tokens_total{labels('output')}": 3,
    }


async def test_losses_and_changes_are_counted() -> None:
    samples = Samples()
    await logged("messages", "chat", top_k=3, model="m-lost")
    added = samples.added()
    assert added["losses_total['dropped', 'up']"] == 2  # top_k, and user, which messages lacks


async def test_open_streams_are_counted() -> None:
    def streaming() -> float:
        return REGISTRY.get_sample_value("toolwire_open_streams", {"client": "chat"}) or 0

    async def begins(connection: Connection) -> None:
        await connection.request()
        await connection.begin_chunked()
        await connection.chunk(EVENTS["chat"][0])
        await connection.until_closed()

    before = streaming()
    async with (
        playing(begins) as upstream,
        gateway(settings_for(upstream.url)) as url,
        aiohttp.ClientSession() as client,
        client.post(url + PATHS["chat"], json={**ASK["chat"], "stream": True}) as answer,
    ):
        await answer.content.readany()
        assert streaming() == before + 1
        answer.close()
        await eventually(lambda: streaming() == before)


async def test_no_model_s_name_breaks_the_page() -> None:
    names = ["\ud83d", 'a"b\nc\\d', "\x00", "x" * 10_000, "é"]
    async with (
        answering() as upstream,
        gateway(settings_for(upstream.url)) as url,
        aiohttp.ClientSession(url) as client,
    ):
        for name in names:
            async with client.post(PATHS["chat"], json={**ASK["chat"], "model": name}) as answer:
                assert answer.status == 200
        async with client.get("/metrics") as answer:
            page = await answer.read()
        assert answer.status == 200
        assert b"x" * 1000 not in page


async def test_clients_do_not_choose_how_many_series_there_are() -> None:
    options = {"metrics": {"max_models": 3}}
    async with (
        answering() as upstream,
        gateway(settings_for(upstream.url, middlewares=options)) as url,
        aiohttp.ClientSession(url) as client,
    ):
        for place in range(6):
            body = {**ASK["chat"], "model": f"bounded-{place}"}
            async with client.post(PATHS["chat"], json=body) as answer:
                assert answer.status == 200
        async with client.get("/metrics") as answer:
            page = await answer.text()
    assert {f"bounded-{place}" for place in range(6) if f'"bounded-{place}"' in page} == {
        "bounded-0",
        "bounded-1",
        "bounded-2",
    }
    assert 'model="other"' in page
