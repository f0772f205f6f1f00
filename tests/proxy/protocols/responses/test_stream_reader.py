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
    Finish,
    Opaque,
    PartEnd,
    PartStart,
    Refusal,
    Start,
    Stop,
    Text,
    Thinking,
    Usage,
    UsageReport,
)

START = Start("resp_u1", "demo-model", created=1700000000)


USED = UsageReport(Usage(input=12, output=3, cached=5, cache_written=2, reasoning=1))


def read(*documents: dict[str, Any]) -> list[Any]:
    """What the reader makes of a stream between its start and its end."""
    events = read_all(wire([created(), *documents]))
    assert events[0] == START
    return events[1:]


def test_text_after_its_item_was_done() -> None:
    *events, last = message_events()
    late = {**events[2], "delta": " there"}

    said = read(*events, last, late, late, last, completed([MESSAGE]))

    assert said[:-3] == [
        PartStart(0, Text("")),
        Delta(0, "Hel"),
        Delta(0, "lo"),
        PartEnd(0, Text("Hello")),
        PartStart(1, Text("")),
        Delta(1, " there"),
        Delta(1, " there"),
        PartEnd(1, Text(" there there")),
    ]


def test_text_that_only_an_end_told_is_not_said_again() -> None:
    added, _, delta, _, _, _, done = message_events()

    said = read(added, done, delta, completed([MESSAGE]))

    assert [event for event in said if isinstance(event, Delta)] == [Delta(0, "Hello")]


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


def test_what_only_the_response_says_of_an_item_that_was_never_done() -> None:
    added = event("response.output_item.added", output_index=0, item={**CALL, "arguments": ""})
    for output in ([CALL], [MESSAGE, CALL]):
        told = read(added, completed(output))
        assert told[0] == PartStart(0, Call("call_1", "get_weather"))
        assert [found.text for found in told if isinstance(found, Delta)] == ['{"city":"Oslo"}']


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
