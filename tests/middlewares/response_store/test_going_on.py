"""Requests with ``previous_response_id``."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.asgi import Upstream as Inner
from tests.asgi import ask
from tests.middlewares.response_store.gateway import (
    SEALED,
    USER,
    Gateway,
    answer,
    events_of,
    key,
    stream,
    streamed,
    text_message,
)
from toolwire.proxy.asgi import Receive, Scope, Send
from toolwire.proxy.errors import UpstreamUnreachable
from toolwire.proxy.exchange import open_body


@streamed
async def test_a_conversation_goes_on_from_a_response(gateway: Gateway, streamed: bool) -> None:
    await gateway.answers(answer("resp_1"), "hi", stream=streamed, instructions="be brief")
    reply = await gateway.answers(
        answer("resp_2"), "and now?", previous_response_id="resp_1", stream=streamed
    )
    assert gateway.sent == {
        "model": "qwen3",
        "stream": streamed,
        "input": [
            {"type": "message", "role": "user", "content": "hi"},
            text_message("msg_of_resp_1"),
            {"type": "message", "role": "user", "content": "and now?"},
        ],
    }
    assert gateway.exchange.changes["response_continued"] == 1
    if not streamed:
        assert reply.json()["previous_response_id"] == "resp_1"
        return
    events = events_of(reply)
    told = [e["response"]["previous_response_id"] for e in events if "response" in e]
    assert told == ["resp_1"] * 3
    assert [event["sequence_number"] for event in events] == list(range(6))


@streamed
async def test_each_response_is_a_place_to_go_on_from(gateway: Gateway, streamed: bool) -> None:
    """A conversation forks where two requests go on from the same response."""
    await gateway.answers(answer("resp_1"), "one", stream=streamed)
    for fork in ("two", "three"):
        name = f"resp_{fork}"
        await gateway.answers(answer(name), fork, previous_response_id="resp_1", stream=streamed)
    await gateway.answers(answer("resp_4"), "four", previous_response_id="resp_three")
    said = [item["content"] for item in gateway.sent["input"]]
    assert [text for text in said if isinstance(text, str)] == ["one", "three", "four"]
    assert len(said) == 5


async def test_calls_and_their_results_go_on(gateway: Gateway) -> None:
    call = {
        "id": "fc_1",
        "type": "function_call",
        "call_id": "call_1",
        "name": "now",
        "arguments": "{}",
        "status": "completed",
    }
    await gateway.answers(answer("resp_1", SEALED, call), [USER])
    result = {"type": "function_call_output", "call_id": "call_1", "output": "noon"}
    await gateway.answers(answer("resp_2"), [result], previous_response_id="resp_1")
    assert gateway.sent["input"] == [USER, SEALED, call, result]


@pytest.mark.parametrize("given", [None, []])
async def test_nothing_new_need_be_said(gateway: Gateway, given: Any) -> None:
    await gateway.answers(answer("resp_1"))
    await gateway.answers(answer("resp_2"), given, previous_response_id="resp_1")
    assert [item["role"] for item in gateway.sent["input"]] == ["user", "assistant"]


@pytest.mark.parametrize(
    "item",
    [
        rb'{"role":"user", "content":"\u0000 \u00e9", "big":12345678901234567890, "f":1e400}',
        # only our own reader takes these
        rb'{"role":"user","content":"\ud83d"}',
        b'{"role":"user","content":"hi","digits":%b}' % (b"9" * 5000),
    ],
)
async def test_the_history_goes_in_as_it_came(gateway: Gateway, item: bytes) -> None:
    gateway.inner = Inner(json.dumps(answer("resp_1")).encode())
    body = b'{"model":"qwen3","input":[%b]}' % item
    await ask(gateway.app, "/v1/responses", body, headers=key("ada"))
    await gateway.answers(answer("resp_2"), previous_response_id="resp_1")
    assert item in gateway.inner.bodies[-1]


async def test_an_incomplete_response_can_be_gone_on_from(gateway: Gateway) -> None:
    await gateway.answers(answer("resp_1", status="incomplete"), stream=True)
    await gateway.answers(answer("resp_2"), previous_response_id="resp_1")
    assert len(gateway.sent["input"]) == 3


async def test_events_without_their_event_line_are_understood(gateway: Gateway) -> None:
    await gateway.answers(answer("resp_1"))
    writes = [
        b"".join(line for line in write.splitlines(True) if not line.startswith(b"event:"))
        for write in stream(answer("resp_2"))
    ]
    gateway.inner = Inner(writes, content_type="text/event-stream")
    reply = await gateway.create("more", previous_response_id="resp_1", stream=True)
    told = [e["response"]["previous_response_id"] for e in events_of(reply) if "response" in e]
    assert told == ["resp_1"] * 3
    await gateway.answers(answer("resp_3"), previous_response_id="resp_2")
    assert len(gateway.sent["input"]) == 5


async def test_events_that_are_not_what_they_say_pass(gateway: Gateway) -> None:
    await gateway.answers(answer("resp_1"))
    odd = [
        b"event: response.created\ndata: no json\n\n",
        b"event: response.completed\ndata: {}\n\n",
        b'event: response.completed\ndata: {"response":7}\n\n',
        b"data: [DONE]\n\n",
    ]
    gateway.inner = Inner(odd, content_type="text/event-stream")
    reply = await gateway.create("more", previous_response_id="resp_1", stream=True)
    assert reply.body == b"".join(odd)


@pytest.mark.parametrize("wrong", [7, True, {"role": "user"}])
async def test_an_input_of_a_wrong_type_is_named(gateway: Gateway, wrong: Any) -> None:
    await gateway.answers(answer("resp_1"))
    reply = await gateway.create(wrong, previous_response_id="resp_1")
    assert reply.status == 400
    assert reply.json()["error"]["param"] == "input"


@pytest.mark.parametrize("body", [b"{", b"[]", b"", b'{"model":"qwen3","input":[1,}'])
async def test_what_is_no_request_is_a_400(gateway: Gateway, body: bytes) -> None:
    reply = await ask(gateway.app, "/v1/responses", body, headers=key("ada"))
    assert reply.status == 400


async def test_the_continued_request_survives_another_try(gateway: Gateway) -> None:
    """Routing asks the next upstream with what came, when one cannot be reached."""
    await gateway.answers(answer("resp_1"))
    last = Inner(json.dumps(answer("resp_2")).encode())

    async def twice(scope: Scope, receive: Receive, send: Send) -> None:
        scope, body = open_body(scope, receive)
        (await body.document())["input"] = "spoilt"
        body.touch()
        try:
            raise UpstreamUnreachable("refused")
        except UpstreamUnreachable:
            body.reset()
        await last(scope, body, send)

    gateway.inner = twice
    await gateway.create("more", previous_response_id="resp_1")
    assert len(last.document["input"]) == 3
