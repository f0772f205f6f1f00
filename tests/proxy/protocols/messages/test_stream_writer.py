"""The frame of a stream: its start, its stop reason, its counts and its errors."""

from __future__ import annotations

import pytest

from tests.proxy.protocols.messages.streams import assembled, documents
from tests.proxy.protocols.messages.writer_streams import REQUEST, kinds, message, written
from toolwire.proxy.protocols.messages import CODEC
from toolwire.proxy.protocols.neutral import (
    Call,
    Delta,
    End,
    Failure,
    Finish,
    Losses,
    Opaque,
    PartEnd,
    PartStart,
    Ping,
    Refusal,
    Start,
    Stop,
    StreamFailure,
    Text,
    Usage,
    UsageReport,
)


def test_text() -> None:
    events = written(
        Start("msg_1", "m", usage=Usage(input=12, cached=4)),
        PartStart(0, Text("")),
        Delta(0, "5 °"),
        Delta(0, 'C "now"\n'),
        PartEnd(0),
        Finish(Stop.DONE),
        UsageReport(Usage(input=12, output=7, cached=4, cache_written=2, reasoning=3)),
        End(),
    )
    assert kinds(events) == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert documents(events)[0]["message"]["usage"]["input_tokens"] == 8
    assert assembled(events) == {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": '5 °C "now"\n'}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 6,
            "cache_creation_input_tokens": 2,
            "cache_read_input_tokens": 4,
            "output_tokens": 7,
            "output_tokens_details": {"thinking_tokens": 3},
        },
    }


def test_a_delta_goes_out_at_once() -> None:
    writer = CODEC.stream_writer(REQUEST)
    writer.write(Start("msg_1", "m"))
    writer.write(PartStart(0, Text("")))
    assert kinds(writer.write(Delta(0, "a"))) == ["content_block_start", "content_block_delta"]
    assert kinds(writer.write(Delta(0, "b"))) == ["content_block_delta"]


def test_citations_are_reported_by_the_block_that_lacks_them() -> None:
    losses = Losses()
    writer = CODEC.stream_writer(REQUEST, losses)
    cited = Text("b", citations=Opaque("chat", [{"type": "url_citation"}]))
    for event in [
        Start("msg_1", "m"),
        *[PartStart(0, Text("")), Delta(0, "a"), PartEnd(0)],
        *[PartStart(1, Text("")), Delta(1, "b"), PartEnd(1, cited)],
        *[Finish(Stop.DONE), End()],
    ]:
        writer.write(event)
    assert [loss.path for loss in losses.entries] == ["content[1].citations"]


@pytest.mark.parametrize(
    ("stop", "called", "reason"),
    [
        (Stop.DONE, False, "end_turn"),
        (Stop.DONE, True, "tool_use"),
        (Stop.CALLS, False, "end_turn"),
        (Stop.LENGTH, True, "max_tokens"),
        (Stop.CONTEXT, False, "model_context_window_exceeded"),
        (Stop.FILTERED, False, "refusal"),
        (Stop.PAUSED, False, "pause_turn"),
    ],
)
def test_stop_reasons(stop: Stop, called: bool, reason: str) -> None:
    part = Call("c", "f", "{}") if called else Text("t")
    assert message(PartStart(0, part), PartEnd(0), Finish(stop))["stop_reason"] == reason


def test_the_stop_sequence_is_told() -> None:
    done = message(PartStart(0, Text("t")), Finish(Stop.SEQUENCE, "END"))
    assert (done["stop_reason"], done["stop_sequence"]) == ("stop_sequence", "END")


def test_a_refusal_is_text_that_was_refused() -> None:
    done = message(PartStart(0, Refusal("")), Delta(0, "No."), PartEnd(0), Finish(Stop.DONE))
    assert done["content"] == [{"type": "text", "text": "No."}]
    assert done["stop_reason"] == "refusal"


def test_an_end_without_a_finish_is_complete() -> None:
    assert message(PartStart(0, Call("c", "f", "{}")))["stop_reason"] == "tool_use"


def test_lone_surrogates_stay_escapes() -> None:
    events = written(PartStart(0, Text("")), Delta(0, "\ud83d"), End())
    assert b'"text":"\\ud83d"' in (events[2].data or b"")


def test_a_failure_ends_the_stream_and_nothing_looks_complete() -> None:
    failure = Failure(529, "Overloaded", kind="overloaded", type="overloaded_error")
    events = written(
        Start("m", "m"),
        PartStart(0, Text("")),
        Delta(0, "The wea"),
        StreamFailure(failure),
        Delta(0, "ther"),
        Finish(Stop.DONE),
        End(),
    )
    assert kinds(events)[-1] == "error"
    assert documents(events)[-1] == {
        "type": "error",
        "error": {"type": "overloaded_error", "message": "Overloaded"},
        "request_id": None,
    }
    assert "message_stop" not in kinds(events)


def test_a_ping_is_a_ping() -> None:
    assert documents(written(Ping())) == [{"type": "ping"}]
    assert documents([CODEC.keep_alive()]) == [{"type": "ping"}]
    assert CODEC.keep_alive().encode() == b'event: ping\ndata: {"type":"ping"}\n\n'


def test_an_empty_answer_is_complete() -> None:
    done = assembled(written(End()))
    assert (done["model"], done["content"], done["stop_reason"]) == ("asked", [], "end_turn")
    assert done["id"].startswith("msg_")
