"""What is told of a request and of an answer, layer by layer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.proxy.explain.samples import (
    ANSWERS,
    PAIRS,
    PATHS,
    REQUESTS,
    explained,
    settings_for,
)
from tests.proxy.explain.steps_of import answer_step, step
from toolwire.config.load import loads
from toolwire.proxy.explain.steps import HeaderChange
from toolwire.proxy.stack import OPTIONS, order

DEEPSEEK = 'provider = "deepseek"'
HISTORY = [
    {"role": "user", "content": "q"},
    {"role": "assistant", "content": "a", "reasoning_content": "old"},
    {"role": "user", "content": "again"},
]


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_each_layer_has_its_own_change(client: str, upstream: str) -> None:
    told = await explained(REQUESTS[client], settings_for(upstream), upstream="upstream")
    assert json.loads(told.sent[0].body)["model"] == "m"
    sorting = step(told, "key_canonicalization")
    assert sorting.body is not None
    assert (sorting.body.diff, sorting.body.reordered > 3) == ([], True)
    assert sorting.body.rewritten == (0 if upstream == "messages" else 1)
    if client == upstream:
        assert [one.layer for one in told.steps] == ["key_canonicalization"]
        return
    conversion = step(told, "tool_schema_conversion")
    assert conversion.path == (PATHS[client], PATHS[upstream])
    assert conversion.body is not None and conversion.body.diff
    assert conversion.body.reordered == 0


async def test_every_layer_is_named_once() -> None:
    told = await explained(REQUESTS["chat"])
    named = [*(one.layer for one in told.steps), *told.unchanged, *told.left_out]
    configured = order(settings_for().middlewares)
    assert sorted([*named, "auth"]) == sorted(configured)  # auth: no keys, so it is not built
    assert told.left_out == ["access_log", "metrics"]


async def test_keys_are_not_asked_for() -> None:
    text = """
[server]
client_keys = ["k"]

[[upstreams]]
name = "upstream"
protocol = "chat"
base_url = "https://upstream.invalid"
"""
    told = await explained(REQUESTS["chat"], loads(text, environ={}, options=OPTIONS))
    assert told.left_out == ["access_log", "metrics", "auth"]
    assert len(told.sent) == 1


async def test_losses_are_those_of_the_layer_that_made_them() -> None:
    request = {**REQUESTS["messages"], "top_k": 3}
    told = await explained(request)
    assert [loss.path for loss in told.losses] == ["top_k"]
    assert step(told, "tool_schema_conversion").losses == told.losses


async def test_changes_are_counted_by_the_layer_that_made_them() -> None:
    told = await explained(
        {"model": "deepseek-chat", "messages": HISTORY}, settings_for("chat", more=DEEPSEEK)
    )
    assert told.changes == {"reasoning_stripped": 1}
    stripping = step(told, "reasoning_stripping")
    assert stripping.changes == told.changes
    assert stripping.body is not None
    assert [line for line in stripping.body.diff if "reasoning" in line] == [
        '-      "reasoning_content": "old"'
    ]


async def test_a_body_that_no_layer_touches_goes_up_as_it_came() -> None:
    off = "\n".join(
        f"[upstreams.middlewares.{name}]\nenabled = false"
        for name in ("reasoning_stripping", "thinking_auto_disable", "key_canonicalization")
    )
    told = await explained(REQUESTS["chat"], settings_for("chat", more=off))
    assert told.sent[0].body == json.dumps(REQUESTS["chat"]).encode()
    assert told.steps == []


@pytest.mark.parametrize(("forwarded", "credential"), [(True, "Bearer ***"), (False, "Bearer ***")])
async def test_a_clients_credential_is_masked_where_it_goes_up(
    forwarded: bool, credential: str
) -> None:
    more = "forward_client_auth = true" if forwarded else 'api_key = "sk-up"'
    told = await explained(
        REQUESTS["chat"],
        settings_for("chat", more=more),
        headers=["authorization: Bearer sk-client", "cookie: session=1"],
    )
    headers = dict(told.sent[0].headers)
    assert headers["authorization"] == credential
    assert headers.get("cookie") == ("***" if forwarded else None)


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
async def test_an_answer_is_told_layer_by_layer(client: str, upstream: str) -> None:
    told = await explained(
        REQUESTS[client], settings_for(upstream), ANSWERS[upstream], upstream="upstream"
    )
    assert told.answer is not None
    assert "Take an umbrella." in json.dumps(told.answer.seen)
    assert json.loads(told.answer.body) == told.answer.seen
    converted = [one for one in told.answer.steps if one.layer == "tool_schema_conversion"]
    assert len(converted) == (client != upstream)
    added = answer_step(told, "request_id")
    assert HeaderChange("x-toolwire-upstream", None, "upstream") in added.headers
    assert "routing" in told.answer.unchanged


async def test_a_repair_of_a_whole_answer_is_shown_and_counted() -> None:
    arguments: Any = {"city": "Oslo"}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    told = await explained(REQUESTS["chat"], None, {**ANSWERS["chat"], "choices": [choice]})
    repair = answer_step(told, "answer_repair")
    assert sum(repair.changes.values()) == 1
    assert repair.body is not None
    assert any('\\"city\\":\\"Oslo\\"' in line for line in repair.body.diff)
    assert told.changes == repair.changes


async def test_a_request_that_is_asked_again_is_told_with_what_the_second_try_changed() -> None:
    message = "The `reasoning_content` in the thinking mode must be passed back to the API."
    told = await explained(
        {"model": "deepseek-chat", "messages": HISTORY},
        settings_for("chat", more=DEEPSEEK),
        {"error": {"message": message}},
        status=400,
    )
    assert [b"reasoning_content" in sent.body for sent in told.sent] == [False, True]
    first, again = [one for one in told.steps if one.layer == "reasoning_stripping"]
    assert first.changes == {"reasoning_stripped": 1}
    assert again.told == "asks again, after the upstream answered 400"
    assert again.changes == {"reasoning_added": 1}
    assert again.body is not None
    assert (again.body.reordered, [line for line in again.body.diff if line[0] in "+-"]) == (
        0,
        ['+      "reasoning_content": "",'],
    )
    assert told.reply is None
