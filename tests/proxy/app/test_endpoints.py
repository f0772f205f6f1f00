"""What the gateway answers by itself: its own pages, models, and what it refuses."""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from tests.proxy.app.streams import ASK, PATHS
from tests.proxy.live import Upstream, answering, gateway, settings_for

PROTOCOLS = list(PATHS)


@asynccontextmanager
async def asking(**options: Any) -> AsyncIterator[tuple[Upstream, aiohttp.ClientSession]]:
    """An upstream, and a client of the gateway before it."""
    options.setdefault("protocol", "chat")
    async with answering(b'{"object": "list", "data": []}') as upstream:
        settings = settings_for(upstream.url, options.pop("protocol"), **options)
        async with gateway(settings) as url, aiohttp.ClientSession(url) as client:
            yield upstream, client


def assert_error(protocol: str, body: Any, kind: str, text: str) -> None:
    """``body`` has the shape of the protocol's errors, this type, and ``text`` in its message."""
    error = body["error"]
    assert (error["type"], text in error["message"]) == (kind, True), body
    if protocol == "messages":
        assert body["type"] == "error"
        assert body["request_id"].startswith("req_")
    else:
        assert error.keys() == {"message", "type", "param", "code"}
        assert body.keys() == {"error"}


async def test_health_and_metrics_need_no_key() -> None:
    async with asking(server={"client_keys": ["sk-1"]}) as (upstream, client):
        async with client.get("/healthz") as answer:
            assert (answer.status, await answer.text()) == (200, "ok\n")
        async with client.head("/healthz") as answer:
            assert answer.status == 200
        async with client.get("/metrics") as answer:
            assert answer.status == 200
            assert "# TYPE toolwire_requests_total counter" in await answer.text()
        async with client.get("/v1/models") as answer:
            assert answer.status == 401
        assert upstream.requests == []


async def test_metrics_can_be_switched_off() -> None:
    async with asking(server={"metrics": False}) as (upstream, client):
        async with client.get("/metrics") as answer:
            await answer.read()
        assert [request.target for request in upstream.requests] == ["/v1/metrics"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("header", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer sk-no"}, 401),
        ({"authorization": "Basic sk-1"}, 401),
        ({"x-api-key": "sk-"}, 401),
        ({"authorization": "Bearer sk-1"}, 200),
        ({"authorization": "bearer  sk-2 "}, 200),
        ({"x-api-key": "sk-2"}, 200),
    ],
)
async def test_keys(protocol: str, header: dict[str, str], status: int) -> None:
    server = {"client_keys": ["sk-1", "sk-2"]}
    async with (
        asking(server=server, protocol=protocol) as (_, client),
        client.post(PATHS[protocol], json=ASK[protocol], headers=header) as answer,
    ):
        assert answer.status == status
        if status == 401:
            assert_error(protocol, await answer.json(), "authentication_error", "key")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("model", ["other", "", None, "other/m"])
async def test_a_model_that_nobody_serves(protocol: str, model: str | None) -> None:
    body = {**ASK[protocol], "model": model}
    if model is None:
        del body["model"]
    async with (
        asking(models=["m", "qwen*"]) as (upstream, client),
        client.post(PATHS[protocol], json=body) as answer,
    ):
        assert answer.status == 404
        assert_error(protocol, await answer.json(), "not_found_error", "m, up/qwen*")
        assert upstream.requests == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "not valid JSON"),
        (b'{"model": "m",\n  "a": tru}', "line 2, column 8"),
        (b"[1]", "must be a JSON object, not an array"),
        (b"\xff", "UTF-8"),
        (b'{"model": 7}', "model must be a string, not an integer"),
        (b'{"model": "m", "x": ' + b"[" * 100_000, "JSON"),
    ],
)
async def test_bodies_that_are_no_requests(protocol: str, body: bytes, message: str) -> None:
    async with (
        asking(protocol=protocol) as (upstream, client),
        client.post(PATHS[protocol], data=body) as answer,
    ):
        assert answer.status == 400
        assert_error(protocol, await answer.json(), "invalid_request_error", message)
        assert upstream.requests == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_body_over_the_limit(protocol: str) -> None:
    async with (
        asking(server={"max_body_bytes": 20}) as (upstream, client),
        client.post(PATHS[protocol], json=ASK[protocol]) as answer,
    ):
        kind = "request_too_large" if protocol == "messages" else "invalid_request_error"
        assert answer.status == 413
        assert_error(protocol, await answer.json(), kind, "20 bytes")
        assert upstream.requests == []


async def test_a_compressed_body_may_not_grow_without_bound() -> None:
    deflate = zlib.compressobj(9)
    zeros, packed = b"0" * 1_000_000, b""
    for _ in range(300):
        packed += deflate.compress(zeros)
    packed += deflate.flush()
    async with (
        asking() as (upstream, client),
        client.post(PATHS["chat"], data=packed, headers={"content-encoding": "deflate"}) as answer,
    ):
        assert answer.status == 413
        assert upstream.requests == []


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/v1/models", "/v1//"])
async def test_paths_that_are_none(path: str) -> None:
    async with asking() as (upstream, client), client.get(path) as answer:
        assert answer.status == 404
        assert_error("chat", await answer.json(), "not_found_error", path)
        assert upstream.requests == []


async def test_errors_of_other_paths_speak_the_client_s_protocol() -> None:
    async with asking(server={"client_keys": ["sk-1"]}) as (_, client):
        async with client.get("/v1/messages/batches") as answer:
            assert_error("messages", await answer.json(), "authentication_error", "key")
        headers = {"anthropic-version": "2023-06-01"}
        async with client.get("/v1/models", headers=headers) as answer:
            assert_error("messages", await answer.json(), "authentication_error", "key")
        async with client.get("/v1/files") as answer:
            assert_error("chat", await answer.json(), "authentication_error", "key")


MODELS = ["gpt-1", "org/model", "qwen*"]


async def test_the_list_of_models() -> None:
    async with asking(models=MODELS) as (upstream, client):
        async with client.get("/v1/models") as answer:
            found = await answer.json()
            assert found["object"] == "list"
            assert [(model["id"], model["owned_by"]) for model in found["data"]] == [
                ("gpt-1", "up"),
                ("org/model", "up"),
            ]
        async with client.get("/v1/models/org/model") as answer:
            assert (await answer.json())["id"] == "org/model"
        async with client.get("/v1/models/qwen-max") as answer:
            assert (await answer.json())["id"] == "qwen-max"
        async with client.get("/v1/models/none") as answer:
            assert answer.status == 404
            assert_error("chat", await answer.json(), "not_found_error", "gpt-1")
        assert upstream.requests == []


async def test_the_list_of_models_for_anthropic_s_sdk() -> None:
    headers = {"anthropic-version": "2023-06-01"}
    async with asking(models=MODELS) as (_, client):
        async with client.get("/v1/models?limit=20", headers=headers) as answer:
            found = await answer.json()
            assert [model["id"] for model in found["data"]] == ["gpt-1", "org/model"]
            assert (found["first_id"], found["last_id"]) == ("gpt-1", "org/model")
            assert found["has_more"] is False
        async with client.get("/v1/models/none", headers=headers) as answer:
            assert_error("messages", await answer.json(), "not_found_error", "gpt-1")


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_every_answer_says_who_answered(protocol: str) -> None:
    async with asking(protocol=protocol) as (_, client):
        async with client.post(PATHS[protocol], json=ASK[protocol]) as answer:
            assert answer.headers["x-toolwire-upstream"] == "up"
            assert answer.headers["x-request-id"].startswith("req_")
        headers = {"x-request-id": "mine-1"}
        async with client.post(PATHS[protocol], data=b"{", headers=headers) as answer:
            assert answer.headers["x-request-id"] == "mine-1"
            if protocol == "messages":
                assert (await answer.json())["request_id"] == "mine-1"
        headers = {"x-request-id": 'forged" log=1'}
        async with client.post(PATHS[protocol], data=b"{", headers=headers) as answer:
            assert answer.headers["x-request-id"].startswith("req_")


async def test_an_upstream_s_request_id_is_kept_beside_ours() -> None:
    headers = [("content-type", "application/json"), ("x-request-id", "theirs")]
    async with (
        answering(b'{"choices": []}', headers=headers) as upstream,
        gateway(settings_for(upstream.url)) as url,
        aiohttp.ClientSession(url) as client,
        client.post(PATHS["chat"], json=ASK["chat"], headers={"x-request-id": "mine"}) as answer,
    ):
        assert answer.headers.getall("x-request-id") == ["theirs"]
        assert answer.headers["x-toolwire-request-id"] == "mine"


ERROR = b'{"error": {"message": "slow down", "type": "rate_limit_error", "code": null}}'
JSON, STREAM = ("content-type", "application/json"), ("content-type", "text/event-stream")


@pytest.mark.parametrize("upstream_protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("status", "kind", "body"),
    [
        (429, JSON, ERROR),
        (503, ("content-type", "text/html"), b"<html>busy</html>"),
        (200, STREAM, b"data: " + ERROR + b"\n\n"),
        (200, STREAM, b""),
    ],
)
@pytest.mark.parametrize("given", [None, "request-id", "x-request-id"])
async def test_clients_of_messages_find_the_request_id_in_errors(
    upstream_protocol: str, status: int, kind: tuple[str, str], body: bytes, given: str | None
) -> None:
    headers = [kind] if given is None else [kind, (given, "theirs")]
    ask = {**ASK["messages"], "stream": kind is STREAM}
    async with (
        answering(body, f"{status} X", headers) as upstream,
        gateway(settings_for(upstream.url, upstream_protocol)) as url,
        aiohttp.ClientSession(url) as client,
        client.post(PATHS["messages"], json=ask, headers={"x-request-id": "mine"}) as answer,
    ):
        told = (await answer.read()).decode()
        error = json.loads(told.rpartition("data: ")[2])
        expected = "mine" if given is None else "theirs"
        if kind is STREAM and body and upstream_protocol == "messages":
            assert error["request_id"] is None  # its own error, and an event need not have one
        else:
            assert error["request_id"] == expected
        assert answer.headers["request-id"] == expected
        assert answer.headers["x-toolwire-request-id"] == "mine"


SEED = {**ASK["chat"], "seed": 1, "logit_bias": {"1": 2}}


async def test_what_is_dropped_is_reported() -> None:
    async with (
        asking(protocol="messages") as (_, client),
        client.post(PATHS["chat"], json=SEED) as answer,
    ):
        assert answer.headers["x-toolwire-dropped"] == "seed, logit_bias"


async def test_nothing_is_reported_where_nothing_is_dropped() -> None:
    async with asking() as (_, client), client.post(PATHS["chat"], json=SEED) as answer:
        assert "x-toolwire-dropped" not in answer.headers


@pytest.mark.parametrize("place", ["everywhere", "upstream"])
async def test_losses_can_be_refused(place: str) -> None:
    options: dict[str, Any] = {"on_loss": "reject"}
    if place == "everywhere":
        options = {"document": options}
    async with (
        asking(protocol="messages", **options) as (upstream, client),
        client.post(PATHS["chat"], json=SEED) as answer,
    ):
        assert answer.status == 400
        error = (await answer.json())["error"]
        assert (error["param"], error["code"]) == ("seed", "unsupported_field")
        assert "logit_bias" in error["message"]
        assert upstream.requests == []
