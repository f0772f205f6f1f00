"""Tool loops to their end, on every pair of client and upstream protocol."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.e2e.conftest import UPSTREAMS, Client, Pair
from tests.e2e.conversation import TIME, WEATHER, Call, Finish, Reply, Result
from tests.e2e.observed import Observed
from tests.e2e.strict import StrictTransport

TOOLS = (WEATHER, TIME)
BOTH = "What is the weather in Oslo and Rome?"


def test_two_turns(pair: Pair, stream: bool) -> None:
    history = pair.client.user("What is the weather in Oslo?")
    first = pair.ask(history, stream=stream, tools=TOOLS)
    (call,) = first.calls
    history = [*history, *first.said, *pair.client.results([Result(call, "5 °C, rain")])]
    last = pair.ask(history, stream=stream, tools=TOOLS)
    assert last.finish is Finish.DONE
    assert last.text == "✓ The tools were run.\nget_weather answered: “5 °C, rain”"


def test_parallel_calls_get_their_own_results(pair: Pair, stream: bool) -> None:
    history = pair.client.user(BOTH)
    first = pair.ask(history, stream=stream, tools=TOOLS)
    oslo, rome = first.calls
    results = [Result(rome, "20 °C"), Result(oslo, "5 °C")]  # as they came to an end
    last = pair.ask(
        [*history, *first.said, *pair.client.results(results)], stream=stream, tools=TOOLS
    )
    assert sorted(last.text.splitlines()[1:]) == [
        "get_weather answered: “20 °C”",
        "get_weather answered: “5 °C”",
    ]


def test_a_failed_result_is_told_as_one(pair: Pair) -> None:
    history = pair.client.user("What is the weather in Oslo?")
    first = pair.ask(history, tools=TOOLS)
    failed = Result(first.calls[0], "no such city", is_error=True)
    last = pair.ask([*history, *first.said, *pair.client.results([failed])], tools=TOOLS)
    if pair.client.protocol != "messages":  # the others have no word for it
        expected = "get_weather answered: “no such city”"
    elif pair.upstream == "messages":
        expected = "get_weather failed: “no such city”"
    else:
        expected = "get_weather answered: “Error: no such city”"
    assert last.text == f"✓ The tools were run.\n{expected}"


def test_an_empty_result(pair: Pair) -> None:
    history = pair.client.user("What is the weather in Oslo?")
    first = pair.ask(history, tools=TOOLS)
    empty = Result(first.calls[0], "")
    last = pair.ask([*history, *first.said, *pair.client.results([empty])], tools=TOOLS)
    assert last.text == "✓ The tools were run.\nget_weather answered: “”"


def test_a_picture_in_a_result_is_seen(pair: Pair) -> None:
    if not pair.client.images_in_results:
        history = picture_beside_the_result(pair)
    else:
        asked = pair.client.user("What is the weather in Oslo?")
        first = pair.ask(asked, tools=TOOLS)
        drawn = Result(first.calls[0], "see the picture", image=True)
        history = [*asked, *first.said, *pair.client.results([drawn])]
    last = pair.ask(history, tools=TOOLS)
    lines = last.text.splitlines()
    assert lines[0] == "✓ The tools were run."
    assert lines[1].startswith("get_weather answered: “see the picture")
    assert lines[-1] == "Images seen: 1."


def picture_beside_the_result(pair: Pair) -> list[Any]:
    """Chat's results are text alone, so its users put pictures into a message of their own."""
    history = pair.client.user("What is the weather in Oslo?")
    first = pair.ask(history, tools=TOOLS)
    results = pair.client.results([Result(first.calls[0], "see the picture")])
    return [*history, *first.said, *results, *pair.client.user("This is it:", images=1)]


def test_text_after_the_results_is_not_lost(pair: Pair) -> None:
    history = pair.client.user("What is the weather in Oslo?")
    first = pair.ask(history, tools=TOOLS)
    history += [*first.said, *pair.client.results([Result(first.calls[0], "5 °C")])]
    last = pair.ask([*history, *pair.client.user("And what is the time?")], tools=TOOLS)
    assert "get_weather answered: “5 °C”" in last.text
    forced = pair.ask(
        [*history, *pair.client.user("And now Rome?")], tools=TOOLS, choice="required"
    )
    assert forced.called()[0][1] == {"city": "Rome"}


@pytest.mark.parametrize(("stream", "thinking"), [(False, False), (True, True)])
def test_four_turns(pair: Pair, stream: bool, thinking: bool) -> None:
    """A conversation that grows: each turn's calls and results stand in the history."""
    history: list[Any] = []
    for city in ("Oslo", "Rome", "Cairo", "Lima"):
        history += pair.client.user(f"What is the weather in {city}?")
        reply = pair.ask(history, stream=stream, tools=TOOLS, thinking=thinking, system="Be brief.")
        assert reply.called() == [("get_weather", {"city": city})]
        history += [*reply.said, *pair.client.results([Result(reply.calls[0], f"fine, {city}")])]
        reply = pair.ask(history, stream=stream, tools=TOOLS, thinking=thinking, system="Be brief.")
        assert reply.text.endswith(f"get_weather answered: “fine, {city}”")
        assert bool(reply.thinking) is thinking
        history += reply.said


def test_calls_again_after_results_when_forced(pair: Pair, stream: bool) -> None:
    history = pair.client.user("What is the weather in Oslo?")
    ids: list[str] = []
    for _ in range(3):
        reply: Reply = pair.ask(history, stream=stream, tools=TOOLS, choice="required")
        history = [*history, *reply.said, *pair.client.results([Result(reply.calls[0], "5 °C")])]
        ids += [call.id for call in reply.calls]
    assert len(set(ids)) == 3
    last = pair.ask(history, stream=stream, tools=TOOLS)
    assert last.text.count("get_weather answered: “5 °C”") == (3 if counts_all(pair) else 1)


def counts_all(pair: Pair) -> bool:
    """Responses upstreams see one run of items: the demo tells all outputs since the question."""
    return pair.upstream == "responses"


@pytest.mark.parametrize("foreign", ["call.id:1/é", "thought_" * 12])
@pytest.mark.parametrize(("client", "upstream"), list(itertools.permutations(UPSTREAMS, 2)))
def test_ids_of_another_vendor_are_carried(
    configured_clients: dict[str, Client],
    demo: Observed,
    heard: StrictTransport,
    client: str,
    upstream: str,
    foreign: str,
) -> None:
    """A history that was begun elsewhere may have ids that this provider refuses."""
    pair = Pair(configured_clients[client], upstream)
    first = pair.ask("What is the weather in Oslo?", tools=TOOLS)
    (call,) = first.calls
    results = pair.client.results([Result(Call(foreign, call.name, call.arguments), "5 °C")])
    history = [*pair.client.user("Weather in Oslo?"), *renamed(first, foreign), *results]
    last = pair.ask(history, tools=TOOLS)
    assert last.text.endswith("get_weather answered: “5 °C”")


def renamed(reply: Reply, call_id: str) -> list[Any]:
    """The turn of the reply, whose one call has another id."""
    (said,) = reply.said
    match said:
        case {"tool_calls": [call]}:
            return [{**said, "tool_calls": [{**call, "id": call_id}]}]
        case {"content": [block]}:
            return [{**said, "content": [{**block.model_dump(), "id": call_id}]}]
    return [{**said, "call_id": call_id}]
