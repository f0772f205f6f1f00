"""What Messages refuse, each with the vendor's message."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.proxy.demo.wire import HEADERS, SCHEMA, WEATHER
from toolwire.proxy.demo import create_demo

CLIENT = TestClient(create_demo(), headers=HEADERS)
TOOLS: list[Any] = [WEATHER["messages"]]
USER: dict[str, Any] = {"role": "user", "content": "hi"}
ENABLED = {"type": "enabled", "budget_tokens": 1024}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def use(use_id: str = "toolu_1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": use_id, "name": "get_weather", "input": {}, **more}


def result(use_id: str = "toolu_1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": use_id, **more}


def text(words: str = "and now?", **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def tool(**more: Any) -> dict[str, Any]:
    return {"name": "f", "input_schema": SCHEMA, **more}


ACCEPTED: dict[str, dict[str, Any]] = {
    "results first, then text": {"messages": [USER, assistant(use()), user(result(), text())]},
    "results in two messages": {
        "messages": [USER, assistant(use("a"), use("b")), user(result("b")), user(result("a"))]
    },
    "a result without content": {"messages": [USER, assistant(use()), user(result())]},
    "assistant messages in a row": {
        "messages": [USER, assistant(text("One.")), assistant(text("Two.")), USER]
    },
    "a system message within": {"messages": [USER, {"role": "system", "content": "Be kind"}]},
    "system blocks": {"system": [text("Be kind", cache_control={"type": "ephemeral"})]},
    "a server tool": {"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
    "no tools in a list": {"tools": []},
    "four cache marks": {
        "messages": [user(*[text(cache_control={"type": "ephemeral"}) for _ in range(4)])]
    },
    "a long name": {"tools": [tool(name="f" * 128)]},
    "adaptive thinking after a turn without": {
        "thinking": {"type": "adaptive"},
        "messages": [USER, assistant(use()), user(result())],
    },
    "betas": {"context_management": {"edits": []}, "mcp_servers": []},
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    request = {"model": "demo", "max_tokens": 2000, "messages": [USER], **ACCEPTED[name]}
    answer = CLIENT.post("/v1/messages", json=request)
    assert answer.status_code == 200, answer.text


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"model": None}, "model: Field required"),
    ({"max_tokens": None}, "max_tokens: Field required"),
    ({"max_tokens": -1}, "max_tokens: Input should be greater than or equal to 0"),
    ({"max_tokens": "9"}, "max_tokens: Input should be a valid integer"),
    ({"messages": None}, "messages: Field required"),
    ({"messages": []}, "messages: at least one message is required"),
    ({"messages": ["hi"]}, "messages.0: Input should be a valid dictionary"),
    ({"messages": [{"role": "tool", "content": "hi"}]}, "messages.0.role: Input should be one of"),
    ({"messages": [{**USER, "name": "Ann"}]}, "messages.0.name: Extra inputs are not permitted"),
    ({"messages": [{"role": "system", "content": "Be kind"}]}, 'must use the "user" role'),
    ({"messages": [user()]}, "messages.0: user messages must have non-empty content"),
    ({"messages": [{"role": "user", "content": ""}]}, "must have non-empty content"),
    ({"messages": [user(text(""))]}, "text content blocks must be non-empty"),
    ({"messages": [user(text(" \n"))]}, "text content blocks must contain non-whitespace text"),
    (
        {"messages": [USER, assistant(use()), user(result(content=[text("")]))]},
        "text content blocks must be non-empty",
    ),
    ({"messages": [USER, assistant(text())]}, "does not support assistant message prefill"),
    (
        {"messages": [USER, assistant(use("call.1")), user(result("call.1"))]},
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ),
    (
        {"messages": [USER, assistant(use("")), user(result(""))]},
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ),
    (
        {"messages": [USER, assistant(use(input="{}")), user(result())]},
        "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
    ),
    (
        {"messages": [USER, assistant(use(index=0)), user(result())]},
        "messages.1.content.0.tool_use.index: Extra inputs are not permitted",
    ),
    (
        {"messages": [USER, assistant(use("a"), use("b")), user(result("a"))]},
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b.",
    ),
    (
        {"messages": [USER, assistant(use()), USER, user(result())]},
        "messages.1: `tool_use` ids were found without `tool_result` blocks",
    ),
    (
        {"messages": [USER, assistant(use()), user(text(), result())]},
        "messages.1: `tool_use` ids were found without `tool_result` blocks",
    ),
    (
        {"messages": [user(result())]},
        "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1.",
    ),
    (
        {"messages": [USER, assistant(use()), user(result(), result())]},
        "each tool_use must have a single result",
    ),
    (
        {"messages": [USER, assistant(use(), use()), user(result())]},
        "`tool_use` ids must be unique",
    ),
    ({"messages": [user(use())]}, "`tool_use` blocks can only be in `assistant` messages"),
    (
        {"messages": [USER, assistant({"type": "thinking", "thinking": "hm"}), USER]},
        "messages.1.content.0.thinking.signature: Field required",
    ),
    (
        {
            "messages": [
                USER,
                assistant({"type": "thinking", "thinking": "", "signature": ""}),
                USER,
            ]
        },
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    (
        {"messages": [USER, assistant({"type": "redacted_thinking", "data": "AAAA"}), USER]},
        "messages.1.content.0: Invalid `data` in `redacted_thinking` block",
    ),
    (
        {"thinking": ENABLED, "messages": [USER, assistant(use()), user(result())]},
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_u",
    ),
    ({"thinking": {"type": "on"}}, "thinking.type: Input should be one of"),
    ({"thinking": {"type": "enabled"}}, "thinking.enabled.budget_tokens: Field required"),
    (
        {"thinking": {"type": "enabled", "budget_tokens": 1000}},
        "budget_tokens: Input should be greater than or equal to 1024",
    ),
    (
        {"thinking": {"type": "enabled", "budget_tokens": 2000}},
        "`max_tokens` must be greater than `thinking.budget_tokens`",
    ),
    ({"thinking": ENABLED, "temperature": 0.5}, "`temperature` may only be set to 1"),
    ({"thinking": ENABLED, "top_k": 5}, "`top_k` must be unset"),
    (
        {"thinking": ENABLED, "tools": TOOLS, "tool_choice": {"type": "any"}},
        "Thinking may not be enabled when tool_choice forces tool use.",
    ),
    ({"temperature": 1.5}, "temperature: range: 0..1"),
    ({"stop_sequences": [" "]}, "each stop sequence must contain non-whitespace"),
    ({"tool_choice": {"type": "auto"}}, "may only be specified while providing tools"),
    ({"tools": TOOLS, "tool_choice": {"type": "required"}}, "tool_choice.type: Input should be"),
    ({"tools": TOOLS, "tool_choice": "auto"}, "tool_choice: Input should be a valid dictionary"),
    (
        {"tools": TOOLS, "tool_choice": {"type": "tool", "name": "f"}},
        "Tool 'f' not found in provided tools",
    ),
    ({"tools": TOOLS, "tool_choice": {"type": "tool"}}, "tool_choice.tool.name: Field required"),
    (
        {"tools": TOOLS, "tool_choice": {"type": "none", "disable_parallel_tool_use": True}},
        "tool_choice.none.disable_parallel_tool_use: Extra inputs are not permitted",
    ),
    (
        {"tools": [tool(name="a.b")]},
        "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ),
    ({"tools": [tool(name="f" * 129)]}, "tools.0.custom.name: String should match pattern"),
    ({"tools": [tool(), tool()]}, "Tool names must be unique"),
    ({"tools": [{"name": "f"}]}, "tools.0.custom.input_schema: Field required"),
    (
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        "tools.0.name: Field required",
    ),
    ({"tools": [tool(parameters={})]}, "tools.0.custom.parameters: Extra inputs are not permitted"),
    (
        {"tools": [tool(input_schema={"properties": {}})]},
        "tools.0.custom.input_schema.type: Input should be 'object'",
    ),
    (
        {"tools": [tool(input_schema={"type": "object", "oneOf": []})]},
        "does not support oneOf, allOf, or anyOf at the top level",
    ),
    (
        {"tools": [tool(input_schema={"type": "object", "properties": []})]},
        "tools.0.custom.input_schema: JSON schema is invalid. #/properties: an array",
    ),
    ({"system": [text("")]}, "text content blocks must be non-empty"),
    ({"system": 5}, "system: Input should be a valid string or list"),
    (
        {"messages": [user(*[text(cache_control={"type": "ephemeral"}) for _ in range(5)])]},
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    ({"parallel_tool_calls": False}, "parallel_tool_calls: Extra inputs are not permitted"),
    ({"output_config": {"format": {"type": "json_schema"}}}, "output_config.format.schema: Field"),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_refused(change: dict[str, Any], message: str) -> None:
    request = {"model": "demo", "max_tokens": 2000, "messages": [USER], **change}
    answer = CLIENT.post("/v1/messages", json=request)
    assert answer.status_code == 400, answer.text
    body = answer.json()
    assert (body["type"], body["error"]["type"]) == ("error", "invalid_request_error")
    assert message in body["error"]["message"]
    assert body["request_id"] == answer.headers["request-id"]


def test_a_version_has_to_be_named() -> None:
    request = {"model": "demo", "max_tokens": 9, "messages": [USER]}
    answer = TestClient(create_demo()).post("/v1/messages", json=request)
    assert answer.json()["error"]["message"] == "anthropic-version: header is required"


def test_threads_are_refused_in_the_words_that_clients_understand() -> None:
    request = {"model": "demo", "max_tokens": 9, "messages": [USER], "thread": {"type": "create"}}
    error = CLIENT.post("/v1/messages", json=request).json()["error"]
    assert error["details"] == {"error_code": "thread_unsupported_request"}
