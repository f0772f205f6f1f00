"""Neutral events, written as chat streams."""

from __future__ import annotations

import itertools
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionChunk
from pydantic import TypeAdapter

from tests.proxy.protocols.chat.chunks import deltas, finishes, pieces, told
from toolwire.proxy.protocols.chat import CODEC
from toolwire.proxy.protocols.neutral import (
    Call,
    Delta,
    End,
    Failure,
    Finish,
    Image,
    Opaque,
    Part,
    PartEnd,
    PartStart,
    Ping,
    Refusal,
    Request,
    Source,
    Start,
    Stop,
    StreamEvent,
    StreamFailure,
    Text,
    Thinking,
    Usage,
    UsageReport,
)

SDK_CHUNK = TypeAdapter(ChatCompletionChunk)
START = Start("msg_1", "claude", 7)


def write(*events: StreamEvent, include_usage: bool = False) -> list[Any]:
    """What the client gets: documents, "[DONE]", None for a comment."""
    request = Request("asked-model", [], "chat", stream=True, include_usage=include_usage)
    writer = CODEC.stream_writer(request)
    out = [told(wire) for event in events for wire in writer.write(event)]
    for document in out:
        # the SDK's types know no custom calls in streams, though the API sends them so
        known = isinstance(document, dict) and not any("custom" in p for p in pieces([document]))
        if known and "error" not in document:
            SDK_CHUNK.validate_python(document, strict=True)
    return out


def test_text_as_openai_streams_it() -> None:
    out = write(
        START,
        PartStart(0, Text("")),
        Delta(0, "Hel"),
        Ping(),
        Delta(0, 'lo "é\n'),
        PartEnd(0),
        Finish(Stop.DONE),
        End(),
    )
    head = {"id": "msg_1", "object": "chat.completion.chunk", "created": 7, "model": "claude"}
    expected = [
        {"role": "assistant", "content": ""},
        {"content": "Hel"},
        None,
        {"content": 'lo "é\n'},
        {},
    ]
    assert out == [
        *(
            None
            if delta is None
            else {
                **head,
                "choices": [
                    {"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}
                ],
            }
            for delta in expected
        ),
        "[DONE]",
    ]


def test_calls_say_id_and_name_once_and_are_counted_from_zero() -> None:
    out = write(
        START,
        PartStart(5, Text("Let me see.")),
        PartEnd(5),
        PartStart(7, Call("toolu_1", "f")),
        PartStart(9, Call("toolu_2", "g", '{"y":')),
        Delta(7, '{"x":1}'),
        Delta(9, "2}"),
        PartEnd(7),
        PartEnd(9),
        Finish(Stop.CALLS),
        End(),
    )
    function = {"type": "function"}
    assert pieces(out) == [
        {"index": 0, "id": "toolu_1", **function, "function": {"name": "f", "arguments": ""}},
        {"index": 1, "id": "toolu_2", **function, "function": {"name": "g", "arguments": ""}},
        {"index": 1, "function": {"arguments": '{"y":'}},
        {"index": 0, "function": {"arguments": '{"x":1}'}},
        {"index": 1, "function": {"arguments": "2}"}},
    ]
    assert finishes(out) == ["tool_calls"]


def test_what_only_the_whole_part_says_is_added() -> None:
    out = write(
        START,
        PartStart(0, Text("")),
        PartEnd(0, Text("whole")),
        PartStart(1, Call("c", "f")),
        Delta(1, '{"a"'),
        PartEnd(1, Call("c", "f", '{"a":1}')),
        Finish(Stop.CALLS),
    )
    assert deltas(out)[1] == {"content": "whole"}
    assert [p["function"]["arguments"] for p in pieces(out)] == ["", '{"a"', ":1}"]


def test_a_call_without_arguments_is_an_empty_object() -> None:
    out = write(START, PartStart(0, Call("c", "now")), PartEnd(0), Finish(Stop.CALLS), End())
    assert [p["function"]["arguments"] for p in pieces(out)] == ["", "{}"]


def test_a_call_that_the_limit_cut_off_does_not_look_whole() -> None:
    out = write(START, PartStart(0, Call("c", "now")), PartEnd(0), Finish(Stop.LENGTH), End())
    assert [p["function"]["arguments"] for p in pieces(out)] == [""]
    assert finishes(out) == ["length"]


def test_a_custom_call() -> None:
    out = write(START, PartStart(0, Call("c", "patch", custom=True)), Delta(0, "*** Begin"))
    assert pieces(out) == [
        {"index": 0, "id": "c", "type": "custom", "custom": {"name": "patch", "input": ""}},
        {"index": 0, "custom": {"input": "*** Begin"}},
    ]


def test_signed_thinking_ends_with_its_block() -> None:
    signed = Thinking("hm", signature="sig", origin="messages", vendor="anthropic")
    sealed = Thinking(redacted="sealed", origin="messages", vendor="anthropic")
    out = write(
        START,
        PartStart(0, Thinking()),
        Delta(0, "hm"),
        PartEnd(0, signed),
        PartStart(1, sealed),
        PartEnd(1),
        PartStart(2, Text("")),
    )
    assert deltas(out)[1:] == [
        {"reasoning_content": "hm"},
        {
            "reasoning_blocks": [{"type": "thinking", "thinking": "hm", "signature": "sig"}],
            "reasoning_vendor": "anthropic",
        },
        {"reasoning_blocks": [{"index": 1, "type": "redacted_thinking", "data": "sealed"}]},
    ]


def test_unsigned_and_foreign_thinking_is_text_alone() -> None:
    out = write(
        START,
        PartStart(0, Thinking()),
        Delta(0, "a"),
        PartEnd(0, Thinking("a", encrypted="gAAA", origin="responses")),
    )
    assert deltas(out)[1:] == [{"reasoning_content": "a"}]


def test_usage_goes_out_only_where_it_was_asked_for() -> None:
    events = [
        Start("i", "m", 1, Usage(input=100, cached=80)),
        UsageReport(Usage(output=3)),
        Finish(Stop.DONE),
        UsageReport(Usage(output=9, reasoning=2)),
        End(),
    ]
    assert [d for d in write(*events) if isinstance(d, dict) and "usage" in d] == []
    out = write(*events, include_usage=True)
    assert out[-2]["choices"] == []
    assert out[-2]["usage"] == {
        "prompt_tokens": 100,
        "completion_tokens": 9,
        "total_tokens": 109,
        "prompt_tokens_details": {"cached_tokens": 80},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    assert [document["usage"] for document in out[:-2]] == [None, None]


def test_a_plain_end_beside_calls_is_an_end_for_their_sake() -> None:
    out = write(START, PartStart(0, Call("c", "f", "{}")), Finish(Stop.DONE), End())
    assert finishes(out) == ["tool_calls"]


def test_reasons_that_chat_has_no_word_for() -> None:
    for stop in (Stop.PAUSED, Stop.CONTEXT):
        assert finishes(write(START, Finish(stop), End())) == ["length"]
    assert finishes(write(START, PartStart(0, Refusal("No.")), Finish(Stop.FILTERED))) == [
        "content_filter"
    ]


def test_an_end_without_a_finish_gets_one() -> None:
    out = write(START, PartStart(0, Text("x")), End())
    assert finishes(out) == ["stop"]
    assert out[-1] == "[DONE]"


def test_a_failure_is_the_last_thing_said() -> None:
    failure = Failure(529, "busy", kind="overloaded", type="overloaded_error")
    late = [Finish(Stop.DONE), End(), Ping(), StreamFailure(failure)]
    out = write(START, PartStart(0, Text("x")), StreamFailure(failure), *late)
    error = {"message": "busy", "type": "overloaded_error", "param": None, "code": None}
    assert out[2:] == [{"error": error}]


def test_what_chat_has_no_place_for_is_passed_over() -> None:
    picture = Image(Source(url="https://example.com/i.png"))
    out = write(START, PartStart(0, Opaque("responses", {})), PartStart(1, picture), Delta(1, "x"))
    assert deltas(out) == [{"role": "assistant", "content": ""}]


def test_lone_surrogates_survive() -> None:
    request = Request("m", [], "chat", stream=True)
    writer = CODEC.stream_writer(request)
    writer.write(START)
    writer.write(PartStart(0, Text("")))
    (event,) = writer.write(Delta(0, "\ud83d"))
    assert event.data is not None
    assert b'"content":"\\ud83d"' in event.data


PARTS: st.SearchStrategy[Part] = st.sampled_from(
    [
        Text(""),
        Text("t"),
        Thinking("r", signature="s", origin="messages"),
        Call("c", "f"),
        Call("", "g", '{"a":1}'),
        Refusal("no"),
        Opaque("messages", {}),
    ]
)
KEYS = st.integers(0, 3)
EVENTS: st.SearchStrategy[StreamEvent] = st.one_of(
    st.just(START),
    st.builds(PartStart, KEYS, PARTS),
    st.builds(Delta, KEYS, st.sampled_from(["", "x", '{"b":2}'])),
    st.builds(PartEnd, KEYS, st.none() | PARTS),
    st.builds(Finish, st.sampled_from(Stop)),
    st.builds(UsageReport, st.builds(Usage, st.none() | st.integers(0, 9))),
    st.builds(StreamFailure, st.just(Failure(500, "boom"))),
    st.just(Ping()),
    st.just(End()),
)


@given(st.lists(EVENTS, max_size=25), st.booleans())
def test_whatever_comes_in_whatever_order_is_a_well_formed_stream(
    events: list[StreamEvent], include_usage: bool
) -> None:
    out = [d for d in write(*events, include_usage=include_usage) if d is not None]
    chunks = [d for d in out if isinstance(d, dict) and "error" not in d]
    assert out[: len(chunks)] == chunks, "an error or [DONE] stands last"
    assert len(out) - len(chunks) <= 1
    roles = ["role" in delta for delta in deltas(out)]
    assert roles == [place == 0 for place in range(len(roles))]
    assert all(one != other for one, other in itertools.pairwise(finishes(out)))
    if out and out[-1] == "[DONE]":
        assert finishes(out)
    known: set[int] = set()
    for piece in pieces(out):
        if "id" in piece:
            assert piece["index"] == len(known)
            assert piece["id"]
            known.add(piece["index"])
        assert piece["index"] in known
    assert ("tool_calls" in finishes(out)) <= bool(known)
    if out and out[-1] == "[DONE]" and finishes(out)[-1] == "stop":
        assert not known
    assert json.dumps(out)
