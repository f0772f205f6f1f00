"""What a Messages client asks, in the neutral form."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from toolwire.proxy.protocols.messages import CODEC
from toolwire.proxy.protocols.neutral import (
    Cache,
    Choice,
    FunctionTool,
    HostedTool,
    Request,
    Role,
    Structured,
    Text,
    ThinkingRequest,
    Turn,
)

MARK = {"type": "ephemeral", "ttl": "1h"}


def read(**fields: Any) -> Request:
    return CODEC.read_request({"model": "m", "max_tokens": 9, "messages": [], **fields})


def test_a_request() -> None:
    request = read(
        system="Be brief.",
        messages=[
            {"role": "user", "content": "Oslo?"},
            {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]},
            {"role": "system", "content": "Now in Norwegian."},
        ],
        stop_sequences=["END"],
        temperature=Decimal("0.50"),
        top_p=1,
        stream=True,
        metadata={"user_id": "u", "team": "t"},
        top_k=40,
        anthropic_version="vertex-2023-10-16",
        container=None,
    )
    assert request == Request(
        model="m",
        protocol="messages",
        max_tokens=9,
        turns=[
            Turn(Role.SYSTEM, [Text("Be brief.", at="system")], at="system"),
            Turn(Role.USER, [Text("Oslo?", at="messages[0].content")], at="messages[0]"),
            Turn(Role.ASSISTANT, [Text("Yes.", at="messages[1].content[0]")], at="messages[1]"),
            Turn(
                Role.SYSTEM, [Text("Now in Norwegian.", at="messages[2].content")], at="messages[2]"
            ),
        ],
        stop=["END"],
        temperature=Decimal("0.50"),
        top_p=1,
        stream=True,
        user="u",
        extra={"top_k": 40, "metadata.team": "t"},
    )


def test_tools() -> None:
    hosted = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
    request = read(
        tools=[
            hosted,
            {
                "name": "f",
                "type": "custom",
                "description": "d",
                "input_schema": {"type": "object"},
                "strict": False,
                "cache_control": MARK,
                "defer_loading": True,
            },
            {"name": "g"},
        ]
    )
    assert request.tools == [
        HostedTool("messages", hosted, "tools[0]"),
        FunctionTool(
            "f",
            "d",
            {"type": "object"},
            strict=False,
            cache=Cache(MARK, "tools[1].cache_control"),
            extra={"defer_loading": True},
            at="tools[1]",
        ),
        FunctionTool("g", at="tools[2]"),
    ]


@pytest.mark.parametrize(
    ("fields", "choice", "parallel"),
    [
        ({"type": "auto"}, Choice("auto"), None),
        ({"type": "any", "disable_parallel_tool_use": True}, Choice("required"), False),
        ({"type": "none", "disable_parallel_tool_use": False}, Choice("none"), None),
        ({"type": "tool", "name": "f"}, Choice("tool", name="f"), None),
    ],
)
def test_choice(fields: dict[str, Any], choice: Choice, parallel: bool | None) -> None:
    request = read(tool_choice=fields)
    assert (request.choice, request.parallel) == (choice, parallel)


@pytest.mark.parametrize(
    ("fields", "wish"),
    [
        ({}, None),
        ({"thinking": {"type": "disabled"}}, ThinkingRequest(enabled=False, at="thinking")),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 2000}},
            ThinkingRequest(enabled=True, budget=2000, summary="auto", at="thinking"),
        ),
        (
            {
                "thinking": {"type": "adaptive", "display": "omitted"},
                "output_config": {"effort": "low"},
            },
            ThinkingRequest(enabled=True, adaptive=True, effort="low", at="thinking"),
        ),
        (
            {"output_config": {"effort": "max"}},
            ThinkingRequest(effort="max", at="output_config.effort"),
        ),
    ],
)
def test_thinking(fields: dict[str, Any], wish: ThinkingRequest | None) -> None:
    assert read(**fields).thinking == wish


def test_structured_output() -> None:
    wish = {"type": "json_schema", "schema": {"type": "object"}}
    known = Structured({"type": "object"}, at="output_config.format")
    request = read(output_config={"format": wish, "task_budget": {"total": 1}})
    assert request.structured == known
    assert request.extra == {"output_config.task_budget": {"total": 1}}
    known.at = "output_format"
    assert read(output_format=wish).structured == known
