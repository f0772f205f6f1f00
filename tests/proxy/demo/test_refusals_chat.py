"""What Chat Completions refuse, each with its parameter and code."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.proxy.demo.wire import SCHEMA, WEATHER
from toolwire.proxy.demo import create_demo

CLIENT = TestClient(create_demo())
USER: dict[str, Any] = {"role": "user", "content": "hi, json"}
TOOLS: list[Any] = [WEATHER["chat"]]


def call(call_id: str = "call_1", **function: Any) -> dict[str, Any]:
    inner = {"name": "get_weather", "arguments": "{}", **function}
    return {"id": call_id, "type": "function", "function": inner}


def calls(*made: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(made), **more}


def result(call_id: str = "call_1", content: Any = "5 °C") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def tool(**function: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", "parameters": SCHEMA, **function}}


def json_schema(**more: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA, **more}}


ACCEPTED: dict[str, dict[str, Any]] = {
    "reasoning_content in the history": {
        "messages": [USER, calls(call(), reasoning_content="hm"), result()]
    },
    "two results in any order": {
        "messages": [USER, calls(call("a"), call("b")), result("b"), result("a")]
    },
    "empty content beside calls": {"messages": [USER, calls(call(), content=[]), result()]},
    "no content beside calls": {
        "messages": [USER, {"role": "assistant", "tool_calls": [call()]}, result()]
    },
    "a result of text parts": {
        "messages": [USER, calls(call()), result(content=[{"type": "text", "text": "x"}])]
    },
    "an empty result": {"messages": [USER, calls(call()), result(content="")]},
    "a developer message": {"messages": [{"role": "developer", "content": "Be kind"}, USER]},
    "arguments that are no JSON": {"messages": [USER, calls(call(arguments="{")), result()]},
    "a tool without parameters": {
        "messages": [USER],
        "tools": [{"type": "function", "function": {"name": "f"}}],
    },
    "fields of other vendors": {"messages": [USER], "enable_thinking": True, "top_k": 5},
    "a strict tool": {
        "messages": [USER],
        "tools": [tool(strict=True, parameters={**SCHEMA, "additionalProperties": False})],
    },
    "json": {"messages": [USER], "response_format": {"type": "json_object"}},
    "nulls": {"messages": [USER], "tools": None, "tool_choice": None, "stop": None},
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    answer = CLIENT.post("/v1/chat/completions", json={"model": "demo", **ACCEPTED[name]})
    assert answer.status_code == 200, answer.text


REFUSED: list[tuple[dict[str, Any], str, str | None]] = [
    ({"model": None}, "model", "missing_required_parameter"),
    ({"messages": None}, "messages", "missing_required_parameter"),
    ({"messages": []}, "messages", "empty_array"),
    ({"messages": "hi"}, "messages", "invalid_type"),
    ({"messages": ["hi"]}, "messages[0]", "invalid_type"),
    ({"messages": [{"role": "human", "content": "hi"}]}, "messages[0].role", "invalid_value"),
    ({"messages": [{"role": "user"}]}, "messages[0].content", "missing_required_parameter"),
    ({"messages": [{"role": "user", "content": None}]}, "messages[0].content", None),
    ({"messages": [{"role": "assistant", "content": None}]}, "messages[0].content", None),
    ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content", "invalid_type"),
    ({"messages": [{"role": "user", "content": []}]}, "messages[0].content", "empty_array"),
    (
        {"messages": [{"role": "user", "content": [{"type": "input_text", "text": "x"}]}]},
        "messages[0].content[0].type",
        "invalid_value",
    ),
    (
        {
            "messages": [
                USER,
                calls(call()),
                result(content=[{"type": "image_url", "image_url": {"url": "data:,"}}]),
            ]
        },
        "messages[2].content[0].type",
        "invalid_value",
    ),
    ({"messages": [USER, calls()]}, "messages[1].tool_calls", "empty_array"),
    (
        {"messages": [USER, calls(call(arguments={})), result()]},
        "messages[1].tool_calls[0].function.arguments",
        "invalid_type",
    ),
    (
        {"messages": [USER, calls(call(arguments=None)), result()]},
        "messages[1].tool_calls[0].function.arguments",
        "missing_required_parameter",
    ),
    (
        {"messages": [USER, calls({**call(), "id": None}), result()]},
        "messages[1].tool_calls[0].id",
        "missing_required_parameter",
    ),
    (
        {"messages": [USER, calls(call("c" * 41)), result("c" * 41)]},
        "messages[1].tool_calls[0].id",
        "string_above_max_length",
    ),
    ({"messages": [USER, result()]}, "messages.[1].role", None),
    ({"messages": [USER, calls(call()), result("call_2")]}, "messages.[2].role", None),
    ({"messages": [USER, calls(call()), result(), result()]}, "messages.[3].role", None),
    ({"messages": [USER, calls(call()), USER, result()]}, "messages.[2].role", None),
    ({"messages": [USER, calls(call())]}, "messages.[2].role", None),
    ({"messages": [USER, calls(call("a"), call("b")), result("a")]}, "messages.[3].role", None),
    ({"tools": []}, "tools", "empty_array"),
    ({"tools": [{"type": "web_search"}]}, "tools[0].type", "invalid_value"),
    (
        {"tools": [{"type": "function", "name": "f"}]},
        "tools[0].function",
        "missing_required_parameter",
    ),
    ({"tools": [tool(name="a b")]}, "tools[0].function.name", "invalid_value"),
    ({"tools": [tool(name="f\n")]}, "tools[0].function.name", "invalid_value"),
    ({"tools": [tool(name="f" * 65)]}, "tools[0].function.name", "string_above_max_length"),
    (
        {"tools": [tool(parameters={"properties": {}})]},
        "tools[0].function.parameters",
        "invalid_function_parameters",
    ),
    (
        {"tools": [tool(parameters={"type": "object", "anyOf": []})]},
        "tools[0].function.parameters",
        "invalid_function_parameters",
    ),
    (
        {"tools": [tool(parameters={"type": "object", "required": "city"})]},
        "tools[0].function.parameters",
        "invalid_function_parameters",
    ),
    (
        {"tools": [tool(strict=True)]},
        "tools[0].function.parameters",
        "invalid_function_parameters",
    ),
    ({"functions": [{"name": "f"}]}, "functions", None),
    ({"tool_choice": "auto"}, "tool_choice", None),
    ({"tool_choice": "none"}, "tool_choice", None),
    ({"parallel_tool_calls": False}, "parallel_tool_calls", None),
    ({"tools": TOOLS, "tool_choice": "any"}, "tool_choice", "invalid_value"),
    (
        {"tools": TOOLS, "tool_choice": {"type": "function", "name": "get_weather"}},
        "tool_choice.function",
        "missing_required_parameter",
    ),
    (
        {"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "f"}}},
        "tool_choice",
        None,
    ),
    (
        {
            "tools": TOOLS,
            "tool_choice": {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [tool(name="other")]},
            },
        },
        "tool_choice",
        None,
    ),
    ({"max_tokens": 0}, "max_tokens", "integer_below_min_value"),
    ({"max_tokens": "5"}, "max_tokens", "invalid_type"),
    ({"max_tokens": True}, "max_tokens", "invalid_type"),
    ({"max_tokens": 5, "max_completion_tokens": 5}, "max_tokens", None),
    ({"temperature": 2.5}, "temperature", "decimal_above_max_value"),
    ({"top_p": -1}, "top_p", "decimal_below_min_value"),
    ({"stop": ["a", "b", "c", "d", "e"]}, "stop", "array_above_max_length"),
    ({"n": 2}, "n", None),
    ({"stream_options": {"include_usage": True}}, "stream_options", None),
    ({"stream": "yes"}, "stream", "invalid_type"),
    ({"response_format": {"type": "yaml"}}, "response_format.type", "invalid_value"),
    (
        {"response_format": {"type": "json_schema", "schema": SCHEMA}},
        "response_format.json_schema",
        "missing_required_parameter",
    ),
    (
        {"response_format": json_schema(name=None)},
        "response_format.json_schema.name",
        "missing_required_parameter",
    ),
    (
        {"response_format": json_schema(strict=True)},
        "response_format.json_schema",
        "invalid_json_schema",
    ),
    (
        {
            "messages": [{"role": "user", "content": "hi"}],
            "response_format": {"type": "json_object"},
        },
        "messages",
        None,
    ),
]


@pytest.mark.parametrize(("change", "param", "code"), REFUSED)
def test_refused(change: dict[str, Any], param: str, code: str | None) -> None:
    request = {"model": "demo", "messages": [USER], **change}
    answer = CLIENT.post("/v1/chat/completions", json=request)
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", param, code)
    assert answer.headers["x-request-id"].startswith("req_")


def test_the_unanswered_calls_are_named() -> None:
    request = {"model": "demo", "messages": [USER, calls(call("a"), call("b")), result("a")]}
    answer = CLIENT.post("/v1/chat/completions", json=request)
    assert answer.json()["error"]["message"].endswith("did not have response messages: b")
