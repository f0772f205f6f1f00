"""What Responses refuse, each with its parameter and code."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.proxy.demo.wire import SCHEMA, WEATHER
from toolwire.proxy.demo import create_demo

CLIENT = TestClient(create_demo())
TOOLS: list[Any] = [WEATHER["responses"]]
USER: dict[str, Any] = {"role": "user", "content": "hi"}
CALL: dict[str, Any] = {
    "type": "function_call",
    "call_id": "call_1",
    "name": "get_weather",
    "arguments": "{}",
}
OUTPUT: dict[str, Any] = {
    "type": "function_call_output",
    "call_id": "call_1",
    "output": "5 °C",
}
HELLO: dict[str, Any] = {"role": "assistant", "content": "hello"}


def part(kind: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": [{"type": kind, "text": "hi"}]}


def tool(**more: Any) -> dict[str, Any]:
    return {"type": "function", "name": "f", "parameters": SCHEMA, **more}


ACCEPTED: dict[str, dict[str, Any]] = {
    "a string": {"input": "hi"},
    "calls, then outputs": {
        "input": [USER, CALL, {**CALL, "call_id": "b"}, {**OUTPUT, "call_id": "b"}, OUTPUT]
    },
    "an output of parts": {
        "input": [USER, CALL, {**OUTPUT, "output": [{"type": "input_text", "text": "5"}]}]
    },
    "text between call and output": {"input": [USER, CALL, HELLO, OUTPUT]},
    "an assistant's own parts": {"input": [USER, part("output_text", "assistant"), USER]},
    "no tools in a list": {"input": "hi", "tools": [], "tool_choice": "auto"},
    "one at a time without tools": {"input": "hi", "parallel_tool_calls": False},
    "hosted items": {"input": [USER, {"type": "web_search_call", "id": "ws_1"}, HELLO, USER]},
    "a hosted choice": {
        "input": "hi",
        "tools": [{"type": "file_search"}],
        "tool_choice": {"type": "file_search"},
    },
    "what Codex adds": {"input": "hi", "client_metadata": {"session_id": "s"}},
    "json": {"input": "hi in json", "text": {"format": {"type": "json_object"}}},
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    answer = CLIENT.post("/v1/responses", json={"model": "demo", **ACCEPTED[name]})
    assert answer.status_code == 200, answer.text


REFUSED: list[tuple[dict[str, Any], str | None, str | None]] = [
    ({"model": None}, "model", "missing_required_parameter"),
    ({"input": None}, "input", "missing_required_parameter"),
    ({"input": 5}, "input", "invalid_type"),
    ({"input": ["hi"]}, "input[0]", "invalid_type"),
    ({"messages": [USER]}, "messages", "unknown_parameter"),
    ({"response_format": {"type": "text"}}, "response_format", "unknown_parameter"),
    ({"background": True}, "background", None),
    ({"conversation": "conv_1"}, "conversation", None),
    ({"previous_response_id": "resp_0"}, "previous_response_id", "previous_response_not_found"),
    ({"input": [{"type": "tool_use", "id": "x"}]}, "input[0].type", "invalid_value"),
    ({"input": [{"role": "tool", "content": "x"}]}, "input[0].role", "invalid_value"),
    ({"input": [{"role": "user"}]}, "input[0].content", "missing_required_parameter"),
    ({"input": [part("text")]}, "input[0].content[0]", "invalid_value"),
    ({"input": [USER, part("input_text", "assistant")]}, "input[1].content[0]", "invalid_value"),
    ({"input": [{**CALL, "id": "call_1"}, OUTPUT]}, "input[0].id", "invalid_value"),
    ({"input": [{**CALL, "arguments": {}}, OUTPUT]}, "input[0].arguments", "invalid_type"),
    (
        {"input": [{**CALL, "name": None}, OUTPUT]},
        "input[0].name",
        "missing_required_parameter",
    ),
    (
        {"input": [{**CALL, "call_id": "c" * 65}, {**OUTPUT, "call_id": "c" * 65}]},
        "input[0].call_id",
        "string_above_max_length",
    ),
    ({"input": [CALL, {**OUTPUT, "output": {}}]}, "input[1].output", "invalid_type"),
    (
        {"input": [CALL, {**OUTPUT, "output": [{"type": "text", "text": "5"}]}]},
        "input[1].output[0]",
        "invalid_value",
    ),
    ({"input": [USER, OUTPUT]}, "input", None),
    ({"input": [OUTPUT, CALL]}, "input", None),
    ({"input": [USER, CALL]}, "input", None),
    ({"input": [USER, CALL, {**OUTPUT, "type": "custom_tool_call_output"}]}, "input", None),
    (
        {"input": [USER, {"type": "reasoning", "summary": []}]},
        "input[1].id",
        "missing_required_parameter",
    ),
    ({"tools": [{"name": "f"}]}, "tools[0].type", "missing_required_parameter"),
    (
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        "tools[0].name",
        "missing_required_parameter",
    ),
    ({"tools": [tool(name="a b")]}, "tools[0].name", "invalid_value"),
    ({"tools": [tool(strict=True)]}, "tools[0].parameters", "invalid_function_parameters"),
    ({"tool_choice": "required"}, "tool_choice", None),
    ({"tools": TOOLS, "tool_choice": "any"}, "tool_choice", "invalid_value"),
    (
        {"tools": TOOLS, "tool_choice": {"type": "function", "name": "f"}},
        "tool_choice",
        None,
    ),
    (
        {"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "f"}}},
        "tool_choice",
        None,
    ),
    (
        {"tools": TOOLS, "tool_choice": {"type": "allowed_tools", "mode": "any", "tools": TOOLS}},
        "tool_choice.mode",
        "invalid_value",
    ),
    ({"max_output_tokens": 15}, "max_output_tokens", "integer_below_min_value"),
    ({"temperature": -0.5}, "temperature", "decimal_below_min_value"),
    (
        {"text": {"format": {"type": "json_schema", "json_schema": {"name": "n"}}}},
        "text.format.name",
        "missing_required_parameter",
    ),
    (
        {"text": {"format": {"type": "json_schema", "name": "n"}}},
        "text.format.schema",
        "missing_required_parameter",
    ),
    ({"text": {"format": {"type": "json_object"}}}, "input", None),
    ({"reasoning": {"effort": 5}}, "reasoning.effort", "invalid_type"),
    ({"store": "yes"}, "store", "invalid_type"),
]


@pytest.mark.parametrize(("change", "param", "code"), REFUSED)
def test_refused(change: dict[str, Any], param: str | None, code: str | None) -> None:
    answer = CLIENT.post("/v1/responses", json={"model": "demo", "input": [USER], **change})
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", param, code)


def test_the_pair_that_is_broken_is_named() -> None:
    asked = CLIENT.post("/v1/responses", json={"model": "demo", "input": [USER, CALL]})
    assert asked.json()["error"]["message"] == "No tool output found for function call call_1."
    given = CLIENT.post("/v1/responses", json={"model": "demo", "input": [USER, OUTPUT]})
    assert given.json()["error"]["message"] == (
        "No tool call found for function call output with call_id call_1."
    )


def test_thinking_without_what_it_led_to_is_refused() -> None:
    first = CLIENT.post(
        "/v1/responses", json={"model": "demo", "input": "hm", "reasoning": {"effort": "low"}}
    )
    thought = first.json()["output"][0]
    answer = CLIENT.post("/v1/responses", json={"model": "demo", "input": [USER, thought, USER]})
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == (
        f"Item '{thought['id']}' of type 'reasoning' was provided without its required following"
        " item."
    )
