"""Chat streams, read as neutral events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.proxy.protocols.chat.chunks import DONE, call, chunk, role, wire
from tests.proxy.protocols.chat.test_repair import ODD_VALUES
from toolwire.proxy.protocols import sse
from toolwire.proxy.protocols.chat import CODEC
from toolwire.proxy.protocols.neutral import (
    Call,
    Delta,
    End,
    Finish,
    PartEnd,
    PartStart,
    Ping,
    Refusal,
    Start,
    Stop,
    StreamEvent,
    StreamFailure,
    Text,
    Thinking,
    Usage,
    UsageReport,
)

START = Start("chatcmpl-1", "m", 1)


def read(*documents: dict[str, Any] | bytes, repair: bool = True) -> list[StreamEvent]:
    """The neutral events of a stream, through its repair or as it is."""
    reader, decoder, mend = CODEC.stream_reader(), sse.Decoder(), CODEC.stream_repair()
    events = decoder.feed(wire(*documents))
    if repair:
        events = [*mend.feed(events), *mend.close()]
    return [*(found for event in events for found in reader.read(event)), *reader.close()]


def test_thinking_text_and_a_call() -> None:
    assert read(
        role(),
        chunk({"reasoning_content": "h"}),
        chunk({"reasoning": "m"}),
        b": still here\n\n",
        chunk({"content": "Hi", "reasoning_content": None}),
        call(0, id="c1", type="function", name="f", arguments=""),
        call(0, arguments='{"a":1}'),
        chunk({}, "tool_calls"),
        chunk(usage={"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}),
        DONE,
    ) == [
        START,
        PartStart(0, Thinking(origin="chat")),
        Delta(0, "h"),
        Delta(0, "m"),
        Ping(),
        PartEnd(0),
        PartStart(1, Text("")),
        Delta(1, "Hi"),
        PartEnd(1),
        PartStart(2, Call("c1", "f")),
        Delta(2, '{"a":1}'),
        PartEnd(2),
        Finish(Stop.CALLS),
        UsageReport(Usage(input=5, output=2)),
        End(),
    ]


def test_parallel_calls_are_open_side_by_side() -> None:
    events = read(
        role(),
        call(1, id="a", type="function", name="f", arguments='{"x":'),
        call(4, id="b", type="function", name="g", arguments='{"y":'),
        call(1, arguments="1}"),
        call(4, arguments="2}"),
        chunk({}, "stop"),
    )
    assert events[1:] == [
        PartStart(0, Call("a", "f")),
        Delta(0, '{"x":'),
        PartStart(1, Call("b", "g")),
        Delta(1, '{"y":'),
        Delta(0, "1}"),
        Delta(1, "2}"),
        PartEnd(0),
        PartEnd(1),
        Finish(Stop.CALLS),
        End(),
    ]


def test_a_custom_call_and_the_fields_of_another_vendor() -> None:
    extra = {"google": {"thought_signature": "sig"}}
    custom = {"index": 1, "id": "b", "type": "custom", "custom": {"name": "patch", "input": "*"}}
    events = read(
        role(),
        call(0, id="a", type="function", name="f", arguments="{}", extra_content=extra),
        chunk({"tool_calls": [custom]}),
        chunk({}, "tool_calls"),
    )
    starts = [event.part for event in events if isinstance(event, PartStart)]
    assert starts == [
        Call("a", "f", extra={"extra_content": extra}),
        Call("b", "patch", custom=True),
    ]


def test_the_deprecated_function_call_is_a_call() -> None:
    events = read(
        role(),
        chunk({"function_call": {"name": "f", "arguments": ""}}),
        chunk({"function_call": {"arguments": "{}"}}),
        chunk({}, "function_call"),
        DONE,
    )
    (start,) = [event for event in events if isinstance(event, PartStart)]
    assert isinstance(start.part, Call)
    assert (start.part.name, start.part.id[:5]) == ("f", "call_")
    assert events[2:] == [Delta(0, "{}"), PartEnd(0), Finish(Stop.CALLS), End()]


def test_a_refusal() -> None:
    events = read(role(), chunk({"refusal": "No."}), chunk({}, "content_filter"), DONE)
    assert events[1:] == [
        PartStart(0, Refusal("")),
        Delta(0, "No."),
        PartEnd(0),
        Finish(Stop.FILTERED),
        End(),
    ]


def test_signed_blocks_of_another_gateway_close_the_thinking() -> None:
    block = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    redacted = {"type": "redacted_thinking", "data": "sealed"}
    signed = Thinking("hm", signature="sig", origin="messages")
    sealed = Thinking(redacted="sealed", origin="messages")
    events = read(
        role(),
        chunk({"reasoning_content": "hm"}),
        chunk({"reasoning_blocks": [block]}),
        chunk({"reasoning_blocks": [redacted]}),
        chunk({}, "stop"),
    )
    assert events[3:6] == [PartEnd(0, signed), PartStart(1, sealed), PartEnd(1)]


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("stop", Stop.DONE),
        ("length", Stop.LENGTH),
        ("content_filter", Stop.FILTERED),
        ("eos", Stop.DONE),
        ("never heard of", Stop.DONE),
        ("tool_calls", Stop.DONE),  # without any call a client would wait in vain
    ],
)
def test_finish_reasons_without_calls(word: str, stop: Stop) -> None:
    assert Finish(stop) in read(role(), chunk({"content": "x"}), chunk({}, word), DONE)


def test_a_call_cut_off_by_the_limit_stays_cut_off() -> None:
    events = read(
        role(), call(0, id="a", type="function", name="f", arguments='{"x'), chunk({}, "length")
    )
    assert Finish(Stop.LENGTH) in events


def test_usage_stands_before_the_finish_of_its_chunk() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 80, "cache_write_tokens": 10},
        "completion_tokens_details": {"reasoning_tokens": 7},
    }
    events = read(role(), chunk({}, "stop", usage=usage), DONE)
    counts = Usage(input=100, output=9, cached=80, cache_written=10, reasoning=7)
    assert events[1:] == [UsageReport(counts), Finish(Stop.DONE), End()]


def test_deepseeks_cache_hits_count_as_cached() -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 9, "prompt_cache_hit_tokens": 64}
    assert UsageReport(Usage(input=100, output=9, cached=64)) in read(role(), chunk(usage=usage))


def test_a_stream_whose_finish_came_is_complete_without_its_done() -> None:
    assert read(role(), chunk({}, "stop"), repair=False)[-1] == End()


@pytest.mark.parametrize("sent", [[], [role(), chunk({"content": "x"})], [DONE]])
@pytest.mark.parametrize("repair", [True, False])
def test_a_stream_that_broke_off_fails_once(sent: list[Any], repair: bool) -> None:
    failures = [e for e in read(*sent, repair=repair) if isinstance(e, StreamFailure)]
    assert [failure.failure.code for failure in failures] == ["upstream_cut"]


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        ({"message": "slow down", "type": "rate_limit_error"}, 429, "rate_limit"),
        ({"message": "slow down", "code": 502}, 502, "api"),
        ({"message": "slow down", "code": "odd"}, 500, "api"),
    ],
)
def test_an_error_in_the_stream_ends_it(error: dict[str, Any], status: int, kind: str) -> None:
    *_, last = read(role(), {"error": error}, chunk({"content": "late"}), chunk({}, "stop"), DONE)
    assert isinstance(last, StreamFailure)
    assert (last.failure.message, last.failure.status, last.failure.kind) == (
        "slow down",
        status,
        kind,
    )


def test_a_finish_that_says_error_is_one() -> None:
    *_, last = read(role(), chunk({"content": "x"}), chunk({}, "error"), DONE)
    assert isinstance(last, StreamFailure)


@given(st.lists(ODD_VALUES, max_size=5))
def test_nothing_that_an_upstream_sends_raises(documents: list[Any]) -> None:
    odd = [
        chunk(d) if isinstance(d, dict) and place % 2 else {"choices": d, "usage": d}
        for place, d in enumerate(documents)
    ]
    for repair in (True, False):
        events = read(*odd, repair=repair)
        ends = [event for event in events if isinstance(event, End | StreamFailure)]
        assert len(ends) == 1
        assert events[-1] is ends[0]


def details(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"reasoning_details": [{"index": 0, **entry} for entry in entries]}


@pytest.mark.parametrize("beside", [{}, {"reasoning": "hm"}, {"reasoning_content": "hm"}])
def test_reasoning_in_details_is_read_once(beside: dict[str, Any]) -> None:
    text = {"type": "reasoning.text", "text": "h", "signature": None}
    summary = {"type": "reasoning.summary", "summary": "m"}
    sealed = {"type": "reasoning.encrypted", "data": "c2Vj"}
    events = read(
        role(), chunk({**details(text, summary, sealed), **beside}), chunk({}, "stop"), DONE
    )
    assert events[1:3] == [PartStart(0, Thinking(origin="chat")), Delta(0, "hm")]
    assert len([event for event in events if isinstance(event, Delta)]) == 1


@pytest.mark.parametrize("odd", [7, "text", {"type": "reasoning.text", "text": "x"}, [7, None, {}]])
def test_details_of_another_shape_are_no_reasoning(odd: Any) -> None:
    events = read(role(), chunk({"reasoning_details": odd, "content": "a"}), chunk({}, "stop"))
    assert [event for event in events if isinstance(event, Delta)] == [Delta(0, "a")]


def test_counts_that_only_groq_s_own_field_tells() -> None:
    counts = {"prompt_tokens": 5, "completion_tokens": 2}
    last = chunk({}, "stop", x_groq={"id": "req_1", "usage": counts})
    events = read(role(), chunk({"content": "a"}), last, DONE)
    assert UsageReport(Usage(input=5, output=2)) in events
    both = {**last, "usage": {**counts, "prompt_tokens": 6}}
    assert UsageReport(Usage(input=6, output=2)) in read(role(), both, DONE)
    odd = read(role(), chunk({}, "stop", x_groq="gone"), DONE)
    assert odd[1:] == [Finish(Stop.DONE), End()]


COUNTS = {"prompt_tokens": 9, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 4}}


def test_counts_of_the_first_chunk_stand_in_the_start() -> None:
    started, report, *_ = read({**role(), "usage": COUNTS}, chunk({}, "stop"), DONE)
    assert started == Start("chatcmpl-1", "m", 1, Usage(input=9, cached=4))
    assert report == UsageReport(Usage(input=9, output=0, cached=4))


def test_counts_that_come_before_all_else_stand_in_the_start() -> None:
    started, report, *_ = read(chunk(usage=COUNTS), role(), chunk({}, "stop"), DONE)
    assert started == Start("chatcmpl-1", "m", 1, Usage(input=9, cached=4))
    assert report == UsageReport(Usage(input=9, output=0, cached=4))
