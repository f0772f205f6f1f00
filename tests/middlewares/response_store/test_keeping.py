"""What is kept, and when."""

from __future__ import annotations

from typing import Any

import pytest

from tests.asgi import Reply, scope_for
from tests.asgi import Upstream as Inner
from tests.middlewares.response_store.gateway import (
    CHAT,
    Gateway,
    answer,
    stream,
    streamed,
)
from toolwire.proxy.store import MemoryStore


@streamed
async def test_store_false_is_obeyed(gateway: Gateway, streamed: bool) -> None:
    reply = await gateway.answers(answer("resp_1"), store=False, stream=streamed)
    assert "x-toolwire-dropped" not in reply.headers
    gateway.build([CHAT])
    assert (await gateway.get("resp_1")).status == 404


@streamed
async def test_store_false_can_still_go_on(gateway: Gateway, streamed: bool) -> None:
    await gateway.answers(answer("resp_1"))
    reply = await gateway.answers(
        answer("resp_2"), store=False, previous_response_id="resp_1", stream=streamed
    )
    assert len(gateway.sent["input"]) == 3
    assert b'"previous_response_id":"resp_1"' in reply.body


@pytest.mark.parametrize("status", ["failed", "cancelled", "in_progress", "queued"])
async def test_what_nothing_can_go_on_from_is_not_kept(gateway: Gateway, status: str) -> None:
    gateway.build([CHAT])
    await gateway.answers(answer("resp_1", status=status))
    assert (await gateway.get("resp_1")).status == 404


@pytest.mark.parametrize(
    "body", [b"{}", b"[]", b"no json", b'{"status":"completed"}', b'{"id":7,"status":"completed"}']
)
async def test_what_is_no_response_passes(gateway: Gateway, body: bytes) -> None:
    gateway.inner = Inner(body)
    reply = await gateway.create("hi")
    assert (reply.status, reply.body) == (200, body)


async def test_a_stream_that_breaks_off_is_not_kept(gateway: Gateway) -> None:
    gateway.build([CHAT])
    gateway.inner = Inner(stream(answer("resp_1"))[:-1], content_type="text/event-stream")
    reply = await gateway.create("hi", stream=True)
    assert len(reply.writes) >= 4
    assert (await gateway.get("resp_1")).status == 404


async def test_an_error_passes_and_is_not_kept(gateway: Gateway) -> None:
    gateway.inner = Inner(b'{"error":{"message":"no"}}', status=429)
    reply = await gateway.create("hi")
    assert (reply.status, reply.body) == (429, b'{"error":{"message":"no"}}')


class Recording(MemoryStore):
    """Notes what the client had got when something was saved."""

    def __init__(self, writes: list[bytes]) -> None:
        super().__init__()
        self.writes = writes
        self.got: list[bytes] = []

    async def save(self, response: Any) -> None:
        self.got = list(self.writes)
        await super().save(response)


async def test_it_is_kept_before_the_last_event_and_delays_no_other() -> None:
    reply = Reply()
    store = Recording(reply.writes)
    gateway = Gateway(store)
    gateway.inner = Inner(stream(answer("resp_1")), content_type="text/event-stream")

    async def send(message: Any) -> None:
        reply.writes.append(message.get("body", b""))

    async def receive() -> Any:
        return {"type": "http.request", "body": b'{"model":"m","input":"hi"}'}

    await gateway.app(scope_for("POST", "/v1/responses", []), receive, send)
    got, all_of_it = b"".join(store.got), b"".join(reply.writes)
    assert got.count(b"output_text.delta") == all_of_it.count(b"output_text.delta") == 6
    assert b"response.completed" not in got
    assert b"response.completed" in all_of_it
