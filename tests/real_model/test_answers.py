"""A real model's text and thinking, limits and errors, on every pair of client and upstream."""

from __future__ import annotations

import json
import time
from typing import Any

import anthropic
import openai
import pytest

from tests.e2e.conversation import Finish
from tests.e2e.strict import StrictTransport
from tests.proxy.gateway import GUARD_SECONDS
from tests.real_model.conftest import Pair
from tests.real_model.server import CONTEXT, ModelServer

pytestmark = pytest.mark.real_model

HELLO = "Say hello to Oslo."
LIMIT = 16
"""Tokens: more than the model thinks, less than it would say."""


def on(*pairs: tuple[str, str]) -> pytest.MarkDecorator:
    """These pairs alone: client and upstream."""
    return pytest.mark.parametrize("pair", pairs, indirect=True, ids=">".join)


def test_thinking_and_text(pair: Pair, stream: bool) -> None:
    reply = pair.ask(HELLO, stream=stream, max_tokens=LIMIT)
    assert reply.thinking
    assert reply.text
    assert "<think>" not in reply.thinking
    assert 0 < reply.output_tokens <= LIMIT
    assert reply.input_tokens > 0
    # llama.cpp's Responses endpoint says "completed" of an answer that the limit cut
    assert reply.finish is (Finish.DONE if pair.upstream == "responses" else Finish.LENGTH)
    if stream:
        assert "".join(reply.pieces) == reply.text
        assert len(reply.pieces) > 1, "each token comes when it is there"


@on(("chat", "chat"), ("chat", "messages"), ("messages", "chat"), ("messages", "messages"))
def test_a_stop_sequence(pair: Pair, stream: bool) -> None:
    reply = pair.ask(HELLO, stream=stream, stop=(".",), max_tokens=200)
    assert "." not in reply.text
    told = pair.client.protocol == pair.upstream == "messages"  # chat does not say which it was
    assert reply.finish is (Finish.SEQUENCE if told else Finish.DONE)


@on(("chat", "responses"), ("messages", "responses"))
def test_a_stop_sequence_that_has_no_word(pair: Pair, stream: bool, heard: StrictTransport) -> None:
    pair.ask(HELLO, stream=stream, stop=(".",), max_tokens=LIMIT)
    field = "stop_sequences" if pair.client.protocol == "messages" else "stop"
    assert heard.heard[-1].headers["x-toolwire-dropped"] == field


@on(("messages", "chat"), ("responses", "chat"))
def test_thinking_is_switched_off(pair: Pair, stream: bool) -> None:
    """By chat's `chat_template_kwargs`; llama.cpp's other endpoints have no such switch."""
    off: dict[str, dict[str, Any]] = {
        "messages": {"thinking": {"type": "disabled"}},
        "responses": {"reasoning": {"effort": "none"}},
    }
    more = off[pair.client.protocol]
    reply = pair.ask(HELLO, stream=stream, max_tokens=LIMIT, more=more)
    assert reply.thinking == ""
    assert reply.text


@on(("chat", "chat"), ("messages", "chat"), ("responses", "chat"))
def test_structured_output(pair: Pair, stream: bool) -> None:
    """llama.cpp takes a schema on its chat endpoint alone."""
    schema = {
        "type": "object",
        "properties": {"said": {"type": "boolean"}},
        "required": ["said"],
        "additionalProperties": False,
    }
    reply = pair.ask(HELLO, stream=stream, schema=schema, max_tokens=300)
    answer = json.loads(reply.text)
    assert answer.keys() == {"said"}
    assert type(answer["said"]) is bool


def test_a_prompt_that_is_too_long(pair: Pair, stream: bool) -> None:
    with pytest.raises((openai.BadRequestError, anthropic.BadRequestError)) as refused:
        pair.ask("word " * CONTEXT, stream=stream, max_tokens=LIMIT)
    assert f"exceeds the available context size ({CONTEXT} tokens)" in str(refused.value)


def test_a_client_that_leaves_frees_the_model(pair: Pair, model_server: ModelServer) -> None:
    events = started_stream(pair)
    next(iter(events))
    events.close()
    give_up = time.monotonic() + GUARD_SECONDS
    while (slot := model_server.slot())["is_processing"] and time.monotonic() < give_up:
        time.sleep(0.05)
    assert not slot["is_processing"], "the model's server was not told"
    assert slot["n_prompt_tokens"] < CONTEXT, "it wrote until there was no room left"


def started_stream(pair: Pair) -> Any:
    """The SDK's raw stream of an answer that only the room for it ends."""
    sdk: Any = pair.client.sdk
    said = {"model": f"{pair.upstream}/gemma", "stream": True}
    history = pair.client.user(HELLO)
    if pair.client.protocol == "chat":
        return sdk.chat.completions.create(messages=history, **said)
    if pair.client.protocol == "messages":
        return sdk.messages.create(messages=history, max_tokens=CONTEXT, **said)
    return sdk.responses.create(input=history, **said)
