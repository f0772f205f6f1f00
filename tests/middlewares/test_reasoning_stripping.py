"""Which reasoning of the history goes up, and what happens when the upstream wants more."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from tests.asgi import Upstream, ask
from toolwire.config.model import Upstream as UpstreamSettings
from toolwire.config.resolution import ProfileRules, Rule
from toolwire.middlewares.reasoning_stripping import (
    Options,
    ReasoningStripping,
    drop_emptied,
    drop_envelopes,
    drop_unsigned,
    strip,
)
from toolwire.proxy.exchange import KEY, Exchange

CHAT = "/v1/chat/completions"
HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": "a", "reasoning_content": "r1"},
    {"role": "user", "content": "two"},
    {"role": "assistant", "tool_calls": [{"id": "c"}], "reasoning": "r2", "reasoning_blocks": [1]},
    {"role": "tool", "tool_call_id": "c", "content": "x"},
    {"role": "assistant", "content": "b", "reasoning_content": "r3"},
]


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        ("strip", {}),
        ("current_turn", {3: "r2", 5: "r3"}),
        ("tool_turns", {3: "r2"}),
    ],
)
def test_policies(policy: Any, kept: dict[int, str]) -> None:
    document = {"messages": copy.deepcopy(HISTORY)}
    assert strip(document, policy, "reasoning_content") == 3 - (policy != "strip") * (5 in kept)
    found = {
        place: message["reasoning_content"]
        for place, message in enumerate(document["messages"])
        if "reasoning_content" in message
    }
    assert found == kept
    assert not any("reasoning_blocks" in message for message in document["messages"])


def test_keep_removes_nothing_but_the_gateway_s_own() -> None:
    document = {"messages": copy.deepcopy(HISTORY)}
    assert strip(document, "keep", "reasoning_content") == 1
    without_blocks = copy.deepcopy(HISTORY)
    del without_blocks[3]["reasoning_blocks"]
    assert document["messages"] == without_blocks


def test_messages_thinking_that_nobody_signed_goes() -> None:
    signed = {"type": "thinking", "thinking": "a", "signature": "s"}
    bare = {"type": "thinking", "thinking": "b", "signature": ""}
    text = {"type": "text", "text": "t"}
    document = {
        "messages": [
            {"role": "assistant", "content": [signed, bare, text]},
            {"role": "assistant", "content": [bare]},
            {"role": "assistant", "content": "text"},
            {"role": "user", "content": [bare]},
        ]
    }
    assert drop_unsigned(document) == 2
    assert document["messages"][0]["content"] == [signed, text]
    assert document["messages"][1]["content"] == [{"type": "text", "text": "(no text)"}]
    assert document["messages"][3]["content"] == [bare]


def test_envelopes_of_this_gateway_never_reach_a_responses_upstream() -> None:
    native = {"type": "reasoning", "encrypted_content": "gAAAA"}
    ours = {"type": "reasoning", "encrypted_content": "toolwire:e30="}
    document: dict[str, Any] = {"input": [native, ours, {"role": "user", "content": "x"}]}
    assert drop_envelopes(document) == 1
    assert document["input"] == [native, {"role": "user", "content": "x"}]
    assert drop_envelopes({"input": "text"}) == 0


async def test_what_a_vendor_signed_passes_byte_for_byte() -> None:
    body = b'{"model": "m", "messages": [{"role": "user", "content": "x"}]}'
    for path in ("/v1/messages", "/v1/responses"):
        upstream = Upstream()
        await ask(ReasoningStripping(upstream), path, body)
        assert upstream.bodies == [body]


def test_empty_reasoning_says_nothing() -> None:
    message = {"role": "assistant", "content": "a", "reasoning_content": ""}
    document = {"messages": [message]}
    assert strip(document, "current_turn", "reasoning_content") == 1
    assert "reasoning_content" not in message


def test_a_turn_of_nothing_but_reasoning_leaves_no_message() -> None:
    said = {"role": "assistant", "content": "a"}
    user = {"role": "user", "content": ""}
    empty = {"role": "assistant", "content": ""}
    document: dict[str, Any] = {"messages": [user, empty, said]}
    drop_emptied(document)
    assert document["messages"] == [user, said]
    document = {"messages": [empty]}
    drop_emptied(document)
    assert document["messages"] == [empty]


@pytest.mark.parametrize("client", ["/v1/chat/completions", "/v1/messages"])
async def test_a_client_of_the_same_protocol_keeps_the_message(client: str) -> None:
    emptied = {"role": "assistant", "content": "", "reasoning_content": "hmm"}
    upstream = Upstream()

    async def outer(scope: Any, receive: Any, send: Any) -> None:
        exchange = Exchange({**scope, "path": client})
        await ReasoningStripping(upstream)({**scope, KEY: exchange}, receive, send)

    await ask(outer, CHAT, {"model": "m", "messages": [*HISTORY, emptied]})
    kept = upstream.document["messages"][len(HISTORY) :]
    assert kept == ([{"role": "assistant", "content": ""}] if client == CHAT else [])


@pytest.mark.parametrize("body", [{}, {"messages": None}, {"messages": ["x", {"role": 1}]}])
def test_odd_bodies_are_left_to_the_upstream(body: dict[str, Any]) -> None:
    assert strip(copy.deepcopy(body), "strip", "reasoning_content") == 0


MISSING = json.dumps(
    {"error": {"message": "The `reasoning_content` must be passed back."}}
).encode()
OTHER = json.dumps({"error": {"message": "no such tool"}}).encode()
DEEPSEEK = UpstreamSettings(
    name="d",
    protocol="chat",
    base_url="http://d",
    profile=ProfileRules(
        (
            Rule(
                "*",
                {
                    "reasoning_history": "current_turn",
                    "reasoning_missing_error": r"reasoning_content.*passed back",
                },
            ),
        )
    ),
)


class Answering(Upstream):
    """Refuses with ``refusal`` until every assistant message has its reasoning."""

    def __init__(self, refusal: bytes, *, forever: bool = False) -> None:
        super().__init__(b'{"ok":true}')
        self.refusal, self.forever = refusal, forever

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        message = await receive()
        self.bodies.append(message["body"])
        assistants = [m for m in self.document["messages"] if m["role"] == "assistant"]
        bad = self.forever or any("reasoning_content" not in m for m in assistants)
        status, body = (400, self.refusal) if bad else (200, b'{"ok":true}')
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})


async def asked(
    upstream: Upstream, history: list[dict[str, Any]] = HISTORY
) -> tuple[int, bytes, Exchange]:
    exchange: list[Exchange] = []

    async def outer(scope: Any, receive: Any, send: Any) -> None:
        exchange.append(Exchange(scope))
        exchange[0].upstream = DEEPSEEK
        await ReasoningStripping(upstream, Options())({**scope, KEY: exchange[0]}, receive, send)

    reply = await ask(outer, CHAT, {"model": "m", "messages": history})
    return reply.status, reply.body, exchange[0]


async def test_it_is_asked_once_more_with_empty_reasoning() -> None:
    upstream = Answering(MISSING)
    status, body, exchange = await asked(upstream)
    assert (status, body) == (200, b'{"ok":true}')
    first, second = (json.loads(sent)["messages"] for sent in upstream.bodies)
    assert "reasoning_content" not in first[1]
    assert [m.get("reasoning_content") for m in second] == [None, "", None, "r2", None, "r3"]
    assert exchange.retries == 1
    assert exchange.changes["reasoning_added"] == 1


async def test_it_is_asked_only_once_more() -> None:
    upstream = Answering(MISSING, forever=True)
    assert (await asked(upstream))[:2] == (400, MISSING)
    assert len(upstream.bodies) == 2


async def test_it_is_not_asked_again_where_no_reasoning_is_missing() -> None:
    upstream = Answering(MISSING, forever=True)
    assert (await asked(upstream, [HISTORY[0], HISTORY[5]]))[:2] == (400, MISSING)
    assert len(upstream.bodies) == 1


def test_a_result_s_image_begins_no_turn() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}
    label = {"type": "text", "text": "Result of the call c (f):"}
    said = {"type": "text", "text": "And now?"}
    history = copy.deepcopy(HISTORY)
    history.insert(5, {"role": "user", "content": [label, image]})
    document = {"messages": copy.deepcopy(history)}
    strip(document, "current_turn", "reasoning_content")
    assert document["messages"][3]["reasoning_content"] == "r2"
    history[5] = {"role": "user", "content": [label, image, said]}
    document = {"messages": history}
    strip(document, "current_turn", "reasoning_content")
    assert "reasoning_content" not in document["messages"][3]


async def test_another_400_is_the_client_s() -> None:
    upstream = Answering(OTHER)
    assert (await asked(upstream))[:2] == (400, OTHER)
    assert len(upstream.bodies) == 1
