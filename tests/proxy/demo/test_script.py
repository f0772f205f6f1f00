"""What the script hears in a text, and that it answers the same to the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from starlette.testclient import TestClient

from tests.proxy.demo.wire import HEADERS, PATHS, WEATHER, body
from toolwire.proxy.demo import create_demo, hints, seals
from toolwire.proxy.demo.neutral import Prompt, Tool, tokens
from toolwire.proxy.demo.script import play

SEED = "ab" * 32


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("What is the weather in Oslo?", ["Oslo"]),
        ("weather in New York and São Paulo", ["New York", "São Paulo"]),
        ("Oslo or Rome. Which is warmer?", ["Rome"]),
        ("I think I'm in Bergen, and Bergen is wet", ["Bergen"]),
        ("Call the API with JSON", []),
        ("北京的天气怎么样", []),
        ("", []),
    ],
)
def test_places(text: str, places: list[str]) -> None:
    assert hints.places(text) == places


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("add 2 and -3.5.", [2, -3.5]),
        ("version 1.2.3 of x86 on port 8080", [8080]),
        ("1" * 400, []),
    ],
)
def test_numbers(text: str, numbers: list[float]) -> None:
    assert hints.numbers(text) == numbers


def test_tools_are_named_in_the_order_of_the_text() -> None:
    tools = [Tool(name=name) for name in ("get_time", "get-weather", "send")]
    found = hints.named_in("First Get Weather, then get_time", tools)
    assert [tool.name for tool in found] == ["get-weather", "get_time"]


def test_a_name_inside_a_longer_word_is_not_named() -> None:
    tools = [Tool(name=name) for name in ("tool_3", "tool_37", "end")]
    assert [tool.name for tool in hints.named_in("Send tool_37", tools)] == ["tool_37"]


@settings(deadline=None)
@given(st.text())
def test_tokens_are_the_whole_text(text: str) -> None:
    assert "".join(tokens(text)) == text


@settings(deadline=None)
@given(st.text(), st.text())
def test_signatures_are_of_one_text(text: str, other: str) -> None:
    signature = seals.sign(text, SEED)
    assert seals.is_signature(signature, text)
    assert seals.is_signature(signature, other) is (text == other)
    assert seals.is_ciphertext(seals.encrypt(text, SEED))


@pytest.mark.parametrize("foreign", [None, 5, "", "é", "AAAA", "=", "EqQBCkgI" * 12, "\ud83d"])
def test_foreign_seals_are_told_apart(foreign: object) -> None:
    assert not seals.is_signature(foreign, "hm")
    assert not seals.is_ciphertext(foreign)


@settings(deadline=None)
@given(limit=st.integers(0, 60), text=st.text(max_size=80))
def test_the_limit_is_kept(limit: int, text: str) -> None:
    whole = play(Prompt(user_text=text, seed=SEED, thinking=True))
    cut = play(Prompt(user_text=text, seed=SEED, thinking=True, max_tokens=limit))
    assert cut.output_tokens == min(limit, whole.output_tokens)
    assert whole.thinking.startswith(cut.thinking) and whole.text.startswith(cut.text)
    assert (cut.finish.value == "length") is (limit < whole.output_tokens)


def test_calls_that_the_limit_leaves_no_room_for_are_left_out() -> None:
    asked = Prompt(user_text="Oslo", seed=SEED, tools=(Tool(name="f"), Tool(name="g")))
    cut = play(replace(asked, max_tokens=0))
    assert play(asked).calls and not cut.calls
    assert cut.finish.value == "length"


@pytest.mark.parametrize("protocol", PATHS)
def test_equal_requests_get_equal_answers(protocol: str) -> None:
    client = TestClient(create_demo(), headers=HEADERS)
    request = body(protocol, tools=[WEATHER[protocol]])
    reordered = dict(reversed(request.items()))
    first, second = (
        client.post(PATHS[protocol], json=asked).content for asked in (request, reordered)
    )
    assert first == second
    other = client.post(PATHS[protocol], json=body(protocol, "And in Rome?")).json()
    assert other["id"] != json.loads(first)["id"]
