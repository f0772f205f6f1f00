"""Answers of Messages upstreams that are not quite what the protocol says."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.proxy.protocols.messages.streams import check_message
from toolwire.proxy.protocols.messages import CODEC

MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "5 C", "unknown": 1}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 12, "output_tokens": 3, "unknown": 1},
    "unknown": {"kept": True},
}


def repaired(**changes: Any) -> tuple[dict[str, Any], dict[str, int]]:
    """The message after its repair; a change to ``...`` takes a field out."""
    document = {n: v for n, v in {**MESSAGE, **changes}.items() if v is not ...}
    document = copy.deepcopy(document)
    repairs = CODEC.repair_answer(document)
    check_message(document)
    return document, repairs


def test_a_right_answer_stays() -> None:
    assert repaired() == (MESSAGE, {})


@pytest.mark.parametrize(
    ("given_as", "value"),
    [('{"a":1}', {"a": 1}), ("", {}), (None, {}), ("{cut", {}), ("[1]", {}), ([1], {})],
)
def test_an_input_is_an_object(given_as: Any, value: dict[str, Any]) -> None:
    call = {"type": "tool_use", "id": "t", "name": "f", "input": given_as, "caller": None}
    document, repairs = repaired(content=[call], stop_reason="tool_use")
    assert document["content"] == [{**call, "input": value}]
    assert repairs == {"tool_input_as_object": 1}


@pytest.mark.parametrize("reason", ["end_turn", "stop_sequence", None, ...])
def test_calls_are_the_reason_to_stop(reason: Any) -> None:
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    document, repairs = repaired(content=[call], stop_reason=reason)
    assert document["stop_reason"] == "tool_use"
    assert repairs == {"stop_reason_corrected": 1}


def test_the_sequence_that_stopped_it_is_the_reason() -> None:
    document, repairs = repaired(stop_reason="end_turn", stop_sequence="END")
    assert (document["stop_reason"], document["stop_sequence"]) == ("stop_sequence", "END")
    assert repairs == {"stop_reason_corrected": 1}


def test_a_call_that_was_cut_stays_cut() -> None:
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    assert repaired(content=[call], stop_reason="max_tokens")[1] == {}


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ({"type": "text", "text": "Hi"}, "end_turn"),
        ({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, "tool_use"),
    ],
)
def test_an_end_for_calls_stays_unless_there_can_be_none(
    block: dict[str, Any], reason: str
) -> None:
    document, _ = repaired(content=[block], stop_reason="tool_use")
    assert document["stop_reason"] == reason


def test_server_tools_are_no_reason_to_stop() -> None:
    used = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}
    assert repaired(content=[used])[1] == {}


@pytest.mark.parametrize(
    ("changes", "expected", "repairs"),
    [
        ({"stop_sequence": ...}, {}, {"message_fields_added": 1}),
        ({"type": ..., "role": ...}, {}, {"message_fields_added": 2}),
        ({"model": None}, {"model": ""}, {"message_fields_added": 1}),
        ({"content": None}, {"content": []}, {"content_added": 1}),
        (
            {"content": "5 C"},
            {"content": [{"type": "text", "text": "5 C"}]},
            {"content_as_list": 1},
        ),
        (
            {"usage": ...},
            {"usage": {"input_tokens": 0, "output_tokens": 0}},
            {"usage_added": 2},
        ),
        (
            {"content": [{"type": "thinking", "thinking": "hm"}]},
            {"content": [{"type": "thinking", "thinking": "hm", "signature": ""}]},
            {"signature_added": 1},
        ),
        (
            {"content": [{"type": "text", "text": None}]},
            {"content": [{"type": "text", "text": ""}]},
            {"text_added": 1},
        ),
    ],
)
def test_what_is_missing_is_added(
    changes: dict[str, Any], expected: dict[str, Any], repairs: dict[str, int]
) -> None:
    assert repaired(**changes) == ({**MESSAGE, **expected}, repairs)


@pytest.mark.parametrize("name", ["id", "tool"])
def test_missing_ids_are_made(name: str) -> None:
    call = {"type": "tool_use", "id": "" if name == "tool" else "t", "name": "f", "input": {}}
    first, second = (
        repaired(id="" if name == "id" else "msg_1", content=[call], stop_reason="tool_use")
        for _ in range(2)
    )
    pick = (lambda d: d["id"]) if name == "id" else (lambda d: d["content"][0]["id"])
    assert pick(first[0]) != pick(second[0])
    assert pick(first[0]).startswith("msg_" if name == "id" else "toolu_")


def test_errors_are_left_alone() -> None:
    document = {"type": "error", "error": {"type": "api_error", "message": "Oops"}}
    before = copy.deepcopy(document)
    assert CODEC.repair_answer(document) == {}
    assert document == before
