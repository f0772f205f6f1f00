"""Whole answers, token counts and errors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.proxy.protocols.messages.streams import check_message, documents
from toolwire.proxy.errors import BadUpstreamAnswer
from toolwire.proxy.protocols.messages import CODEC
from toolwire.proxy.protocols.neutral import (
    Answer,
    Call,
    Failure,
    Losses,
    Opaque,
    Part,
    Refusal,
    Request,
    Stop,
    Text,
    Thinking,
    Usage,
)

REQUEST = Request(model="asked", turns=[], protocol="messages")

DOCUMENT: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"b": 1, "a": "ø"}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 10,
        "cache_creation_input_tokens": 200,
        "cache_read_input_tokens": 3000,
        "output_tokens": 7,
        "output_tokens_details": {"thinking_tokens": 3},
    },
}

ANSWER = Answer(
    id="msg_1",
    model="m",
    parts=[
        Thinking("hm", signature="c2ln", origin="messages"),
        Thinking(redacted="x", origin="messages"),
        Text("Let me see."),
        Call("toolu_1", "f", '{"b":1,"a":"ø"}'),
    ],
    stop=Stop.CALLS,
    usage=Usage(input=3210, output=7, cached=3000, cache_written=200, reasoning=3),
)


def written(*parts: Part, stop: Stop | None = Stop.DONE, sequence: str | None = None) -> Any:
    document = CODEC.write_answer(
        Answer("msg_1", "m", list(parts), stop, stop_sequence=sequence), REQUEST, Losses()
    )
    check_message(document)
    return document


def test_an_answer_is_read() -> None:
    assert CODEC.read_answer(DOCUMENT) == ANSWER
    assert CODEC.usage_of(DOCUMENT) == ANSWER.usage


def test_an_answer_is_written() -> None:
    assert CODEC.write_answer(ANSWER, REQUEST, Losses()) == DOCUMENT


def test_an_answer_without_the_rest_is_an_answer() -> None:
    answer = CODEC.read_answer({"content": [{"type": "text"}, "junk", {"type": "tool_use"}]})
    call = answer.parts[1]
    assert isinstance(call, Call) and call.id.startswith("toolu_")
    assert answer.id.startswith("msg_")
    assert (answer.parts[0], answer.stop, answer.usage) == (Text(""), None, None)


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({}, "holds no message"),
        ({"content": None}, "holds no message"),
        ({"type": "error", "error": {"type": "api_error", "message": "Oops"}}, "Oops"),
    ],
)
def test_what_is_no_answer_is_an_error(document: dict[str, Any], told: str) -> None:
    with pytest.raises(BadUpstreamAnswer, match=told):
        CODEC.read_answer(document)


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("end_turn", Stop.DONE),
        ("stop_sequence", Stop.SEQUENCE),
        ("tool_use", Stop.CALLS),
        ("max_tokens", Stop.LENGTH),
        ("model_context_window_exceeded", Stop.CONTEXT),
        ("refusal", Stop.FILTERED),
        ("pause_turn", Stop.PAUSED),
        ("new_reason", Stop.DONE),
        (None, None),
    ],
)
def test_stop_reasons_are_read(word: str | None, stop: Stop | None) -> None:
    assert CODEC.read_answer({"content": [], "stop_reason": word}).stop is stop


CALL = Call("c", "f", "{}")
SEARCHED = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}
CITED = {
    "type": "char_location",
    "cited_text": "a",
    "document_index": 0,
    "start_char_index": 0,
    "end_char_index": 1,
}
CITING = {"type": "text", "text": "a", "citations": [CITED]}


@pytest.mark.parametrize(
    ("part", "stop", "reason"),
    [
        (Text("t"), Stop.DONE, "end_turn"),
        (Text("t"), None, "end_turn"),
        (Text("t"), Stop.CALLS, "end_turn"),
        (Text("t"), Stop.SEQUENCE, "end_turn"),
        (Text("t"), Stop.LENGTH, "max_tokens"),
        (Text("t"), Stop.CONTEXT, "model_context_window_exceeded"),
        (Text("t"), Stop.FILTERED, "refusal"),
        (Text("t"), Stop.PAUSED, "pause_turn"),
        (Refusal("No."), Stop.DONE, "refusal"),
        (CALL, Stop.DONE, "tool_use"),
        (CALL, Stop.SEQUENCE, "tool_use"),
        (CALL, None, "tool_use"),
        (CALL, Stop.LENGTH, "max_tokens"),
    ],
)
def test_stop_reasons_are_written(part: Part, stop: Stop | None, reason: str) -> None:
    assert written(part, stop=stop)["stop_reason"] == reason


def test_a_known_stop_sequence_is_told() -> None:
    document = written(Text("t"), stop=Stop.SEQUENCE, sequence="END")
    assert (document["stop_reason"], document["stop_sequence"]) == ("stop_sequence", "END")


@pytest.mark.parametrize(
    ("part", "block"),
    [
        (Text(""), None),
        (Text("\n"), None),
        (Thinking(""), None),
        (Thinking(encrypted="e", origin="responses"), None),
        (Thinking("hm"), {"type": "thinking", "thinking": "hm", "signature": ""}),
        (
            Thinking("hm", signature="s", origin="responses"),
            {"type": "thinking", "thinking": "hm", "signature": ""},
        ),
        (
            Thinking("", signature="s", origin="messages"),
            {"type": "thinking", "thinking": "", "signature": "s"},
        ),
        (Refusal("No."), {"type": "text", "text": "No."}),
        (Call("c", "now"), {"type": "tool_use", "id": "c", "name": "now", "input": {}}),
        (Call("c", "f", '{"cut'), {"type": "tool_use", "id": "c", "name": "f", "input": {}}),
        (
            Call("c", "sh", "ls", custom=True),
            {"type": "tool_use", "id": "c", "name": "sh", "input": {"input": "ls"}},
        ),
        (Opaque("responses", {"type": "web_search_call"}), None),
        (Opaque("messages", SEARCHED), SEARCHED),
        (Text("a", citations=Opaque("messages", [CITED])), CITING),
        (Text("a", citations=Opaque("responses", [CITED])), {"type": "text", "text": "a"}),
    ],
)
def test_parts_are_written(part: Part, block: dict[str, Any] | None) -> None:
    assert written(part)["content"] == ([block] if block else [])


def test_nothing_is_missing_where_nothing_is_known() -> None:
    document = CODEC.write_answer(Answer("", "", [], None), REQUEST, Losses())
    check_message(document)
    assert document["model"] == "asked"
    assert document["usage"] == {
        "input_tokens": 0,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 0,
    }


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (Usage(input=1000, output=20, cached=400), (600, 400, 0, 20)),
        (Usage(input=10, cached=8, cache_written=8), (0, 8, 8, 0)),
        (Usage(output=5), (0, 0, 0, 5)),
    ],
)
def test_input_tokens_leave_the_cache_out(usage: Usage, counts: tuple[int, ...]) -> None:
    document = CODEC.write_answer(Answer("i", "m", [], None, usage=usage), REQUEST, Losses())[
        "usage"
    ]
    assert (
        tuple(
            document[name]
            for name in (
                "input_tokens",
                "cache_read_input_tokens",
                "cache_creation_input_tokens",
                "output_tokens",
            )
        )
        == counts
    )


def test_usage_that_is_none_is_none() -> None:
    assert CODEC.usage_of({}) is None
    assert CODEC.usage_of({"usage": {"input_tokens": "7"}}) == Usage()


# ------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (
            Failure(529, "Busy", kind="overloaded", type="overloaded_error"),
            {"type": "overloaded_error", "message": "Busy"},
        ),
        (
            Failure(429, "Slow", kind="rate_limit", type="requests", code="rate_limit_exceeded"),
            {
                "type": "rate_limit_error",
                "message": "Slow",
                "code": "rate_limit_exceeded",
                "details": {"error_code": "rate_limit_exceeded"},
            },
        ),
        (
            Failure(502, "Down", kind="api", type="server_error"),
            {"type": "api_error", "message": "Down"},
        ),
        (
            Failure(401, "Who?", kind="authentication", type="invalid_request_error"),
            {"type": "authentication_error", "message": "Who?"},
        ),
        (
            Failure(413, "Big", kind="too_large"),
            {"type": "request_too_large", "message": "Big"},
        ),
    ],
)
def test_errors(failure: Failure, error: dict[str, Any]) -> None:
    failure.request_id = "req_1"
    document = {"type": "error", "error": error, "request_id": "req_1"}
    assert CODEC.write_failure(failure) == document
    events = CODEC.failure_event(failure)
    assert documents(events) == [document]
    assert [event.name for event in events] == ["error"]


def test_an_error_body_is_read() -> None:
    body = {
        "type": "error",
        "error": {"type": "not_found_error", "message": "model: x"},
        "request_id": "req_1",
    }
    assert CODEC.read_failure(404, json.dumps(body).encode()) == Failure(
        404, "model: x", kind="not_found", type="not_found_error", request_id="req_1"
    )


def test_the_code_of_an_error_stands_in_its_details() -> None:
    error = {"type": "api_error", "message": "Gone", "details": {"error_code": "file_expired"}}
    body = json.dumps({"type": "error", "error": error}).encode()
    assert CODEC.read_failure(400, body).code == "file_expired"


PARTS = st.one_of(
    st.builds(Text, st.text()),
    st.builds(Refusal, st.text()),
    st.builds(Thinking, st.text(), signature=st.none() | st.text(), origin=st.just("messages")),
    st.builds(Call, st.text(), st.text(), st.text() | st.just('{"a":[1.5]}')),
)


@given(st.lists(PARTS, max_size=5), st.none() | st.sampled_from(list(Stop)))
def test_any_answer_is_what_the_official_types_take(parts: list[Part], stop: Stop | None) -> None:
    document = written(*parts, stop=stop)
    again = CODEC.write_answer(CODEC.read_answer(document), REQUEST, Losses())
    assert again == document


def test_why_the_model_refused() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "Because."}
    read = CODEC.read_answer({"content": [], "stop_reason": "refusal", "stop_details": details})
    assert read.parts == [Refusal("Because.")]
    assert CODEC.read_answer({"content": [], "stop_details": {"type": "other"}}).parts == []
