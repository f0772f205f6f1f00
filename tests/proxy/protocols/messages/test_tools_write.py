"""Tools and the tool choice, as a Messages upstream takes them."""

from __future__ import annotations

from typing import Any

import pytest

from toolwire.config.profile import Profile
from toolwire.proxy.protocols.messages import CODEC
from toolwire.proxy.protocols.neutral import (
    Cache,
    Choice,
    CustomTool,
    FunctionTool,
    HostedTool,
    Losses,
    Request,
    Role,
    Text,
    Tool,
    Turn,
)

EMPTY = {"type": "object", "properties": {}}


def written(
    *tools: Tool, profile: Profile | None = None, **fields: Any
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """``tools`` and ``tool_choice``, and what was reported."""
    request = Request(model="m", protocol="chat", turns=[Turn(Role.USER, [Text("hi")])])
    request.max_tokens, request.tools = 9, list(tools)
    for name, value in fields.items():
        setattr(request, name, value)
    losses = Losses()
    document = CODEC.write_request(request, profile or Profile(), losses)
    chosen = {name: document[name] for name in ("tools", "tool_choice") if name in document}
    return chosen, [(loss.kind, loss.path) for loss in losses.entries]


def names(document: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in document["tools"]]


F, G = FunctionTool("f"), FunctionTool("g")


def test_a_function() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    tool = FunctionTool(
        "f",
        "d",
        schema,
        strict=False,
        cache=Cache({"type": "ephemeral"}),
        extra={"input_examples": [{"a": "x"}], "x": 1},
        at="tools[0]",
    )
    assert written(tool) == (
        {
            "tools": [
                {
                    "name": "f",
                    "description": "d",
                    "input_schema": schema,
                    "strict": False,
                    "cache_control": {"type": "ephemeral"},
                    "input_examples": [{"a": "x"}],
                }
            ]
        },
        [("dropped", "tools[0].x")],
    )


def test_a_function_without_anything() -> None:
    assert written(F) == ({"tools": [{"name": "f", "input_schema": EMPTY}]}, [])
    for schema, sent in (
        ({}, {"type": "object"}),
        ({"properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}}),
        ({"type": None, "x-y": 1}, {"type": "object", "x-y": 1}),
    ):
        document, _ = written(FunctionTool("f", schema=schema))
        assert document["tools"][0]["input_schema"] == sent


def test_strict_where_it_is_not_known() -> None:
    profile = Profile(strict=False)
    strict, loose = FunctionTool("f", strict=True, at="tools[0]"), FunctionTool("g", strict=False)
    document, losses = written(strict, loose, profile=profile)
    assert all("strict" not in tool for tool in document["tools"])
    assert losses == [("dropped", "tools[0].strict")]


def test_a_free_form_tool_is_a_function_of_one_string() -> None:
    document, losses = written(CustomTool("shell", "Runs it."))
    (tool,) = document["tools"]
    assert (tool["name"], tool["description"]) == ("shell", "Runs it.")
    assert tool["input_schema"]["required"] == ["input"]
    assert losses == []


def test_tools_that_other_vendors_run_are_reported() -> None:
    search = HostedTool("responses", {"type": "web_search"}, at="tools[1]")
    document, losses = written(F, search, parallel=False)
    assert names(document) == ["f"]
    assert losses == [("dropped", "tools[1]")]
    document, losses = written(search, choice=Choice("required"), parallel=False)
    assert document == {}
    assert losses == [("dropped", "tools[1]"), ("dropped", "tool_choice")]


def test_tools_that_it_runs_itself_pass_from_its_own_clients() -> None:
    value = {"type": "web_search_20250305", "name": "web_search"}
    document, losses = written(HostedTool("messages", value), protocol="messages")
    assert document == {"tools": [value]}
    assert losses == []


@pytest.mark.parametrize(
    ("choice", "parallel", "expected"),
    [
        (None, None, None),
        (None, True, None),
        (None, False, {"type": "auto", "disable_parallel_tool_use": True}),
        (Choice("auto"), None, {"type": "auto"}),
        (Choice("none"), None, {"type": "none"}),
        (Choice("none"), False, {"type": "none"}),
        (Choice("required"), True, {"type": "any"}),
        (Choice("required"), False, {"type": "any", "disable_parallel_tool_use": True}),
        (Choice("tool", name="g"), None, {"type": "tool", "name": "g"}),
        (
            Choice("tool", name="g"),
            False,
            {"type": "tool", "name": "g", "disable_parallel_tool_use": True},
        ),
    ],
)
def test_choice(
    choice: Choice | None, parallel: bool | None, expected: dict[str, Any] | None
) -> None:
    document, losses = written(F, G, choice=choice, parallel=parallel)
    assert document.get("tool_choice") == expected
    assert names(document) == ["f", "g"]
    assert losses == []


def test_a_choice_of_a_tool_that_is_not_there_is_reported() -> None:
    document, losses = written(F, choice=Choice("tool", name="web_search"))
    assert "tool_choice" not in document
    assert losses == [("dropped", "tool_choice")]


def test_allowed_tools_are_the_tools() -> None:
    document, losses = written(F, G, choice=Choice("required", allowed=["g", "gone"]))
    assert (names(document), document["tool_choice"]) == (["g"], {"type": "any"})
    assert losses == []
    document, losses = written(F, G, choice=Choice("auto", allowed=["gone"]))
    assert names(document) == ["f", "g"]
    assert losses == [("coerced", "tool_choice")]


def test_a_switch_that_the_upstream_lacks_is_reported() -> None:
    document, losses = written(F, parallel=False, profile=Profile(parallel_tool_calls=False))
    assert "tool_choice" not in document
    assert losses == [("dropped", "parallel_tool_calls")]
