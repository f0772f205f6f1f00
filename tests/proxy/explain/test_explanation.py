"""What is told of the layers: changes, losses, refusals, and a request that is asked twice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.proxy.explain.samples import (
    ANSWERS,
    PAIRS,
    PATHS,
    PROTOCOLS,
    REQUESTS,
    explained,
    settings_for,
)
from toolwire.config.load import loads
from toolwire.config.model import Settings
from toolwire.proxy.asgi import ASGIApp, Message, Receive, Scope, Send
from toolwire.proxy.explain.explanation import Explanation
from toolwire.proxy.explain.steps import HeaderChange, Step
from toolwire.proxy.stack import OPTIONS, order

DEEPSEEK = 'provider = "deepseek"'
HISTORY = [
    {"role": "user", "content": "q"},
    {"role": "assistant", "content": "a", "reasoning_content": "old"},
    {"role": "user", "content": "again"},
]


def step(told: Explanation, layer: str) -> Step:
    """The only change of a layer to the request."""
    (found,) = [one for one in told.steps if one.layer == layer]
    return found


def answer_step(told: Explanation, layer: str) -> Step:
    assert told.answer is not None
    (found,) = [one for one in told.answer.steps if one.layer == layer]
    return found


def third_party(name: str, place: str, more: str = "") -> Settings:
    """A gateway with a middleware of this module in it."""
    text = f"""
[[upstreams]]
name = "upstream"
protocol = "chat"
base_url = "https://upstream.invalid"

[middlewares.theirs]
use = "{__name__}:{name}"
{place}
{more}
"""
    return loads(text, environ={}, options=OPTIONS)


# ----------------------------------------------------------------------------------- requests
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


# ------------------------------------------------------------------------ the gateway says no
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


# ------------------------------------------------------------------------------------- answers
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


# ------------------------------------------------------------- middlewares of somebody else
class Stamps:
    """Adds a header and a field, on the way in and on the way out."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def stamped() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                body = json.loads(message["body"])
                message = {**message, "body": json.dumps({**body, "stamp": 1}).encode()}
            return message

        async def send_stamped(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], (b"x-stamp", b"out")]}
            await send(message)

        headers = [*scope["headers"], (b"x-stamp", b"a-secret")]
        await self.app({**scope, "headers": headers}, stamped, send_stamped)


class Answers:
    """Answers itself: asks nobody."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"cached", "more_body": False})


class Breaks:
    """Cannot bear an answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def broken(message: Message) -> None:
            raise ZeroDivisionError("by zero")

        await self.app(scope, receive, broken)


@pytest.mark.parametrize(
    "place",
    ['after = "auth"', 'before = "tool_schema_conversion"', 'after = "key_canonicalization"'],
)
async def test_a_layer_of_somebody_else_is_told_like_one_of_ours(place: str) -> None:
    told = await explained(REQUESTS["messages"], third_party("Stamps", place), ANSWERS["chat"])
    theirs = step(told, "theirs")
    assert theirs.headers == [HeaderChange("x-stamp", None, "***")]
    assert theirs.body is not None
    assert [line for line in theirs.body.diff if line.startswith("+")][-1] == '+  "stamp": 1'
    assert answer_step(told, "theirs").headers == [HeaderChange("x-stamp", None, "out")]
    assert dict(told.sent[0].headers)["x-stamp"] == "***"
    assert "a-secret" not in repr(told)


async def test_a_layer_that_answers_itself_is_told() -> None:
    told = await explained(REQUESTS["chat"], third_party("Answers", 'after = "routing"'))
    assert told.sent == []
    assert told.reply is not None
    assert (told.reply.by, told.reply.refuses, told.reply.body) == ("theirs", False, b"cached")


async def test_a_layer_that_fails_on_an_answer_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    settings = third_party("Breaks", 'after = "routing"')
    told = await explained(REQUESTS["chat"], settings, ANSWERS["chat"])
    assert told.reply is not None
    assert (told.reply.by, told.reply.status) == ("theirs", 500)
    assert answer_step(told, "theirs").told == "fails on the answer: ZeroDivisionError: by zero"
    assert b"zero" not in told.reply.body
