from __future__ import annotations

from typing import Any

import pytest

from tests.proxy.protocols.responses.reading import read
from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols.responses import CODEC

WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"model": 1}, "model", "must be a string, not an integer"),
    ({"model": None}, "model", "must be a string, not null"),
    ({"input": 5}, "input", "must be a string or an array of items, not an integer"),
    ({"input": ["x"]}, "input[0]", "must be an object, not a string"),
    ({"input": [{}]}, "input[0].type", "is missing"),
    ({"input": [{"type": 5}]}, "input[0].type", "must be a string, not an integer"),
    ({"input": [{"role": "tool", "content": "x"}]}, "input[0].role", "must be one of"),
    ({"input": [{"role": "user"}]}, "input[0].content", "is missing"),
    (
        {"input": [{"role": "user", "content": [{"type": "input_text", "text": None}]}]},
        "input[0].content[0].text",
        "must be a string, not null",
    ),
    (
        {"input": [{"role": "user", "content": [{"type": "input_image"}]}]},
        "input[0].content[0]",
        "must have an image_url or a file_id",
    ),
    (
        {"input": [{"type": "function_call", "call_id": 7, "name": "f", "arguments": ""}]},
        "input[0].call_id",
        "must be a string, not an integer",
    ),
    (
        {"input": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": {}}]},
        "input[0].arguments",
        "must be a string, not an object",
    ),
    (
        {"input": [{"type": "function_call_output", "call_id": "c", "output": 1}]},
        "input[0].output",
        "must be a string or an array of parts",
    ),
    (
        {"input": [{"type": "reasoning", "summary": [{"text": 1}]}]},
        "input[0].summary[0].text",
        "must be a string",
    ),
    ({"tools": {}}, "tools", "must be an array, not an object"),
    ({"tools": [{"type": "function"}]}, "tools[0].name", "is missing"),
    (
        {"tools": [{"type": "function", "name": "f", "parameters": []}]},
        "tools[0].parameters",
        "must be an object, not an array",
    ),
    (
        {"tools": [{"type": "namespace", "name": "n", "tools": [{"type": "function"}]}]},
        "tools[0].tools[0].name",
        "is missing",
    ),
    ({"tool_choice": "always"}, "tool_choice", "must be one of auto, none, required"),
    ({"tool_choice": 1}, "tool_choice", "must be a string or an object"),
    ({"tool_choice": {"type": "function"}}, "tool_choice.name", "is missing"),
    ({"max_output_tokens": "9"}, "max_output_tokens", "must be an integer, not a string"),
    ({"max_output_tokens": True}, "max_output_tokens", "must be an integer, not a boolean"),
    ({"temperature": "1"}, "temperature", "must be a number, not a string"),
    ({"stream": "yes"}, "stream", "must be a boolean, not a string"),
    ({"reasoning": {"effort": 3}}, "reasoning.effort", "must be a string, not an integer"),
    ({"text": {"format": {"type": "json_schema"}}}, "text.format.schema", "is missing"),
    ({"include": "all"}, "include", "must be an array of strings"),
    ({"instructions": ["x"]}, "instructions", "must be a string, not an array"),
    ({"conversation": "conv_1"}, "conversation", "is not held by this upstream"),
    ({"conversation": {"id": "conv_1"}}, "conversation", "is not held by this upstream"),
    ({"prompt": {"id": "pmpt_1"}}, "prompt", "is not held by this upstream"),
]


@pytest.mark.parametrize(("fields", "path", "message"), WRONG, ids=lambda value: str(value)[:40])
def test_a_wrong_type_is_told_with_its_path(
    fields: dict[str, Any], path: str, message: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read(**fields)

    assert caught.value.param == path
    assert caught.value.message.startswith(path)
    assert message in caught.value.message


def test_without_input_there_must_be_something_instead() -> None:
    with pytest.raises(InvalidRequest, match="input is missing"):
        CODEC.read_request({"model": "m"})

    assert CODEC.read_request({"model": "m", "previous_response_id": "resp_1"}).turns == []
