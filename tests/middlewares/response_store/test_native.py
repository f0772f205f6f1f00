"""Upstreams that speak Responses, and have a store of their own."""

from __future__ import annotations

import json

from tests.asgi import Upstream as Inner
from tests.asgi import ask
from tests.middlewares.response_store.gateway import (
    CHAT,
    NATIVE,
    SEALED,
    USER,
    Gateway,
    answer,
    key,
    stream,
    text_message,
)


async def test_what_a_native_upstream_answers_is_its_own_to_keep(gateway: Gateway) -> None:
    gateway.chosen = NATIVE
    reply = await gateway.answers(answer("resp_1"))
    assert reply.json() == answer("resp_1")
    gateway.build([CHAT])
    assert (await gateway.get("resp_1")).status == 404


async def test_a_native_stream_passes_byte_for_byte(gateway: Gateway) -> None:
    gateway.chosen = NATIVE
    writes = [*stream(answer("resp_1")), b": a comment\n\n"]
    gateway.inner = Inner(writes, content_type="text/event-stream")
    reply = await gateway.create("hi", stream=True)
    assert reply.writes[: len(writes)] == writes


async def test_an_unknown_id_goes_to_the_upstream_as_it_came(gateway: Gateway) -> None:
    gateway.chosen = NATIVE
    body = b'{"model":"gpt-5" , "input":"hi","previous_response_id":"resp_of_openai"}'
    gateway.inner = Inner(json.dumps(answer("resp_2")).encode())
    await ask(gateway.app, "/v1/responses", body, headers=key("ada"))
    assert gateway.inner.bodies == [body]


async def test_a_conversation_moves_to_a_native_upstream(gateway: Gateway) -> None:
    """It has no item of these ids, and nobody else's sealed thinking is for it."""
    native = {"id": "rs_2", "type": "reasoning", "summary": [], "encrypted_content": "gAAAA"}
    await gateway.answers(answer("resp_1", SEALED, text_message("msg_1")), [native, USER])
    gateway.chosen = NATIVE
    gateway.inner = Inner(json.dumps(answer("resp_2")).encode())
    body = {"model": "gpt-5", "input": "more", "previous_response_id": "resp_1"}
    reply = await ask(gateway.app, "/v1/responses", body, headers=key("ada"))
    message = text_message("msg_1")
    del message["id"]
    assert gateway.sent["input"][:3] == [native, USER, message]
    assert reply.json()["previous_response_id"] == "resp_1"


async def test_where_every_upstream_is_native_nothing_is_done(gateway: Gateway) -> None:
    gateway.build([NATIVE])
    gateway.chosen = NATIVE
    await gateway.answers(answer("resp_1"), "hi", store=True)
    gateway.inner = Inner(b'{"id":"resp_1"}')
    reply = await gateway.get("resp_1")
    assert reply.json() == {"id": "resp_1"}
