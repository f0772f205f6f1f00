"""A real model's calls, on every pair of client and upstream protocol.

A model of 270 million parameters talks nonsense, so these tests look at the form alone: llama.cpp
holds what the model writes to the grammar of the offered tools, and the gateway has to bring it
over whole.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.conversation import Call, Finish, Result
from tests.real_model.conftest import FORECAST, TIME, Pair
from tests.real_model.server import ModelServer

pytestmark = pytest.mark.real_model

TOOLS = (FORECAST, TIME)
QUESTION = "What is it like in Oslo?"
ENOUGH = 200
"""Tokens; a call takes about thirty, and the grammar ends the answer after it."""


def test_a_forced_call(pair: Pair, stream: bool) -> None:
    reply = pair.ask(
        QUESTION, stream=stream, tools=TOOLS, choice="required", parallel=False, max_tokens=ENOUGH
    )
    (call,) = reply.calls
    check(call)
    assert reply.finish is Finish.CALLS
    assert reply.thinking, "the server lets it think"
    assert reply.output_tokens > 0


def test_a_named_call(pair: Pair, stream: bool) -> None:
    """llama.cpp takes a name for "auto"; where the gateway writes the request, only the named tool
    is offered, and required."""
    reply = pair.ask(
        QUESTION, stream=stream, tools=TOOLS, choice="get_time", parallel=False, max_tokens=ENOUGH
    )
    for call in reply.calls:
        check(call)
    if pair.converts:
        assert [call.name for call in reply.calls] == ["get_time"]
        assert reply.finish is Finish.CALLS


def test_several_calls(pair: Pair, stream: bool) -> None:
    """As many as the model likes: the examples in its prompt let it call once for each city."""
    reply = pair.ask(
        "What is it like in Oslo and Quito?",
        stream=stream,
        tools=(TIME,),
        choice="required",
        max_tokens=ENOUGH,
    )
    assert reply.calls
    for call in reply.calls:
        check(call)
    assert len({call.id for call in reply.calls}) == len(reply.calls)
    assert reply.finish is Finish.CALLS


def test_a_tool_loop(pair: Pair, stream: bool, model_server: ModelServer) -> None:
    """The model reads its call and the result, as the gateway passed them on."""
    history = pair.client.user(QUESTION)
    first = pair.ask(
        history, stream=stream, tools=(TIME,), choice="required", parallel=False, max_tokens=ENOUGH
    )
    (call,) = first.calls
    results = pair.client.results([Result(call, "It is 5 °C, “rainy”.")])
    last = pair.ask([*history, *first.said, *results], stream=stream, tools=(TIME,), max_tokens=12)
    assert last.text or last.thinking or last.calls
    assert last.input_tokens > first.input_tokens
    _, _, read = model_server.slot()["prompt"].rpartition(QUESTION)
    called, _, result = read.partition("]</tool_calls>")
    assert called.endswith(f'{{"name": "get_time", "arguments": {{"city": "{city(call)}"}}}}')
    assert result.startswith("<eos>\ntool\nIt is 5 °C, “rainy”.<eos>\nassistant\n")


def check(call: Call) -> None:
    """The call is one of an offered tool, and its arguments fit the tool's schema."""
    assert call.id
    arguments: Any = call.arguments
    assert isinstance(arguments, dict), arguments
    assert len(city(call)) <= 12
    if call.name == "get_forecast":
        assert arguments.keys() == {"city", "days"}
        assert type(arguments["days"]) is int and 1 <= arguments["days"] <= 9
    else:
        assert call.name == "get_time"
        assert arguments.keys() == {"city"}


def city(call: Call) -> str:
    found = call.arguments["city"]
    assert isinstance(found, str)
    return found
