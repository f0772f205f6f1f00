from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.proxy.protocols.responses.reading import read, read_item
from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols.neutral import (
    Call,
    Choice,
    CustomTool,
    FunctionTool,
    HostedTool,
    Opaque,
    Result,
    Structured,
    Text,
    ThinkingRequest,
)
from toolwire.proxy.protocols.responses import CODEC


class TestTools:
    def test_functions(self) -> None:
        schema = {"type": "object", "properties": {}}
        tool = {"type": "function", "name": "f", "description": "d", "parameters": schema}

        request = read(tools=[{**tool, "strict": True}, {**tool, "defer_loading": True}])

        assert request.tools == [
            FunctionTool("f", "d", schema, strict=True, at="tools[0]"),
            FunctionTool("f", "d", schema, extra={"defer_loading": True}, at="tools[1]"),
        ]

    def test_free_form_and_hosted(self) -> None:
        hosted = {"type": "web_search", "search_context_size": "low"}

        request = read(tools=[{"type": "custom", "name": "p", "format": {"type": "text"}}, hosted])

        assert request.tools == [
            CustomTool("p", format={"type": "text"}, at="tools[0]"),
            HostedTool("responses", hosted, at="tools[1]"),
        ]

    def test_tools_of_a_namespace_get_flat_names(self) -> None:
        group = {
            "type": "namespace",
            "name": "mcp__files",
            "description": "Files",
            "tools": [{"type": "function", "name": "read"}, {"type": "custom", "name": "patch"}],
        }
        call = {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}

        request = read(tools=[group], input=[{**call, "namespace": "mcp__files"}])

        assert request.tools == [
            FunctionTool("mcp__files__read", at="tools[0].tools[0]", namespace="mcp__files"),
            CustomTool("mcp__files__patch", at="tools[0].tools[1]", namespace="mcp__files"),
        ]
        assert request.turns[0].parts[0].name == "mcp__files__read"

    def test_items_bring_tools_along_once_each(self) -> None:
        tool = {"type": "function", "name": "f"}
        group = {"type": "namespace", "name": "files", "tools": [tool]}
        brought = {"type": "additional_tools", "role": "developer", "tools": [tool, group]}
        call = {"type": "function_call", "call_id": "c", "name": "f", "namespace": "files"}

        request = read(tools=[tool], input=[brought, brought, call])

        assert request.tools == [
            FunctionTool("f", at="tools[0]"),
            FunctionTool("files__f", at="input[0].tools[1].tools[0]", namespace="files"),
        ]
        assert request.turns[2].parts[0].name == "files__f"

    def test_a_tool_of_a_wrong_type_that_an_item_brings_is_told_by_its_path(self) -> None:
        with pytest.raises(InvalidRequest) as refused:
            read(input=[{"type": "additional_tools", "tools": [{"type": "function"}]}])

        assert refused.value.param == "input[0].tools[0].name"

    def test_the_search_that_the_client_runs_is_a_function(self) -> None:
        schema = {"type": "object", "properties": {"query": {"type": "string"}}}
        search = {"type": "tool_search", "execution": "client", "parameters": schema}
        hosted = {"type": "tool_search"}
        call = {"type": "tool_search_call", "call_id": "c", "arguments": {"query": "x"}}
        found = {"type": "tool_search_output", "call_id": "c"}
        tool = {"type": "function", "name": "f"}

        request = read(tools=[search, hosted], input=[call, {**found, "tools": [tool]}])

        assert request.tools == [
            FunctionTool("tool_search", schema=schema, at="tools[0]", search=True),
            HostedTool("responses", hosted, at="tools[1]"),
            FunctionTool("f", at="input[1].tools[0]"),
        ]
        assert request.turns[0].parts == [
            Call("c", "tool_search", '{"query":"x"}', at="input[0]"),
        ]
        text = "[These tools were found, and can be called from now on: f]"
        assert request.turns[1].parts == [
            Result("c", [Text(text, at="input[1]")], at="input[1]"),
        ]

    def test_a_search_that_found_nothing_says_so(self) -> None:
        part = read_item({"type": "tool_search_output", "call_id": "c", "tools": []}).parts[0]

        assert part == Result("c", [Text("[No tools were found.]", at="input[0]")], at="input[0]")

    def test_a_search_that_the_vendor_ran_is_his(self) -> None:
        item = {"type": "tool_search_call", "call_id": None, "execution": "server"}

        assert read_item(item).parts == [Opaque("responses", item, at="input[0]")]

    def test_a_call_in_an_unknown_namespace_keeps_its_name(self) -> None:
        call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}

        assert read_item({**call, "namespace": "f"}).parts[0].name == "f"

    @pytest.mark.parametrize(
        ("value", "choice"),
        [
            ("auto", Choice("auto")),
            ("none", Choice("none")),
            ("required", Choice("required")),
            ({"type": "function", "name": "f"}, Choice("tool", "f")),
            ({"type": "custom", "name": "p"}, Choice("tool", "p", custom=True)),
            (
                {
                    "type": "allowed_tools",
                    "mode": "required",
                    "tools": [{"type": "function", "name": "f"}, {"type": "image_generation"}],
                },
                Choice("required", allowed=["f"]),
            ),
        ],
    )
    def test_choice(self, value: Any, choice: Choice) -> None:
        assert read(tool_choice=value).choice == choice

    def test_a_choice_of_a_hosted_tool_is_kept_for_the_report(self) -> None:
        request = read(tool_choice={"type": "file_search"})

        assert request.choice is None
        assert request.extra == {"tool_choice": {"type": "file_search"}}


class TestFields:
    def test_limits_as_they_were_written(self) -> None:
        request = read(
            max_output_tokens=99,
            temperature=Decimal("0.70"),
            top_p=1,
            parallel_tool_calls=False,
            stream=True,
            user="u",
            store=False,
            previous_response_id="resp_1",
        )

        assert request.max_tokens == 99
        assert str(request.temperature) == "0.70"
        assert request.top_p == 1
        assert request.parallel is False
        assert request.stream is True
        assert (request.user, request.store) == ("u", False)
        assert request.previous_response_id == "resp_1"

    def test_structured_output(self) -> None:
        schema = {"type": "object"}
        form = {"type": "json_schema", "name": "city", "strict": True, "schema": schema}

        assert read(text={"format": form}).structured == Structured(
            schema, name="city", strict=True, at="text.format"
        )
        assert read(text={"format": {"type": "json_object"}}).structured == Structured(
            at="text.format"
        )
        assert read(text={"format": {"type": "text"}}).structured is None

    def test_reasoning(self) -> None:
        asked = read(
            reasoning={"effort": "high", "summary": "auto"}, include=["reasoning.encrypted_content"]
        )

        assert asked.thinking == ThinkingRequest(
            enabled=True, effort="high", summary="auto", include_encrypted=True, at="reasoning"
        )
        assert read(reasoning={"effort": "none"}).thinking.enabled is False
        assert read(reasoning={"summary": "auto"}).thinking.enabled is None
        assert read().thinking is None

    def test_the_rest_goes_by_its_own_name(self) -> None:
        request = read(
            metadata={"a": "b"},
            truncation="auto",
            text={"verbosity": "low"},
            reasoning={"effort": "low", "mode": "pro"},
            include=["web_search_call.results"],
            brand_new=1,
        )

        assert request.extra == {
            "metadata": {"a": "b"},
            "truncation": "auto",
            "text.verbosity": "low",
            "reasoning.mode": "pro",
            "include": ["web_search_call.results"],
            "brand_new": 1,
        }

    def test_defaults_are_no_wish(self) -> None:
        assert read(background=False, truncation="disabled", service_tier="auto").extra == {}

    def test_the_document_is_kept_for_the_echo(self) -> None:
        document = {"model": "m", "input": "hi"}

        assert CODEC.read_request(document).document is document
