from __future__ import annotations

from typing import Any

import pytest

from tests.proxy.protocols.responses.writing import OBJECT, write
from toolwire.proxy.protocols.neutral import (
    Cache,
    Choice,
    CustomTool,
    FunctionTool,
    HostedTool,
    Protocol,
)


class TestTools:
    def test_strict_stays_off_unless_it_was_asked_for(self) -> None:
        document, _ = write(tools=[FunctionTool("a", "d", OBJECT), FunctionTool("b", strict=True)])

        assert document["tools"] == [
            {
                "type": "function",
                "name": "a",
                "description": "d",
                "parameters": OBJECT,
                "strict": False,
            },
            {"type": "function", "name": "b", "parameters": OBJECT, "strict": True},
        ]

    def test_an_upstream_that_does_not_know_strict(self) -> None:
        document, losses = write(
            tools=[FunctionTool("a"), FunctionTool("b", strict=True, at="tools[1]")],
            profile={"strict": False},
        )

        assert ["strict" in tool for tool in document["tools"]] == [False, False]
        assert losses == [("tools[1].strict", "dropped")]

    @pytest.mark.parametrize(
        ("schema", "sent"),
        [
            (None, OBJECT),
            ({"type": "object"}, OBJECT),
            ({"properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}}),
            ({"type": "array"}, {"type": "array"}),
        ],
    )
    def test_schemas(self, schema: dict[str, Any] | None, sent: dict[str, Any]) -> None:
        document, _ = write(tools=[FunctionTool("a", schema=schema)])

        assert document["tools"][0]["parameters"] == sent

    def test_free_form_and_hosted_tools(self) -> None:
        document, losses = write(
            tools=[
                CustomTool("patch", "d", {"type": "text"}),
                HostedTool("responses", {"type": "web_search"}),
                HostedTool("messages", {"type": "bash_20250124"}, at="tools[2]"),
            ]
        )

        assert document["tools"] == [
            {"type": "custom", "name": "patch", "description": "d", "format": {"type": "text"}},
            {"type": "web_search"},
        ]
        assert losses == [("tools[2]", "dropped")]

    def test_fields_of_tools_that_only_another_protocol_has(self) -> None:
        mark = Cache({"type": "ephemeral"}, at="tools[0].cache_control")
        tool = FunctionTool(
            "a", cache=mark, extra={"input_examples": [{}], "eager": False}, at="tools[0]"
        )

        _, losses = write(tools=[tool], client="messages")

        assert losses == [
            ("tools[0].cache_control", "dropped"),
            ("tools[0].input_examples", "dropped"),
        ]

    @pytest.mark.parametrize(
        ("choice", "written"),
        [
            (Choice("auto"), "auto"),
            (Choice("none"), "none"),
            (Choice("required"), "required"),
            (Choice("tool", "a"), {"type": "function", "name": "a"}),
            (Choice("tool", "patch"), {"type": "custom", "name": "patch"}),
            (
                Choice("required", allowed=["a", "patch"]),
                {
                    "type": "allowed_tools",
                    "mode": "required",
                    "tools": [
                        {"type": "function", "name": "a"},
                        {"type": "custom", "name": "patch"},
                    ],
                },
            ),
        ],
    )
    def test_choice(self, choice: Choice, written: Any) -> None:
        document, _ = write(tools=[FunctionTool("a"), CustomTool("patch")], choice=choice)

        assert document["tool_choice"] == written

    def test_without_tools_neither_choice_nor_switch(self) -> None:
        document, _ = write(choice=Choice("required"), parallel=False)

        assert document.keys() == {"model", "input", "store"}

    @pytest.mark.parametrize(
        ("client", "path"),
        [
            ("chat", "parallel_tool_calls"),
            ("messages", "tool_choice.disable_parallel_tool_use"),
        ],
    )
    def test_one_call_at_a_time(self, client: Protocol, path: str) -> None:
        tools = [FunctionTool("a")]

        known, _ = write(tools=tools, parallel=False, client=client)
        unknown, losses = write(
            tools=tools, parallel=False, client=client, profile={"parallel_tool_calls": False}
        )

        assert known["parallel_tool_calls"] is False
        assert "parallel_tool_calls" not in unknown
        assert losses == [(path, "dropped")]

    @pytest.mark.parametrize("choice", [Choice("required"), Choice("tool", "f")])
    def test_a_forced_choice_without_tools_is_reported(self, choice: Choice) -> None:
        document, losses = write(choice=choice)

        assert "tool_choice" not in document
        assert losses == [("tool_choice", "dropped")]

    def test_a_choice_of_a_tool_that_is_not_there_is_reported(self) -> None:
        document, losses = write(tools=[FunctionTool("f")], choice=Choice("tool", "g"))

        assert "tool_choice" not in document
        assert losses == [("tool_choice", "dropped")]

    def test_no_call_at_all_needs_no_switch(self) -> None:
        document, losses = write(tools=[FunctionTool("f")], choice=Choice("none"), parallel=False)

        assert document["tool_choice"] == "none"
        assert "parallel_tool_calls" not in document and losses == []
