"""What is told where the gateway says no, to a request or to an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.proxy.explain.samples import (
    PAIRS,
    PROTOCOLS,
    REQUESTS,
    explained,
    settings_for,
)
from tests.proxy.explain.steps_of import answer_step
from toolwire.config.load import loads
from toolwire.proxy.stack import OPTIONS


@pytest.mark.parametrize(
    ("client", "request_", "more", "by", "status", "path"),
    [
        ("chat", {"messages": []}, "", "routing", 404, "model"),
        ("messages", {"model": 3, "messages": []}, "", "routing", 400, "model"),
        (
            "messages",
            {**REQUESTS["messages"], "top_k": 3},
            'on_loss = "reject"',
            "tool_schema_conversion",
            400,
            "top_k",
        ),
        (
            "responses",
            {"model": "m", "input": "hi", "previous_response_id": "resp_x"},
            "",
            "tool_schema_conversion",
            400,
            "previous_response_id",
        ),
    ],
)
async def test_a_refusal_is_what_the_client_gets(
    client: str, request_: dict[str, Any], more: str, by: str, status: int, path: str
) -> None:
    told = await explained(request_, settings_for("chat", more=more), protocol=client)
    assert told.sent == []
    assert told.reply is not None
    assert (told.reply.by, told.reply.status, told.reply.refuses) == (by, status, True)
    document = json.loads(told.reply.body)
    assert path in document["error"]["message"] or document["error"].get("param") == path
    assert document.get("type") == ("error" if client == "messages" else None)


async def test_an_id_of_an_earlier_response_cannot_be_known_here() -> None:
    request = {"model": "m", "input": "hi", "previous_response_id": "resp_x"}
    (note,) = (await explained(request)).notes
    assert "previous_response_id is known to nobody" in note


async def test_without_an_error_reply_the_refusal_is_told_all_the_same() -> None:
    text = """
[[upstreams]]
name = "upstream"
protocol = "chat"
base_url = "https://upstream.invalid"
models = ["other"]

[middlewares.error_reply]
enabled = false
"""
    told = await explained(REQUESTS["chat"], loads(text, environ={}, options=OPTIONS))
    assert told.reply is not None
    assert (told.reply.by, told.reply.status, told.reply.refuses) == ("routing", 0, True)
    assert b"no upstream serves 'm'" in told.reply.body


async def test_without_routing_nobody_is_asked() -> None:
    text = """
[[upstreams]]
name = "upstream"
protocol = "chat"
base_url = "https://upstream.invalid"

[middlewares.routing]
enabled = false
"""
    told = await explained(REQUESTS["chat"], loads(text, environ={}, options=OPTIONS))
    assert (told.route, told.sent) == (None, [])
    assert told.reply is not None
    assert told.reply.status == 500


async def test_without_an_error_reply_nothing_else_is_different() -> None:
    text = """
[[upstreams]]
name = "upstream"
protocol = "chat"
base_url = "https://upstream.invalid"

[middlewares.error_reply]
enabled = false
"""
    told = await explained(REQUESTS["chat"], loads(text, environ={}, options=OPTIONS))
    assert told.sent == (await explained(REQUESTS["chat"])).sent
    assert told.reply is None


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_an_error_under_status_200_is_refused_by_the_layer_that_sees_it(
    protocol: str,
) -> None:
    told = await explained(
        REQUESTS[protocol],
        settings_for(protocol),
        {"error": {"message": "no capacity"}},
        upstream="upstream",
    )
    assert told.reply is not None and told.answer is not None
    assert (told.reply.by, told.reply.status) == ("answer_repair", 502)
    assert answer_step(told, "answer_repair").told == "refuses the answer: no capacity"
    assert answer_step(told, "error_reply").told == "answers 502 in its place"
    assert told.answer.body == told.reply.body
    assert told.answer.failure["error"]["message"] == "no capacity"
    assert "routing" not in told.answer.unchanged  # nothing came through it


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_an_upstreams_own_error_is_passed_on_and_no_refusal(
    client: str, upstream: str
) -> None:
    told = await explained(
        REQUESTS[client],
        settings_for(upstream),
        {"error": {"message": "slow down"}},
        upstream="upstream",
        status=429,
    )
    assert told.reply is None
    assert told.answer is not None
    assert told.answer.status == 429
    assert told.answer.failure["error"]["message"] == "slow down"
    assert told.answer.seen is None
