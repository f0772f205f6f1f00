"""Whatever a request holds, it is answered or refused; it never breaks the demo.

Each value of a request that uses much of its protocol is replaced by junk, one at a time.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from tests.proxy.demo.wire import HEADERS
from toolwire.proxy.demo import dialects, seals
from toolwire.proxy.demo.documents import bytes_of
from toolwire.proxy.demo.exchange import complete
from toolwire.proxy.demo.refusals import Refusal
from toolwire.proxy.demo.responses.memory import ResponseMemory

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "enum": ["a"]},
        "n": {"type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 2},
        "l": {
            "type": "array",
            "items": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/x"}]},
            "minItems": 1,
        },
    },
    "required": ["city", "n", "l"],
    "additionalProperties": False,
    "$defs": {"x": {"allOf": [{"type": "string", "minLength": 2}], "examples": ["zz"]}},
}
FUNCTION = {"name": "f", "description": "d", "parameters": SCHEMA, "strict": False}
SEED = "ab" * 32
TEXT = {"type": "text", "text": "hi json"}
WHOLE: dict[str, dict[str, Any]] = {
    "chat": {
        "model": "demo",
        "messages": [
            {"role": "system", "content": "s"},
            {
                "role": "user",
                "content": [TEXT, {"type": "image_url", "image_url": {"url": "data:,"}}],
            },
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                    {"id": "2", "type": "custom", "custom": {"name": "g", "input": "x"}},
                ],
            },
            {"role": "tool", "tool_call_id": "1", "content": "r"},
            {"role": "tool", "tool_call_id": "2", "content": [TEXT]},
        ],
        "tools": [
            {"type": "function", "function": FUNCTION},
            {"type": "custom", "custom": {"name": "g"}},
        ],
        "tool_choice": {
            "type": "allowed_tools",
            "allowed_tools": {
                "mode": "required",
                "tools": [{"type": "function", "function": {"name": "f"}}],
            },
        },
        "parallel_tool_calls": True,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "n", "schema": SCHEMA, "strict": False},
        },
        "stop": ["x"],
        "max_tokens": 100,
        "temperature": 1,
        "stream": True,
        "stream_options": {"include_usage": True},
        "reasoning_effort": "low",
        "thinking": {"type": "enabled"},
        "reasoning": {"effort": "low"},
    },
    "messages": {
        "model": "demo",
        "max_tokens": 3000,
        "system": [{**TEXT, "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": "hi"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "t", "signature": seals.sign("t", SEED)},
                    TEXT,
                    {"type": "tool_use", "id": "a", "name": "f", "input": {"a": 1}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "a",
                        "content": [TEXT, {"type": "image", "source": {"type": "url", "url": "x"}}],
                        "is_error": True,
                    },
                    TEXT,
                ],
            },
            {"role": "system", "content": "more"},
        ],
        "tools": [
            {"name": "f", "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}},
            {"type": "web_search_20250305", "name": "web_search"},
        ],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
        "thinking": {"type": "enabled", "budget_tokens": 1024, "display": "omitted"},
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
        "stop_sequences": ["x"],
        "stream": True,
    },
    "responses": {
        "model": "demo",
        "instructions": "i",
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "hi"},
                    {"type": "input_image", "image_url": "x"},
                ],
            },
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "t"}],
                "encrypted_content": seals.encrypt("t", SEED),
            },
            {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "f", "arguments": "{}"},
            {"type": "custom_tool_call", "call_id": "b", "name": "g", "input": "x"},
            {
                "type": "function_call_output",
                "call_id": "a",
                "output": [{"type": "input_text", "text": "r"}],
            },
            {"type": "custom_tool_call_output", "call_id": "b", "output": "z"},
        ],
        "tools": [
            {"type": "function", **FUNCTION},
            {"type": "custom", "name": "g", "format": {"type": "text"}},
            {"type": "web_search"},
        ],
        "tool_choice": {
            "type": "allowed_tools",
            "mode": "required",
            "tools": [{"type": "function", "name": "f"}, {"type": "custom", "name": "g"}],
        },
        "text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}},
        "reasoning": {"effort": "low", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 200,
        "stream": True,
        "store": True,
    },
}
DELETED = object()
JUNK: list[Any] = [DELETED, None, 0, -1, 1.5, 10**30, True, "", "x", [], [[]], [None], {}]
JUNK += [{"type": {}}, {"type": []}, {"type": "text"}, [{"type": "function"}]]
DIALECTS = {
    "chat": dialects.CHAT,
    "messages": dialects.MESSAGES,
    "responses": dialects.responses(ResponseMemory(2)),
}


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values in a document but the document itself."""
    inner: Any = ()
    if isinstance(document, dict):
        inner = document.items()
    elif isinstance(document, list):
        inner = enumerate(document)
    for key, value in inner:
        yield (*path, key)
        yield from places(value, (*path, key))


def replaced(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(document)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    if value is DELETED:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return changed


@pytest.mark.parametrize("protocol", WHOLE)
def test_the_whole_request_is_answered(protocol: str) -> None:
    raw = bytes_of(WHOLE[protocol])
    assert complete(raw, HEADERS, DIALECTS[protocol], 0).status_code == 200


@pytest.mark.parametrize("protocol", WHOLE)
def test_junk_is_answered_or_refused(protocol: str) -> None:
    refused = 0
    for path in places(WHOLE[protocol]):
        for junk in JUNK:
            raw = bytes_of(replaced(WHOLE[protocol], path, junk))
            try:
                complete(raw, HEADERS, DIALECTS[protocol], 0)
            except Refusal as refusal:
                assert refusal.status in (400, 404)
                assert refusal.message
                refused += 1
            except Exception as error:
                error.add_note(f"with {junk!r} at {path}")
                raise
    assert refused > 1000
