from __future__ import annotations

from typing import Any

import pytest

from tests.proxy.protocols.responses.wire_events import (
    CALL,
    MESSAGE,
    call_events,
    completed,
    created,
    event,
    message_events,
    read_all,
    whole_stream,
    wire,
)
from toolwire.proxy.protocols.neutral import (
    Call,
    Delta,
    End,
    Failure,
    Finish,
    Opaque,
    PartEnd,
    PartStart,
    Ping,
    Refusal,
    Start,
    Stop,
    StreamFailure,
    Text,
    Thinking,
    Usage,
    UsageReport,
)
from toolwire.proxy.protocols.responses import CODEC
from toolwire.proxy.protocols.sse import Event

START = Start("resp_u1", "demo-model", created=1700000000)
USED = UsageReport(Usage(input=12, output=3, cached=5, cache_written=2, reasoning=1))


def read(*documents: dict[str, Any]) -> list[Any]:
    """What the reader makes of a stream between its start and its end."""
    events = read_all(wire([created(), *documents]))
    assert events[0] == START
    return events[1:]


def test_text_and_call() -> None:
    assert read_all(wire(whole_stream())) == [
        START,
        PartStart(0, Text("")),
        Delta(0, "Hel"),
        Delta(0, "lo"),
        PartEnd(0, Text("Hello")),
        PartStart(1, Call("call_1", "get_weather")),
        Delta(1, '{"city":'),
        Delta(1, '"Oslo"}'),
        PartEnd(1, Call("call_1", "get_weather", '{"city":"Oslo"}')),
        USED,
        Finish(Stop.CALLS),
        End(),
    ]


def test_calls_told_several_times_are_not_doubled() -> None:
    told = read(*call_events(0), *call_events(0), completed([CALL]))

    assert [type(found) for found in told].count(PartStart) == 1
    assert [found.text for found in told if isinstance(found, Delta)] == ['{"city":', '"Oslo"}']


def test_arguments_that_come_in_the_end_only() -> None:
    added, *_, done, item = call_events(0)

    by_done = read(added, done, item, completed([CALL]))
    by_item = read(added, item, completed([CALL]))
    by_response = read(completed([CALL]))

    for told in (by_done, by_item, by_response):
        assert told == [
            PartStart(0, Call("call_1", "get_weather")),
            Delta(0, '{"city":"Oslo"}'),
            PartEnd(0, Call("call_1", "get_weather", '{"city":"Oslo"}')),
            USED,
            Finish(Stop.CALLS),
            End(),
        ]


def test_arguments_of_which_the_end_is_told_last() -> None:
    added, first, _, done, item = call_events(0)

    told = read(added, first, done, item, completed([CALL]))

    assert [found.text for found in told if isinstance(found, Delta)] == ['{"city":', '"Oslo"}']


def test_deltas_are_right_where_the_whole_differs() -> None:
    added, first, second, done, item = call_events(0)
    other = {**item, "item": {**CALL, "arguments": '{"city":"Rome"}'}}

    told = read(added, first, second, done, other, completed([CALL]))

    assert told[3] == PartEnd(0, Call("call_1", "get_weather", '{"city":"Oslo"}'))


def test_parts_open_side_by_side() -> None:
    text, call = message_events(0), call_events(1)
    told = read(*text[:3], *call[:2], text[3], *call[2:], *text[4:], completed([MESSAGE, CALL]))

    assert [found.key for found in told if isinstance(found, Delta)] == [0, 1, 0, 1]
    assert told[-2] == Finish(Stop.CALLS)


@pytest.mark.parametrize(
    ("stem", "index", "field", "summary"),
    [
        ("response.reasoning_summary_text", "summary_index", "summary", True),
        ("response.reasoning_text", "content_index", "content", False),
    ],
)
def test_reasoning(stem: str, index: str, field: str, summary: bool) -> None:
    item = {"id": "rs_1", "type": "reasoning", "summary": [], field: []}
    kind = "summary_text" if summary else "reasoning_text"
    whole = {**item, field: [{"type": kind, "text": "One."}, {"type": kind, "text": "Two."}]}
    place = {"item_id": "rs_1", "output_index": 0}

    told = read(
        event("response.output_item.added", output_index=0, item=item),
        event(f"{stem}.delta", **place, **{index: 0}, delta="One."),
        event(f"{stem}.done", **place, **{index: 0}, text="One."),
        event(f"{stem}.delta", **place, **{index: 1}, delta="Two."),
        event(f"{stem}.done", **place, **{index: 1}, text="Two."),
        event(
            "response.output_item.done",
            output_index=0,
            item={**whole, "encrypted_content": "gAAA"},
        ),
        completed([whole]),
    )

    thought = Thinking(
        "One.\n\nTwo.", encrypted="gAAA", origin="responses", id="rs_1", summary=summary
    )
    assert told == [
        PartStart(0, Thinking(summary=summary)),
        Delta(0, "One."),
        Delta(0, "\n\n"),
        Delta(0, "Two."),
        PartEnd(0, thought),
        USED,
        Finish(Stop.DONE),
        End(),
    ]


def test_empty_reasoning_leaves_nothing_behind() -> None:
    item = {"id": "rs_1", "type": "reasoning", "summary": []}

    told = read(
        event("response.output_item.added", output_index=0, item=item),
        event("response.output_item.done", output_index=0, item=item),
        *message_events(1),
        completed([item, MESSAGE]),
    )

    assert [found.part for found in told if isinstance(found, PartStart)] == [Text("")]


def test_a_refusal() -> None:
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    item = {**MESSAGE, "content": [{"type": "refusal", "refusal": "no"}]}

    told = read(
        event("response.refusal.delta", **place, delta="no"),
        event("response.refusal.done", **place, refusal="no"),
        event("response.output_item.done", output_index=0, item=item),
        completed([item]),
    )

    assert told == [
        PartStart(0, Refusal("")),
        Delta(0, "no"),
        PartEnd(0, Refusal("no")),
        USED,
        Finish(Stop.FILTERED),
        End(),
    ]


def test_a_free_form_call() -> None:
    item = {"id": "ctc_1", "type": "custom_tool_call", "call_id": "c", "name": "patch"}
    place = {"item_id": "ctc_1", "output_index": 0}

    told = read(
        event("response.output_item.added", output_index=0, item={**item, "input": ""}),
        event("response.custom_tool_call_input.delta", **place, delta="*** "),
        event("response.custom_tool_call_input.done", **place, input="*** Begin"),
        event("response.output_item.done", output_index=0, item={**item, "input": "*** Begin"}),
        completed([]),
    )

    assert told == [
        PartStart(0, Call("c", "patch", custom=True)),
        Delta(0, "*** "),
        Delta(0, "Begin"),
        PartEnd(0, Call("c", "patch", "*** Begin", custom=True)),
        USED,
        Finish(Stop.CALLS),
        End(),
    ]


def test_items_of_other_kinds_come_whole() -> None:
    search = {"id": "ws_1", "type": "web_search_call", "status": "completed"}

    told = read(
        event("response.output_item.added", output_index=0, item={**search, "status": "x"}),
        event("response.web_search_call.searching", output_index=0, item_id="ws_1"),
        event("response.output_item.done", output_index=0, item=search),
        completed([search]),
    )

    opaque = Opaque("responses", search)
    assert told[:2] == [PartStart(0, opaque), PartEnd(0, opaque)]


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("max_output_tokens", Stop.LENGTH),
        ("content_filter", Stop.FILTERED),
        ("something_new", Stop.LENGTH),
    ],
)
def test_incomplete(reason: str, stop: Stop) -> None:
    last = completed([MESSAGE], "incomplete", incomplete_details={"reason": reason})

    assert read(*message_events(), last)[-2:] == [Finish(stop), End()]


class TestFailures:
    def test_a_failed_response(self) -> None:
        error = {"code": "rate_limit_exceeded", "message": "Slow down"}

        told = read(*message_events()[:3], completed([], "failed", error=error))

        assert told[-1] == StreamFailure(
            Failure(429, "Slow down", kind="rate_limit", code="rate_limit_exceeded")
        )
        assert not any(isinstance(found, Finish | End) for found in told)

    @pytest.mark.parametrize(
        "error",
        [
            {"code": "insufficient_quota", "message": "No money", "param": None},
            {"error": {"code": "insufficient_quota", "message": "No money"}},
        ],
        ids=["flat", "nested"],
    )
    def test_an_error_event_in_both_forms(self, error: dict[str, Any]) -> None:
        told = read(event("error", **error), completed([MESSAGE], "failed", error=error))

        (failed,) = told
        assert failed.failure.message == "No money"
        assert (failed.failure.kind, failed.failure.code) == ("billing", "insufficient_quota")

    def test_the_error_of_a_server_that_thinks_of_chat(self) -> None:
        events = read_all([Event(b'{"error":{"message":"Boom","code":502}}'), Event(b"[DONE]")])

        (failed,) = events
        assert failed.failure.message == "Boom"

    def test_a_stream_that_breaks_off(self) -> None:
        told = read(*message_events()[:3])

        assert told[:-1] == [PartStart(0, Text("")), Delta(0, "Hel")]
        assert isinstance(told[-1], StreamFailure)
        assert "broke off" in told[-1].failure.message
        assert told[-1].failure.status == 502

    def test_nothing_comes_after_the_end(self) -> None:
        reader = CODEC.stream_reader()
        for sent in wire(whole_stream()):
            reader.read(sent)

        assert [reader.read(sent) for sent in wire(whole_stream())] == [[]] * 14
        assert reader.close() == []

    def test_what_is_no_json(self) -> None:
        (failed,) = read_all([Event(b"<html>")])

        assert isinstance(failed, StreamFailure)


def test_signs_of_life() -> None:
    assert read_all([*wire([event("keepalive", sequence_number=3)]), Event(None)])[0] == Ping()


def test_lone_surrogates_survive() -> None:
    place = b'"item_id":"m","output_index":0,"content_index":0'
    data = b'{"type":"response.output_text.delta",%b,"delta":"a\\ud83d"}' % place

    assert Delta(0, "a\ud83d") in read_all([Event(data)])
