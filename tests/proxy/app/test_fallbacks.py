"""An upstream that cannot be reached: the next one that serves the model is asked."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest
from structlog.testing import capture_logs

from tests.proxy.app.streams import ASK, PATHS
from tests.proxy.gateway import ANSWER
from tests.proxy.live import (
    Connection,
    Play,
    Upstream,
    answering,
    eventually,
    gateway,
    playing,
    settings_for,
)
from toolwire.config.model import Settings

NOBODY = "http://127.0.0.1:1"


def with_second(first: str, second: Upstream, **more: Any) -> Settings:
    """Settings with ``up`` at ``first`` and ``spare`` at ``second``."""
    upstreams = [
        {"name": "up", "protocol": "messages", "base_url": first, "api_key": "sk-first-key"},
        {
            "name": "spare",
            "protocol": "chat",
            "base_url": second.url,
            "api_key": "sk-second-key",
            **more,
        },
    ]
    return settings_for(document={"upstreams": upstreams})


async def resets(connection: Connection) -> None:
    await connection.request()
    connection.reset()


async def fails(connection: Connection) -> None:
    await connection.request()
    await connection.answer(b'{"error": {"message": "overloaded"}}', "529 Overloaded")


@pytest.mark.parametrize("path", [PATHS["chat"], PATHS["messages"], "/v1/embeddings"])
async def test_the_next_one_is_asked_as_if_it_were_the_first(path: str) -> None:
    """With its own protocol, key and changes: nothing of what the first one needed is left."""
    body = {
        "max_tokens": 9,
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "seed": 1,
        "input": "text",
    }
    with capture_logs() as log:
        async with (
            answering(json.dumps(ANSWER).encode()) as second,
            gateway(with_second(NOBODY, second)) as url,
            aiohttp.ClientSession() as client,
            client.post(url + path, json=body) as answer,
        ):
            assert answer.status == 200, await answer.text()
            assert answer.headers["x-toolwire-upstream"] == "spare"
            if path == PATHS["chat"]:
                assert json.loads(second.request.body) == body
                assert "x-toolwire-dropped" not in answer.headers
            await eventually(lambda: bool(log))
    assert second.request.one("authorization") == "Bearer sk-second-key"
    assert "sk-first-key" not in str(second.request)
    (line,) = log
    assert (line["upstream"], line["retries"]) == ("spare", 2)
    assert "losses" not in line or path == PATHS["messages"]


@pytest.mark.parametrize("first", [resets])
async def test_a_connection_that_breaks_before_a_byte(first: Play) -> None:
    async with (
        playing(first) as one,
        answering() as two,
        gateway(with_second(one.url, two)) as url,
        aiohttp.ClientSession() as client,
        client.post(url + PATHS["chat"], json=ASK["chat"]) as answer,
    ):
        assert answer.headers["x-toolwire-upstream"] == "spare"
        assert len(one.connections) == 2  # it was tried once more before


async def test_an_answer_is_an_answer_even_where_it_is_an_error() -> None:
    async with (
        playing(fails) as one,
        answering() as two,
        gateway(with_second(one.url, two)) as url,
        aiohttp.ClientSession() as client,
        client.post(url + PATHS["chat"], json=ASK["chat"]) as answer,
    ):
        assert answer.status == 529
        assert two.requests == []


async def test_one_that_does_not_serve_the_model_is_not_asked() -> None:
    async with (
        answering() as second,
        gateway(with_second(NOBODY, second, models=["other"])) as url,
        aiohttp.ClientSession() as client,
        client.post(url + PATHS["chat"], json=ASK["chat"]) as answer,
    ):
        assert answer.status == 502
        assert second.requests == []


async def test_a_named_upstream_has_no_fallback() -> None:
    async with (
        answering() as second,
        gateway(with_second(NOBODY, second)) as url,
        aiohttp.ClientSession() as client,
    ):
        async with client.post(
            url + PATHS["chat"], json={**ASK["chat"], "model": "up/m"}
        ) as answer:
            assert (answer.status, answer.headers["x-toolwire-upstream"]) == (502, "up")
        async with client.post(
            url + PATHS["chat"], json={**ASK["chat"], "model": "spare/m"}
        ) as answer:
            assert answer.status == 200
        assert json.loads(second.request.body)["model"] == "m"


async def test_none_can_be_reached() -> None:
    async with answering() as gone:
        pass
    async with (
        gateway(with_second(NOBODY, gone)) as url,
        aiohttp.ClientSession() as client,
        client.post(url + PATHS["chat"], json=ASK["chat"]) as answer,
    ):
        assert answer.status == 502
        assert "'spare'" in (await answer.json())["error"]["message"]
