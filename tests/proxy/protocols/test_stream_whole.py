"""Whole answers as streams and back, on the wire: every field stays."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.altered import altered
from toolwire.proxy.errors import BadUpstreamAnswer, UpstreamCut
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.registry import CODECS
from toolwire.proxy.protocols.sse import Event

CHAT: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "provider": "unknown here",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "Hi",
                "refusal": None,
                "reasoning": "hm",
                "reasoning_details": [
                    {"type": "reasoning.text", "text": "hm", "format": "f", "index": 0}
                ],
                "annotations": [{"type": "url_citation"}],
                "tool_calls": [
                    {
                        "id": f"call_{name}",
                        "type": "function",
                        "function": {"name": name, "arguments": '{"n":12345678901234567890}'},
                    }
                    for name in ("f", "g")
                ],
            },
            "logprobs": {"content": [{"token": "Hi", "logprob": -1}], "refusal": None},
            "finish_reason": "tool_calls",
            "stop_reason": None,
        },
        {
            "index": 1,
            "message": {"role": "assistant", "content": "Ho", "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        },
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5, "unknown": 1},
    "system_fingerprint": None,
}
MESSAGES: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "redacted_thinking", "data": "c2Vj"},
        {"type": "text", "text": "Hi", "citations": [{"type": "char_location", "cited_text": "H"}]},
        {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"a": 1}]},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"n": 12345678901234567890}},
        {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}, "caller": {"type": "x"}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "container": {"id": "c"},
    "context_management": {"applied_edits": []},
    "usage": {"input_tokens": 3, "output_tokens": 2, "cache_read_input_tokens": 7, "unknown": 1},
    "unknown": True,
}
RESPONSES: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "status": "completed",
    "model": "m",
    "output": [
        {
            "id": "rs_1",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "hm"}],
            "encrypted_content": "c2Vj",
        },
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Hi", "annotations": [{"type": "x"}]}],
        },
        {
            "id": "fc_1",
            "type": "function_call",
            "call_id": "call_1",
            "name": "f",
            "arguments": '{"a": 1}',
            "status": "completed",
        },
        {"id": "ws_1", "type": "web_search_call", "status": "completed"},
    ],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "error": None,
    "incomplete_details": None,
    "usage": None,
    "unknown": {"kept": 1},
}
ANSWERS = {"chat": CHAT, "messages": MESSAGES, "responses": RESPONSES}
WITH_COUNTS = {"stream": True, "stream_options": {"include_usage": True}}


@pytest.mark.parametrize("protocol", ANSWERS)
def test_there_and_back(protocol: str) -> None:
    codec, answer = CODECS[protocol], ANSWERS[protocol]
    told = codec.spelled_out(copy.deepcopy(answer), WITH_COUNTS)
    repair = codec.stream_repair()
    # nothing is wrong with it
    assert all(left is right for left, right in zip(repair.feed(told), told, strict=True))
    assert repair.close() == []
    assert repair.repairs == {}
    assert codec.collected(told) == answer


@pytest.mark.parametrize("protocol", ANSWERS)
def test_the_stream_means_what_the_answer_means(protocol: str) -> None:
    codec = CODECS[protocol]
    document = copy.deepcopy(ANSWERS[protocol])
    collected = codec.collected(codec.spelled_out(document, None))
    assert codec.read_answer(collected) == codec.read_answer(copy.deepcopy(ANSWERS[protocol]))


@pytest.mark.parametrize(
    ("request_", "told"), [(None, True), ({"stream": True}, False), (WITH_COUNTS, True)]
)
def test_counts_of_chat_are_for_clients_that_asked(request_: Any, told: bool) -> None:
    events = CODECS["chat"].spelled_out(copy.deepcopy(CHAT), request_)
    assert (json.decode(events[-2].data or b"")["choices"] == []) is told
    assert events[-1].data == b"[DONE]"


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_a_response_that_is_not_over_has_no_stream(status: str) -> None:
    assert CODECS["responses"].spelled_out({**RESPONSES, "status": status}) == []


@pytest.mark.parametrize("protocol", ANSWERS)
def test_a_stream_that_broke_off_is_no_answer(protocol: str) -> None:
    codec = CODECS[protocol]
    first = codec.spelled_out(copy.deepcopy(ANSWERS[protocol]), None)[:1]
    with pytest.raises(UpstreamCut, match="broke off"):
        codec.collected(first)


def test_pieces_are_put_together() -> None:
    def chunk(delta: dict[str, Any], **fields: Any) -> Event:
        choice = {"index": 0, "delta": delta, "finish_reason": None, **fields}
        envelope = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return Event(json.encode({**envelope, "choices": [choice]}))

    def call(index: int, kind: str | None, **function: Any) -> dict[str, Any]:
        head = {"id": f"call_{index}", "type": kind} if "name" in function else {"type": kind}
        return {"tool_calls": [{"index": index, **head, "function": function}]}

    collected = CODECS["chat"].collected(
        [
            chunk({"role": "assistant", "content": None, "odd": [1]}, logprobs=None),
            chunk({"content": "a", "odd": [2]}, logprobs={"content": [1]}),
            chunk({"content": "b"}, logprobs={"content": [2]}),
            chunk(call(0, "function", name="f", arguments="")),
            chunk(call(1, "function", name="g", arguments="{}")),
            chunk(call(0, None, arguments="{")),
            chunk(call(0, "", arguments="}")),
            chunk({}, finish_reason="tool_calls"),
            Event(None),
            Event(b"[DONE]"),
        ]
    )
    (choice,) = collected["choices"]
    assert choice["logprobs"] == {"content": [1, 2]}
    assert choice["message"]["content"] == "ab"
    assert choice["message"]["odd"] == [1, 2]
    calls = choice["message"]["tool_calls"]
    assert [entry["function"] for entry in calls] == [
        {"name": "f", "arguments": "{}"},
        {"name": "g", "arguments": "{}"},
    ]
    assert CODECS["chat"].repair_answer(collected).keys() <= {"arguments_added"}


@pytest.mark.parametrize("protocol", ANSWERS)
@given(st.data())
def test_odd_answers_and_streams_raise_nothing_but_that_they_are_none(
    protocol: str, data: st.DataObject
) -> None:
    codec = CODECS[protocol]
    answer = data.draw(altered([ANSWERS[protocol]]))
    if isinstance(answer, dict):
        codec.repair_answer(answer)
        codec.spelled_out(answer, WITH_COUNTS)
    told = codec.spelled_out(copy.deepcopy(ANSWERS[protocol]), WITH_COUNTS)
    documents = [json.decode(event.data) for event in told if event.data not in (None, b"[DONE]")]
    odd = data.draw(altered([documents], at_most=2))
    odd = odd if isinstance(odd, list) else [odd]
    with contextlib.suppress(BadUpstreamAnswer, UpstreamCut):
        codec.collected([Event(json.encode(document)) for document in odd])
