"""A forced choice switches thinking off where the upstream would refuse it, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.asgi import Upstream, ask
from toolwire.config.profile import Profile
from toolwire.middlewares.thinking_auto_disable import (
    ThinkingAutoDisable,
    disable_thinking,
    is_forced,
    relax_choice,
)

NAMED = {"type": "function", "function": {"name": "f"}}


@pytest.mark.parametrize(
    ("choice", "forced"),
    [
        ("required", True),
        (NAMED, True),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": []}}, True),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}, False),
        ("auto", False),
        ("none", False),
        (None, False),
        (7, False),
    ],
)
def test_what_is_forced(choice: Any, forced: bool) -> None:
    assert is_forced({"tool_choice": choice}) is forced


def test_no_choice_is_not_forced() -> None:
    assert not is_forced({})


@pytest.mark.parametrize(
    ("switch", "added"),
    [
        ("enable_thinking", {"enable_thinking": False}),
        ("thinking_type", {"thinking": {"type": "disabled"}}),
        ("reasoning_effort", {"reasoning_effort": "none"}),
        ("reasoning", {"reasoning": {"enabled": False}}),
        ("chat_template_kwargs", {"chat_template_kwargs": {"enable_thinking": False}}),
    ],
)
def test_the_switch_is_the_profile_s(switch: Any, added: dict[str, Any]) -> None:
    document: dict[str, Any] = {"tool_choice": "required"}
    assert disable_thinking(document, Profile(thinking_switch=switch))
    assert document == {"tool_choice": "required", **added}


@pytest.mark.parametrize(
    ("switch", "said"),
    [
        ("enable_thinking", {"enable_thinking": True}),
        ("enable_thinking", {"thinking_budget": 100}),
        ("enable_thinking", {"chat_template_kwargs": {"enable_thinking": True}}),
        ("thinking_type", {"thinking": {"type": "enabled"}}),
        ("reasoning_effort", {"reasoning_effort": "high"}),
        ("reasoning", {"reasoning": {"effort": "low"}}),
        ("reasoning", {"reasoning_effort": "low"}),
    ],
)
def test_what_the_client_said_itself_stays(switch: Any, said: dict[str, Any]) -> None:
    document = {"tool_choice": "required", **said}
    assert not disable_thinking(document, Profile(thinking_switch=switch))
    assert document == {"tool_choice": "required", **said}


@pytest.mark.parametrize("switch", ["enable_thinking", "thinking_type"])
def test_an_effort_does_not_say_whether_to_think(switch: Any) -> None:
    document = {"tool_choice": "required", "reasoning_effort": "high"}
    assert disable_thinking(document, Profile(thinking_switch=switch))
    assert document["reasoning_effort"] == "high"


def test_a_model_that_always_thinks_gets_auto_and_the_named_tool() -> None:
    tools = [{"function": {"name": "e"}}, {"function": {"name": "f"}}]
    document = {"tool_choice": NAMED, "tools": tools}
    assert relax_choice(document).kind == "coerced"
    assert document == {"tool_choice": "auto", "tools": [tools[1]]}


async def test_a_generic_upstream_is_left_alone() -> None:
    upstream = Upstream()
    await ask(ThinkingAutoDisable(upstream), "/v1/chat/completions", {"tool_choice": "required"})
    assert upstream.document == {"tool_choice": "required"}
