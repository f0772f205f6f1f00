"""Pictures, limits, stop sequences and structured output on every pair."""

from __future__ import annotations

import json

import anthropic
import openai
import pytest

from tests.e2e.conftest import Pair
from tests.e2e.conversation import WEATHER, Finish, Tool

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}
LONG = "word " * 30


def test_pictures_are_seen(pair: Pair) -> None:
    reply = pair.ask(pair.client.user("What is this?", images=2))
    assert "Images seen: 2." in reply.text


def test_structured_output(pair: Pair, stream: bool) -> None:
    reply = pair.ask("Ann is 42", stream=stream, schema=PERSON)
    assert json.loads(reply.text) == {"name": "demo name", "age": 42, "tags": ["demo tags"]}


def test_the_limit_cuts_the_text(pair: Pair, stream: bool) -> None:
    whole = pair.ask(LONG)
    cut = pair.ask(LONG, stream=stream, max_tokens=16)
    assert cut.finish is Finish.LENGTH
    assert cut.text and whole.text.startswith(cut.text) and cut.text != whole.text
    assert cut.output_tokens == 16


def test_the_limit_cuts_a_call(pair: Pair, stream: bool) -> None:
    note = Tool("take_note", {**WEATHER.schema, "properties": {"city": {"const": LONG}}})  # type: ignore[dict-item]
    cut = pair.ask("Take note", stream=stream, tools=(note,), max_tokens=16)
    assert cut.finish is Finish.LENGTH
    assert [call.name for call in cut.calls] == ["take_note"]
    assert cut.calls[0].arguments != {"city": LONG}


def test_long_prompts_are_partly_cached(pair: Pair, stream: bool) -> None:
    """Both ways of counting come to the same: Messages count cached tokens apart."""
    reply = pair.ask("word " * 2000, stream=stream)
    if pair.upstream == "messages":  # where nothing is cached unless it is marked
        assert reply.cached_tokens == 0
    else:
        assert 0 < reply.cached_tokens < reply.input_tokens
    assert reply.input_tokens > 2000


def test_system_texts_are_carried(pair: Pair, stream: bool) -> None:
    """The demo does not obey, but counts them."""
    without = pair.ask("hi", stream=stream)
    reply = pair.ask("hi", stream=stream, system="Be brief. " * 100)
    assert reply.input_tokens > without.input_tokens + 200
    assert reply.text == without.text


def test_a_conversation_in_which_nobody_speaks_is_refused(crossing: Pair) -> None:
    with pytest.raises((openai.BadRequestError, anthropic.BadRequestError)) as refused:
        crossing.ask([])
    field = "input" if crossing.client.protocol == "responses" else "messages"
    assert f"{field} must hold at least one message" in str(refused.value)
