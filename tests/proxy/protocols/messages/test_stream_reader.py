"""The stream reader: what the events of a Messages upstream mean."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.proxy.protocols.messages.streams import event
from toolwire.proxy.protocols.messages import CODEC
from toolwire.proxy.protocols.neutral import (
    Call,
    Delta,
    End,
    Finish,
    Opaque,
    PartEnd,
    PartStart,
    Ping,
    Start,
    Stop,
    StreamEvent,
    StreamFailure,
    Text,
    Thinking,
    Usage,
    UsageReport,
)
from toolwire.proxy.protocols.sse import Event

HEAD = {"id": "msg_1", "model": "m", "usage": {"input_tokens": 25, "output_tokens": 1}}
START = event("message_start", message=HEAD)
STOP = event("message_stop")


def begin(index: int, **block: Any) -> Event:
    return event("content_block_start", index=index, content_block=block)


def delta(index: int, **fields: Any) -> Event:
    return event("content_block_delta", index=index, delta=fields)


def end(index: int) -> Event:
    return event("content_block_stop", index=index)


def finish(reason: str, **usage: int) -> Event:
    stop = {"stop_reason": reason, "stop_sequence": None}
    return event("message_delta", delta=stop, usage=usage)


def read(*events: Event) -> list[StreamEvent]:
    reader = CODEC.stream_reader()
    return [*(found for wire in events for found in reader.read(wire)), *reader.close()]


def parts(*events: Event) -> list[StreamEvent]:
    """What stands between the start and the finish of a complete stream."""
    found = read(START, *events, finish("end_turn", output_tokens=2), STOP)
    assert found[-3:] == [
        Finish(Stop.DONE),
        UsageReport(Usage(input=25, output=2)),
        End(),
    ]
    return found[1:-3]


def test_text() -> None:
    assert read(
        START,
        event("ping"),
        begin(0, type="text", text=""),
        delta(0, type="text_delta", text="Hel"),
        delta(0, type="text_delta", text=""),
        delta(0, type="text_delta", text="lo"),
        end(0),
        finish("stop_sequence", output_tokens=15),
        STOP,
    ) == [
        Start("msg_1", "m", usage=Usage(input=25, output=1)),
        Ping(),
        PartStart(0, Text("")),
        Delta(0, "Hel"),
        Delta(0, "lo"),
        PartEnd(0),
        Finish(Stop.SEQUENCE),
        UsageReport(Usage(input=25, output=15)),
        End(),
    ]


def test_counts_are_running_totals_and_input_includes_the_cache() -> None:
    head = {"usage": {"input_tokens": 25, "cache_read_input_tokens": 100, "output_tokens": 1}}
    found = read(
        event("message_start", message=head),
        finish("end_turn", output_tokens=15, cache_creation_input_tokens=7),
        STOP,
    )
    assert found[2] == UsageReport(Usage(input=132, output=15, cached=100, cache_written=7))


def test_a_call() -> None:
    assert parts(
        begin(1, type="tool_use", id="toolu_1", name="f", input={}),
        delta(1, type="input_json_delta", partial_json=""),
        delta(1, type="input_json_delta", partial_json='{"a":'),
        delta(1, type="input_json_delta", partial_json="1}"),
        end(1),
    ) == [
        PartStart(0, Call("toolu_1", "f")),
        Delta(0, '{"a":'),
        Delta(0, "1}"),
        PartEnd(0),
    ]


@pytest.mark.parametrize("given_as", [{"a": 1}, '{"a":1}'])
def test_an_input_that_is_whole_at_once(given_as: Any) -> None:
    start = begin(0, type="tool_use", id="t", name="f", input=given_as)
    assert parts(start, end(0)) == [PartStart(0, Call("t", "f")), Delta(0, '{"a":1}'), PartEnd(0)]
    both = parts(start, delta(0, type="input_json_delta", partial_json='{"a":1}'), end(0))
    assert both == [PartStart(0, Call("t", "f")), Delta(0, '{"a":1}'), PartEnd(0)]


def test_signed_thinking_is_whole_at_its_end() -> None:
    assert parts(
        begin(0, type="thinking", thinking="", signature=""),
        delta(0, type="thinking_delta", thinking="a"),
        delta(0, type="thinking_delta", thinking="b"),
        delta(0, type="signature_delta", signature="c2ln"),
        end(0),
    ) == [
        PartStart(0, Thinking()),
        Delta(0, "a"),
        Delta(0, "b"),
        PartEnd(0, Thinking("ab", signature="c2ln", origin="messages")),
    ]


def test_thinking_without_a_signature_is_unsigned() -> None:
    found = parts(
        begin(0, type="thinking", thinking=""),
        delta(0, type="thinking_delta", thinking="a"),
        end(0),
    )
    assert found == [PartStart(0, Thinking()), Delta(0, "a"), PartEnd(0)]


def test_redacted_thinking() -> None:
    assert parts(begin(0, type="redacted_thinking", data="x"), end(0)) == [
        PartStart(0, Thinking(redacted="x", origin="messages")),
        PartEnd(0),
    ]


def test_server_tools_are_no_calls_of_the_client() -> None:
    block = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}}
    assert parts(
        begin(0, **block), delta(0, type="input_json_delta", partial_json='{"q":1}'), end(0)
    ) == [PartStart(0, Opaque("messages", block)), PartEnd(0)]


def test_citations_come_with_the_end() -> None:
    cited = {"type": "char_location", "cited_text": "x"}
    found = parts(
        begin(0, type="text", text=""),
        delta(0, type="text_delta", text="a"),
        delta(0, type="citations_delta", citation=cited),
        end(0),
    )
    assert found[-1] == PartEnd(0, Text("a", citations=Opaque("messages", [cited])))


def test_what_is_new_or_missing_does_no_harm() -> None:
    assert parts(
        event("something_new", index=0),
        delta(0, type="text_delta", text="a"),
        delta(0, type="new_delta", news=1),
        delta(7, type="input_json_delta", partial_json="{}"),
        delta(9, type="signature_delta", signature="s"),
        end(5),
        Event(b"[DONE]"),
        Event(None),
    ) == [PartStart(0, Text("")), Delta(0, "a"), PartEnd(0)]


def test_a_second_start_means_nothing() -> None:
    assert parts(START) == []


def test_a_block_that_nobody_ends_is_ended() -> None:
    assert parts(begin(0, type="text", text="a"), begin(0, type="text", text="b")) == [
        PartStart(0, Text("")),
        Delta(0, "a"),
        PartEnd(0),
        PartStart(1, Text("")),
        Delta(1, "b"),
        PartEnd(1),
    ]


def test_a_stop_without_a_reason_is_complete() -> None:
    assert read(START, STOP)[1:] == [Finish(Stop.DONE), End()]


def test_a_reason_without_a_stop_is_complete() -> None:
    found = read(START, finish("max_tokens", output_tokens=1))
    assert found[1:] == [Finish(Stop.LENGTH), UsageReport(Usage(input=25, output=1)), End()]


@pytest.mark.parametrize("events", [[], [START], [START, begin(0, type="text", text="a")]])
def test_a_stream_that_breaks_off_fails(events: list[Event]) -> None:
    last = read(*events)[-1]
    assert isinstance(last, StreamFailure)
    assert "broke off" in last.failure.message


@pytest.mark.parametrize(
    ("data", "status", "message"),
    [
        (b'{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}', 529, "Busy"),
        (b'{"error":{"type":"api_error","message":"Oops"}}', 500, "Oops"),
        (b'{"type":"error","error":"text"}', 500, "text"),
        (b'{"type":"error","error":null}', 500, "the upstream's stream failed"),
        (b'{"type":"content_block_delta","delta":7}', 502, "content_block_delta"),
        (b"{broken", 502, "no event"),
    ],
)
def test_errors_and_nonsense_end_the_stream(data: bytes, status: int, message: str) -> None:
    found = read(START, Event(data), delta(0, type="text_delta", text="late"), STOP)
    failure = found[-1]
    assert isinstance(failure, StreamFailure) and len(found) == 2
    assert message in failure.failure.message
    assert failure.failure.status == status


def test_lone_surrogates_and_long_numbers_survive() -> None:
    text = Event(
        b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\\ud83d"}}'
    )
    start = Event(
        b'{"type":"content_block_start","index":0,"content_block":'
        b'{"type":"tool_use","id":"t","name":"f","input":{"n":1.0,"i":12345678901234567890123}}}'
    )
    assert parts(text)[1] == Delta(0, "\ud83d")
    assert parts(start)[1] == Delta(0, '{"n":1.0,"i":12345678901234567890123}')


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["type", "index", "delta", "content_block", "message", "usage", "error", "text"]
            ),
            inner
            | st.sampled_from(
                ["message_start", "content_block_start", "tool_use", "text", "text_delta"]
            ),
            max_size=4,
        )
    ),
    max_leaves=8,
)
KINDS = st.sampled_from(
    [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "error",
        "new",
    ]
)


@given(
    st.lists(
        st.tuples(
            KINDS,
            st.dictionaries(
                st.sampled_from(["index", "delta", "content_block", "message", "usage", "error"]),
                JSON,
            ),
        ),
        max_size=6,
    )
)
def test_whatever_an_upstream_sends_is_read(pairs: list[tuple[str, dict[str, Any]]]) -> None:
    events = [event(kind, **fields) for kind, fields in pairs]
    found = read(*events)
    assert sum(isinstance(neutral, End | StreamFailure) for neutral in found) == 1
    assert isinstance(found[-1], End | StreamFailure)
    repair = CODEC.stream_repair()
    repaired = [*repair.feed(events), *repair.close()]
    assert repair.finished
    last = read(*repaired)[-1]
    assert isinstance(last, End | StreamFailure)
