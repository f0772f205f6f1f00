"""Which tools are called, and with what, on every pair of client and upstream protocol."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Pair
from tests.e2e.conversation import TIME, WEATHER, Finish, Tool

TOOLS = (WEATHER, TIME)
OSLO = ("get_weather", {"city": "Oslo"})
ROME = ("get_weather", {"city": "Rome"})
BOTH = "What is the weather in Oslo and Rome?"


@pytest.mark.parametrize(
    ("text", "choice", "parallel", "expected"),
    [
        ("What is the weather in Oslo?", "", None, [OSLO]),
        ("What is the weather in Oslo?", "auto", None, [OSLO]),
        ("Hello", "none", None, []),
        ("Weather in Oslo?", "required", None, [OSLO]),
        ("Weather in Oslo?", "get_time", None, [("get_time", {"city": "Oslo"})]),
        (BOTH, "", None, [OSLO, ROME]),
        (BOTH, "auto", True, [OSLO, ROME]),
        (BOTH, "required", True, [OSLO, ROME]),
        (BOTH, "", False, [OSLO]),
        (BOTH, "auto", False, [OSLO]),
        (BOTH, "required", False, [OSLO]),
        (BOTH, "get_weather", False, [OSLO]),
    ],
)
def test_choice(
    pair: Pair,
    stream: bool,
    text: str,
    choice: str,
    parallel: bool | None,
    expected: list[tuple[str, object]],
) -> None:
    reply = pair.ask(text, stream=stream, tools=TOOLS, choice=choice, parallel=parallel)
    assert reply.called() == expected
    assert reply.finish is (Finish.CALLS if expected else Finish.DONE)
    assert bool(reply.text) is not bool(expected)
    assert len({call.id for call in reply.calls}) == len(expected)


def test_a_call_without_arguments(pair: Pair, stream: bool) -> None:
    nothing = Tool("ping", {"type": "object", "properties": {}})
    reply = pair.ask("go", stream=stream, tools=(nothing,))
    assert reply.called() == [("ping", {})]


def test_arguments_arrive_as_they_were_made(pair: Pair, stream: bool) -> None:
    """Long integers, fractions, nesting, other scripts and quotes."""
    schema = {
        "type": "object",
        "properties": {
            "id": {"const": 1234567890123456789},
            "rate": {"const": 0.1},
            "who": {"const": 'Zoë "世界" \\ 🌍\n'},
            "deep": {"const": {"b": [1, {"a": None}], "a": True}},
        },
        "required": ["id", "rate", "who", "deep"],
    }
    reply = pair.ask("go", stream=stream, tools=(Tool("record", schema),), choice="record")
    ((_, arguments),) = reply.called()
    assert arguments == {
        "id": 1234567890123456789,
        "rate": 0.1,
        "who": 'Zoë "世界" \\ 🌍\n',
        "deep": {"b": [1, {"a": None}], "a": True},
    }


@pytest.mark.parametrize("name", ["n" * 64, "a-b_C3", "UPPER_lower"])
def test_names_come_back_as_they_were_given(pair: Pair, stream: bool, name: str) -> None:
    reply = pair.ask("Oslo", stream=stream, tools=(Tool(name, WEATHER.schema), TIME), choice=name)
    assert [call.name for call in reply.calls] == [name]


def test_many_tools_keep_their_names_apart(pair: Pair) -> None:
    tools = tuple(Tool(f"tool_number_{number}", WEATHER.schema) for number in range(40))
    reply = pair.ask("Use tool_number_37 in Oslo", tools=tools)
    assert reply.called() == [("tool_number_37", {"city": "Oslo"})]
