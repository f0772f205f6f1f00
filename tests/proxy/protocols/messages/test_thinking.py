"""How a Messages upstream is told to think, and when it had better not be."""

from __future__ import annotations

from typing import Any

import pytest

from toolwire.config.profile import Profile
from toolwire.proxy.protocols.messages import CODEC
from toolwire.proxy.protocols.neutral import (
    Call,
    Choice,
    FunctionTool,
    Losses,
    Part,
    Request,
    Result,
    Role,
    Text,
    Thinking,
    ThinkingRequest,
    Turn,
)

BUDGETS = Profile(default_max_tokens=8192, forced_choice_refused_while_thinking=True)
ADAPTIVE = Profile(messages_thinking="adaptive")
AT = "reasoning_effort"


def written(
    wish: ThinkingRequest | None, profile: Profile = BUDGETS, **fields: Any
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    request = Request(model="m", protocol="chat", turns=[Turn(Role.USER, [Text("hi")])])
    request.max_tokens, request.thinking = 20000, wish
    request.tools = [FunctionTool("f")]
    for name, value in fields.items():
        setattr(request, name, value)
    losses = Losses()
    document = CODEC.write_request(request, profile, losses)
    return document, [(loss.kind, loss.path) for loss in losses.entries]


def effort(word: str) -> ThinkingRequest:
    return ThinkingRequest(effort=word, at=AT)


@pytest.mark.parametrize(
    ("wish", "budget"),
    [
        (effort("minimal"), 1024),
        (effort("low"), 2048),
        (effort("high"), 16384),
        (effort("unheard-of"), 1024),
        (ThinkingRequest(enabled=True, budget=3000, at=AT), 3000),
        (ThinkingRequest(enabled=True, at=AT), 16384),
        (ThinkingRequest(adaptive=True, effort="low", at=AT), 2048),
    ],
)
def test_budgets(wish: ThinkingRequest, budget: int) -> None:
    document, losses = written(wish)
    assert document["thinking"] == {"type": "enabled", "budget_tokens": budget}
    assert document["max_tokens"] == 20000
    assert losses == []


@pytest.mark.parametrize("wish", [ThinkingRequest(enabled=False), effort("none")])
@pytest.mark.parametrize("profile", [BUDGETS, ADAPTIVE])
def test_no_thinking(wish: ThinkingRequest, profile: Profile) -> None:
    assert written(wish, profile)[0]["thinking"] == {"type": "disabled"}


def test_a_model_that_always_thinks_is_not_told_to_stop() -> None:
    document, losses = written(effort("none"), Profile(thinking_optional=False))
    assert "thinking" not in document
    assert losses == [("dropped", AT)]


@pytest.mark.parametrize("wish", [None, ThinkingRequest(), ThinkingRequest(summary="auto")])
@pytest.mark.parametrize("profile", [BUDGETS, ADAPTIVE])
def test_no_wish(wish: ThinkingRequest | None, profile: Profile) -> None:
    document, losses = written(wish, profile)
    assert not {"thinking", "output_config"} & document.keys()
    assert losses == []


def test_the_limit_makes_room_where_the_client_gave_none() -> None:
    document, losses = written(effort("low"), max_tokens=None)
    assert document["max_tokens"] == 8192 + 2048
    assert losses == [("invented", "max_tokens")]


@pytest.mark.parametrize(
    ("limit", "budget"), [(20000, 16384), (16384, 8192), (3000, 1500), (2047, 1024), (1025, 1024)]
)
def test_the_budget_stays_below_the_clients_limit(limit: int, budget: int) -> None:
    document, _ = written(effort("high"), max_tokens=limit)
    assert document["thinking"]["budget_tokens"] == budget
    assert document["max_tokens"] == limit


def test_a_limit_that_leaves_no_room_wins() -> None:
    document, losses = written(effort("high"), max_tokens=1024)
    assert "thinking" not in document
    assert losses == [("dropped", AT)]


@pytest.mark.parametrize(("asked", "budget"), [(10, 1024), (30000, 10000)])
def test_a_budget_that_was_changed_is_reported(asked: int, budget: int) -> None:
    document, losses = written(ThinkingRequest(budget=asked, at="thinking_budget"))
    assert document["thinking"]["budget_tokens"] == budget
    assert losses == [("coerced", "thinking_budget")]


@pytest.mark.parametrize(
    ("wish", "word", "reported"),
    [
        (effort("high"), "high", False),
        (effort("minimal"), "low", True),
        (effort("new"), "new", False),
        (ThinkingRequest(budget=9000, at=AT), "high", True),
        (ThinkingRequest(budget=10**9, at=AT), "max", True),
    ],
)
def test_effort(wish: ThinkingRequest, word: str, reported: bool) -> None:
    document, losses = written(wish, ADAPTIVE)
    assert document["thinking"] == {"type": "adaptive"}
    assert document["output_config"] == {"effort": word}
    assert losses == ([("coerced", AT)] if reported else [])


def test_the_model_may_decide_and_show() -> None:
    document, _ = written(ThinkingRequest(adaptive=True, summary="auto"), ADAPTIVE)
    assert document["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert "output_config" not in document


@pytest.mark.parametrize("choice", [Choice("required"), Choice("tool", name="f")])
def test_a_forced_choice_wins_over_thinking_of_our_own(choice: Choice) -> None:
    document, losses = written(effort("high"), choice=choice)
    assert "thinking" not in document
    assert losses == [("dropped", AT)]
    free = Profile(forced_choice_refused_while_thinking=False)
    assert "thinking" in written(effort("high"), free, choice=choice)[0]
    assert "thinking" in written(effort("high"), choice=Choice("none"))[0]
    own = ThinkingRequest(enabled=True, budget=2000)
    assert "thinking" in written(own, choice=choice, protocol="messages")[0]


SIGNED = Thinking("a", signature="s", origin="messages")


@pytest.mark.parametrize(
    ("first", "profile", "thinks"),
    [
        (SIGNED, BUDGETS, True),
        (Text("a"), BUDGETS, False),
        (Thinking("a"), BUDGETS, False),
        (Text("a"), ADAPTIVE, True),
        (Text("a"), Profile(signed_thinking=False), True),
    ],
)
def test_a_tool_loop_without_its_signed_thinking_goes_on_without(
    first: Part, profile: Profile, thinks: bool
) -> None:
    turns = [
        Turn(Role.USER, [Text("q")]),
        Turn(Role.ASSISTANT, [first, Call("1", "f")]),
        Turn(Role.USER, [Result("1", [Text("r")])]),
    ]
    document, losses = written(effort("high"), profile, turns=turns)
    assert ("thinking" in document) is thinks
    assert (("dropped", AT) in losses) is not thinks
    turns += [Turn(Role.ASSISTANT, [Text("done")]), Turn(Role.USER, [Text("next")])]
    assert "thinking" in written(effort("high"), profile, turns=turns)[0]


def test_an_answer_that_has_begun_goes_on_without_thinking() -> None:
    turns = [Turn(Role.USER, [Text("q")]), Turn(Role.ASSISTANT, [Text("The answer is")])]
    assert "thinking" not in written(effort("high"), turns=turns)[0]


def test_what_a_thinking_model_refuses_is_left_out() -> None:
    document, losses = written(
        effort("low"), temperature=0, top_p=0, extra={"top_k": 5}, stop=["END"]
    )
    assert not {"temperature", "top_p", "top_k"} & document.keys()
    assert document["stop_sequences"] == ["END"]
    assert losses == [("dropped", "temperature"), ("dropped", "top_p"), ("dropped", "top_k")]
    document, losses = written(effort("low"), temperature=1)
    assert document["temperature"] == 1
    assert losses == []
