"""What each event of a stream is, in a few words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.proxy.explain.streams import CALLS, call, chunk
from toolwire.proxy.explain.labels import label
from toolwire.proxy.protocols.sse import DONE, Event


@pytest.mark.parametrize(
    ("document", "text"),
    [
        (CALLS[0], "chunk, role assistant"),
        (CALLS[1], 'chunk, reasoning_content "Hm"'),
        (CALLS[2], "chunk, tool_calls[0] get call_a"),
        (CALLS[4], 'chunk, tool_calls[0].arguments "{\\"a\\""'),
        (CALLS[7], "chunk, finish_reason tool_calls"),
        (CALLS[8], "chunk, usage"),
        (chunk({"content": "x" * 30}), f'chunk, content "{"x" * 23}…"'),
        (chunk({"content": [{"type": "text"}]}), "chunk, content"),
        (chunk(call(0, {"a": 1})), 'chunk, tool_calls[0].arguments "{\\"a\\":1}"'),  # type: ignore[arg-type]
        ({"error": {"message": "too bad"}}, 'error "too bad"'),
        ({"choices": [3, {"index": 1, "delta": None}]}, "chunk, choice 1"),
        ({"choices": None}, "chunk"),
    ],
)
def test_a_chat_chunk_in_a_few_words(document: dict[str, Any], text: str) -> None:
    assert label("chat", Event(json.dumps(document).encode())).text == text


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"type": "message_start", "message": {"id": "x"}}, "message_start"),
        (
            {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use",
             "id": "t", "name": "get", "input": {}}},
            'content_block_start[1] tool_use "get"',
        ),
        (
            {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta",
             "partial_json": '{"a"'}},
            'content_block_delta[1] input_json_delta "{\\"a\\""',
        ),
        (
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
            'message_delta "end_turn"',
        ),
        ({"type": "error", "error": {"type": "api_error", "message": "bad"}},
         'error api_error "bad"'),
        (
            {"type": "response.output_item.added", "output_index": 0,
             "item": {"type": "function_call", "name": "get", "arguments": ""}},
            'response.output_item.added[0] function_call "get"',
        ),
        (
            {"type": "response.output_text.delta", "output_index": 2, "delta": "Hi"},
            'response.output_text.delta[2] "Hi"',
        ),
        ({"type": "response.completed", "response": {"status": "completed"}},
         'response.completed "completed"'),
        ({"type": 3}, "3"),
        ({}, "no type"),
    ],
)  # fmt: skip
def test_an_event_with_a_type_in_a_few_words(document: dict[str, Any], text: str) -> None:
    assert label("messages", Event(json.dumps(document).encode())).text == text


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (Event(None), "comment"),
        (Event(DONE), "[DONE]"),
        (Event(b"[1]"), 'no JSON "[1]"'),
        (Event(b"\xff{"), 'no JSON "\ufffd{"'),
    ],
)
def test_what_is_no_event_of_a_protocol_is_named_too(event: Event, text: str) -> None:
    assert label("chat", event).text == text
