"""Whole answers and errors: read, written, repaired."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion
from pydantic import TypeAdapter

from tests.proxy.protocols.chat.test_repair import ODD_VALUES
from toolwire.proxy.errors import BadUpstreamAnswer
from toolwire.proxy.protocols.chat import CODEC
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

SDK_ANSWER = TypeAdapter(ChatCompletion)
REQUEST = Request("asked-model", [], "chat")


def answer(message: dict[str, Any], finish: Any = "stop", **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m"}
    return {**head, "choices": [choice], **fields}


def function_call(arguments: Any, **fields: Any) -> dict[str, Any]:
    function = {"name": "f", "arguments": arguments}
    return {"id": "c1", "type": "function", "function": function, **fields}


def write(*parts: Part, stop: Stop | None = Stop.DONE, **fields: Any) -> dict[str, Any]:
    document = CODEC.write_answer(
        Answer("msg_1", "claude", list(parts), stop, **fields), REQUEST, Losses()
    )
    SDK_ANSWER.validate_python(document, strict=True)
    return document


# ------------------------------------------------------------------------------------- read
def test_an_answer_with_everything() -> None:
    note = {"type": "url_citation"}
    message = {
        "content": "Hi",
        "reasoning_content": "hm",
        "annotations": [note],
        "tool_calls": [
            function_call('{"a":1}', index=0, extra_content={"google": 1}),
            {"id": "c2", "type": "custom", "custom": {"name": "p", "input": "*"}},
        ],
    }
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 80},
    }
    read = CODEC.read_answer(answer(message, "tool_calls", usage=usage, system_fingerprint="fp"))
    assert read == Answer(
        "chatcmpl-1",
        "m",
        [
            Thinking("hm", origin="chat"),
            Text("Hi", citations=Opaque("chat", [note])),
            Call("c1", "f", '{"a":1}', extra={"extra_content": {"google": 1}}),
            Call("c2", "p", "*", custom=True),
        ],
        Stop.CALLS,
        Usage(input=100, output=9, cached=80),
        created=1,
        extra={"system_fingerprint": "fp"},
    )


def test_what_stands_beside_no_text() -> None:
    """It must not be lost before it can be reported."""
    note, token = {"type": "file"}, {"token": "no", "logprob": -1}
    document = answer({"content": None, "refusal": "no", "annotations": [note]})
    document["choices"][0]["logprobs"] = {"content": None, "refusal": [token]}
    read = CODEC.read_answer(document)
    assert read.parts == [Text("", citations=Opaque("chat", [note])), Refusal("no")]
    assert read.extra == {"logprobs": {"refusal": [token]}}


def test_signed_blocks_of_another_gateway() -> None:
    block = {"type": "thinking", "thinking": "hm", "signature": "s"}
    read = CODEC.read_answer(answer({"reasoning_content": "hm", "reasoning_blocks": [block]}))
    assert read.parts == [Thinking("hm", signature="s", origin="messages")]


def test_the_deprecated_function_call() -> None:
    message = {"content": None, "function_call": {"name": "f", "arguments": "{}"}}
    read = CODEC.read_answer(answer(message, "function_call"))
    assert isinstance(read.parts[0], Call)
    assert read.parts[0].id.startswith("call_")
    assert read.stop is Stop.CALLS


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("stop", Stop.DONE),
        ("length", Stop.LENGTH),
        ("", Stop.DONE),
        (None, Stop.DONE),
        ("insufficient_system_resource", Stop.LENGTH),
        ("abort", Stop.LENGTH),
        ("sensitive", Stop.FILTERED),
        ("model_context_window_exceeded", Stop.CONTEXT),
    ],
)
def test_finish_reasons(word: Any, stop: Stop) -> None:
    assert CODEC.read_answer(answer({"content": "x"}, word)).stop is stop


@pytest.mark.parametrize("field", ["stop_reason", "matched_stop"])
def test_the_sequence_that_matched(field: str) -> None:
    document = answer({"content": "x"}, "stop")
    document["choices"][0][field] = "END"
    read = CODEC.read_answer(document)
    assert (read.stop, read.stop_sequence) == (Stop.SEQUENCE, "END")
    document["choices"][0][field] = 128009  # a token
    assert CODEC.read_answer(document).stop is Stop.DONE
    document["choices"][0] |= {field: "END", "finish_reason": "length"}
    assert CODEC.read_answer(document).stop is Stop.LENGTH


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"error": {"message": "boom"}}, "boom"),
        ({"error": "boom", "choices": []}, "boom"),
        ({"object": "error", "message": "boom"}, "boom"),
        ({}, "no choices"),
        ({"choices": []}, "no choices"),
        ({"choices": ["x"]}, "no choices"),
        (answer({"content": "half"}, "error"), "broke the answer off"),
    ],
)
def test_what_is_no_answer(document: dict[str, Any], message: str) -> None:
    with pytest.raises(BadUpstreamAnswer, match=message):
        CODEC.read_answer(document)


# ------------------------------------------------------------------------------------ write
def test_text_alone() -> None:
    assert write(
        Text("The sky "),
        Text("is blue."),
        created=7,
        usage=Usage(input=10, output=2, cached=4),
        extra={"service_tier": "standard", "system_fingerprint": "fp"},
    ) == {
        "id": "msg_1",
        "object": "chat.completion",
        "created": 7,
        "model": "claude",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "The sky is blue.", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 10,
            "completion_tokens": 2,
            "total_tokens": 12,
            "prompt_tokens_details": {"cached_tokens": 4},
        },
        "system_fingerprint": "fp",
    }


def test_calls_correct_the_finish_reason() -> None:
    document = write(Call("c1", "f"), Call("c2", "p", "*", custom=True))
    (choice,) = document["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    assert choice["message"]["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"id": "c2", "type": "custom", "custom": {"name": "p", "input": "*"}},
    ]


def test_a_call_that_the_limit_cut_off_does_not_look_whole() -> None:
    (choice,) = write(Call("c1", "f"), stop=Stop.LENGTH)["choices"]
    assert choice["finish_reason"] == "length"
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == ""


def test_thinking_is_reasoning_and_its_signed_blocks() -> None:
    (choice,) = write(
        Thinking("a", signature="s", origin="messages", vendor="anthropic"),
        Thinking(redacted="x", origin="messages", vendor="anthropic"),
        Thinking("b", encrypted="e", origin="responses"),
        Text("c"),
    )["choices"]
    assert choice["message"] == {
        "role": "assistant",
        "content": "c",
        "refusal": None,
        "reasoning_content": "ab",
        "reasoning_blocks": [
            {"type": "thinking", "thinking": "a", "signature": "s"},
            {"type": "redacted_thinking", "data": "x"},
        ],
        "reasoning_vendor": "anthropic",
    }


def test_a_refusal() -> None:
    (choice,) = write(Refusal("No."), stop=Stop.FILTERED)["choices"]
    assert choice["finish_reason"] == "content_filter"
    assert (choice["message"]["content"], choice["message"]["refusal"]) == (None, "No.")


# ----------------------------------------------------------------------------------- repair
def repaired(document: dict[str, Any], **options: Any) -> dict[str, int]:
    repairs = CODEC.repair_answer(document, **options)
    again = json.loads(json.dumps(document))
    assert CODEC.repair_answer(again, **options) == {}, "what is repaired needs no repair"
    return repairs


def test_an_answer_without_fault_stays_as_it_is() -> None:
    message = {"content": None, "tool_calls": [function_call("{}")], "padding": {"x": [1]}}
    document = answer(message, "tool_calls", provider="p", usage=None)
    before = json.dumps(document)
    assert repaired(document) == {}
    assert json.dumps(document) == before


@pytest.mark.parametrize(
    ("given", "text", "kind"),
    [
        ({"city": "Oslo"}, '{"city":"Oslo"}', "arguments_not_text"),
        ({}, "{}", "arguments_added"),
        (None, "{}", "arguments_added"),
        ('"{\\"x\\":1}"', '{"x":1}', "arguments_encoded_twice"),
        ("", "{}", "arguments_added"),
    ],
)
def test_arguments_are_text(given: Any, text: str, kind: str) -> None:
    document = answer({"content": None, "tool_calls": [function_call(given)]}, "tool_calls")
    assert repaired(document) == {kind: 1}
    call = document["choices"][0]["message"]["tool_calls"][0]
    assert call["function"]["arguments"] == text


def test_arguments_that_were_cut_before_they_began_are_left_alone() -> None:
    document = answer({"content": None, "tool_calls": [function_call("")]}, "length")
    assert repaired(document) == {}


@pytest.mark.parametrize("text", ['"[1]"', '"a"', '"', '{"x":"{}"}'])
def test_text_that_is_no_object_encoded_twice_is_left_alone(text: str) -> None:
    document = answer({"content": None, "tool_calls": [function_call(text)]}, "tool_calls")
    assert repaired(document) == {}


def test_content_as_parts_and_as_an_object() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    document = answer({"content": [thinking, {"type": "text", "text": "x"}]})
    assert repaired(document) == {"content_not_text": 1}
    assert document["choices"][0]["message"]["content"] == "x"
    assert document["choices"][0]["message"]["reasoning_content"] == "hm"
    document = answer({"content": {"a": 1}})
    repaired(document)
    assert document["choices"][0]["message"]["content"] == '{"a":1}'


@pytest.mark.parametrize(
    ("message", "finish", "right"),
    [
        ({"content": "x"}, "", "stop"),
        ({"content": "x"}, None, "stop"),
        ({"content": "x"}, "eos", "stop"),
        ({"content": "x"}, "length", "length"),
        ({"content": "x"}, "new_word", "new_word"),
        ({"tool_calls": [function_call("{}")]}, "stop", "tool_calls"),
        ({"tool_calls": [function_call("{}")]}, "length", "length"),
        ({"tool_calls": []}, "stop", "stop"),
        ({"function_call": {"name": "f", "arguments": "{}"}}, "stop", "function_call"),
    ],
)
def test_finish_reasons_say_what_the_answer_is(
    message: dict[str, Any], finish: Any, right: str
) -> None:
    document = answer(message, finish)
    CODEC.repair_answer(document)
    assert document["choices"][0]["finish_reason"] == right


def test_an_early_form_of_the_finish_reason() -> None:
    document = answer({"content": "x"})
    document["choices"][0] |= {"finish_reason": None, "finish_details": {"type": "max_tokens"}}
    CODEC.repair_answer(document)
    assert document["choices"][0]["finish_reason"] == "length"


def test_what_is_missing_around_the_message_is_filled() -> None:
    document = {"choices": [{"message": {"content": "x", "tool_calls": [function_call("{}")]}}]}
    document["choices"][0]["message"]["tool_calls"][0] |= {"id": "", "type": None}
    repaired(document)
    SDK_ANSWER.validate_python({**document, "model": "m"}, strict=True)
    call = document["choices"][0]["message"]["tool_calls"][0]
    assert call["id"].startswith("call_")
    assert document["id"].startswith("chatcmpl-")


def test_think_tags_where_it_is_asked_for() -> None:
    document = answer({"content": "<think>hm</think>\n\nHi"})
    assert repaired(document) == {}
    assert repaired(document, think_tags=True) == {"think_tag": 1}
    assert document["choices"][0]["message"]["content"] == "Hi"
    assert document["choices"][0]["message"]["reasoning_content"] == "hm"


def test_an_error_is_left_alone() -> None:
    document = {"error": {"message": "boom"}, "choices": []}
    assert CODEC.repair_answer(document) == {}
    assert document == {"error": {"message": "boom"}, "choices": []}


@given(
    st.dictionaries(st.sampled_from(["choices", "error", "usage", "id"]), ODD_VALUES), ODD_VALUES
)
def test_nothing_that_an_upstream_answers_raises(document: dict[str, Any], message: Any) -> None:
    for odd in (document, {**document, "choices": [{"message": message}]}):
        CODEC.repair_answer(odd, think_tags=True)
        CODEC.usage_of(odd)
        try:
            CODEC.write_answer(CODEC.read_answer(odd), REQUEST, Losses())
        except BadUpstreamAnswer as error:
            assert error.message


# ----------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Failure(429, "m", kind="rate_limit", type="tokens"), "tokens"),
        (Failure(429, "m", kind="rate_limit", type="rate_limit_error"), "rate_limit_error"),
        (Failure(413, "m", kind="too_large", type="request_too_large"), "invalid_request_error"),
        (Failure(500, "m", kind="api", type="api_error"), "server_error"),
        (Failure(400, "m", kind="invalid_request"), "invalid_request_error"),
    ],
)
def test_errors_in_openais_shape(failure: Failure, kind: str) -> None:
    failure.code, failure.param = "some_code", "messages"
    error = {"message": "m", "type": kind, "param": "messages", "code": "some_code"}
    assert CODEC.write_failure(failure) == {"error": error}
    (event,) = CODEC.failure_event(failure)
    assert event.data is not None
    assert json.loads(event.data) == {"error": error}


def test_an_upstreams_error_is_read_word_for_word() -> None:
    body = b'{"error":{"message":"too long","type":"invalid_request_error","code":"ctx"}}'
    failure = CODEC.read_failure(400, body)
    assert (failure.message, failure.type, failure.code) == (
        "too long",
        "invalid_request_error",
        "ctx",
    )


def test_a_keep_alive_means_nothing() -> None:
    assert CODEC.keep_alive().encode() == b":\n\n"


def test_a_client_that_gave_functions_gets_a_function_call() -> None:
    request = CODEC.read_request(
        {"model": "m", "messages": [], "functions": [{"name": "f"}], "function_call": "auto"}
    )
    parts: list[Part] = [Text("a"), Call("c", "f", '{"x":1}'), Call("d", "f")]
    (choice,) = CODEC.write_answer(Answer("i", "m", parts, Stop.CALLS), request, Losses())[
        "choices"
    ]
    assert choice["finish_reason"] == "function_call"
    assert choice["message"]["function_call"] == {"name": "f", "arguments": '{"x":1}'}
    assert "tool_calls" not in choice["message"]
    (choice,) = CODEC.write_answer(Answer("i", "m", [Text("a")], Stop.CALLS), request, Losses())[
        "choices"
    ]
    assert choice["finish_reason"] == "stop"
    assert "function_call" not in choice["message"]


def test_reasoning_that_stands_in_details_alone() -> None:
    shown = [{"type": "reasoning.summary", "summary": "hm"}, {"type": "reasoning.encrypted"}]
    document = answer({"role": "assistant", "content": "hi", "reasoning_details": shown})
    read = CODEC.read_answer(document)
    assert read.parts == [Thinking("hm", origin="chat"), Text("hi")]
    assert document["choices"][0]["message"]["reasoning_details"] == shown
