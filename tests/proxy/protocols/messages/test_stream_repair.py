"""Streams of Messages upstreams that are not quite what the protocol says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.proxy.protocols.messages.streams import assembled, documents, event
from toolwire.proxy.protocols.messages import CODEC
from toolwire.proxy.protocols.neutral import Failure, Usage
from toolwire.proxy.protocols.sse import Decoder, Event, comment, encode

HEAD: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 12, "output_tokens": 3, "unknown": 1},
    "unknown": {"kept": True},
}
TEXT = [
    event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    event("content_block_delta", index=0, delta={"type": "text_delta", "text": "5 C"}),
    event("content_block_stop", index=0),
]
CALL = [
    event(
        "content_block_start",
        index=0,
        content_block={"type": "tool_use", "id": "t", "name": "f", "input": {}},
    ),
    event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": "{}"}),
    event("content_block_stop", index=0),
]


def start(**changes: Any) -> Event:
    message = {n: v for n, v in {**HEAD, **changes}.items() if v is not ...}
    return event("message_start", message=message)


def finish(reason: str | None = "end_turn", sequence: str | None = None) -> Event:
    delta = {"stop_reason": reason, "stop_sequence": sequence}
    return event("message_delta", delta=delta, usage={"output_tokens": 9})


STOP = event("message_stop")


def fed(*events: Event) -> tuple[list[Event], dict[str, int]]:
    repair = CODEC.stream_repair()
    out = [*repair.feed(list(events)), *repair.close()]
    assert repair.finished
    return out, dict(repair.repairs)


def test_a_right_stream_passes_as_it_came() -> None:
    events = [
        start(),
        event("ping"),
        comment("keep-alive"),
        *TEXT,
        event("new", x=1),
        finish(),
        STOP,
        comment(),
    ]
    repair = CODEC.stream_repair()
    out = repair.feed(events)
    assert all(left is right for left, right in zip(out, events, strict=True))
    assert encode(out) == encode(events)
    assert (dict(repair.repairs), repair.close()) == ({}, [])
    assert repair.usage == Usage(input=12, output=9)


@pytest.mark.parametrize("data", [b"7", b"{}", b'{"type":null}', b'{"type":"newer"}'])
def test_what_is_not_known_passes(data: bytes) -> None:
    unknown = Event(data, "newer")
    out, repairs = fed(start(), unknown, finish(), STOP)
    assert out[1] is unknown
    assert repairs == {}


def test_event_lines_are_added() -> None:
    events = [start(), *TEXT, finish(), STOP]
    bare = [
        Event(event.data, None if place % 2 else "message") for place, event in enumerate(events)
    ]
    out, repairs = fed(*bare)
    assert [(event.name, event.data) for event in out] == [(e.name, e.data) for e in events]
    assert repairs == {"event_name_added": 6}


def test_a_stray_done_is_dropped() -> None:
    before, after = [start(), Event(b"[DONE]"), *TEXT, finish()], [STOP, Event(b"[DONE]", "data")]
    out, repairs = fed(*before, *after)
    assert out == [start(), *TEXT, finish(), STOP]
    assert repairs == {"done_dropped": 1, "dropped_after_the_end": 1}


def test_a_missing_signature_is_added_and_the_rest_is_kept() -> None:
    thinking = [
        Event(
            b'{"index":0,"type":"content_block_start","x":1.0,'
            b'"content_block":{"type":"thinking","thinking":""}}',
            "content_block_start",
        ),
        event("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "hm"}),
        event("content_block_stop", index=0),
    ]
    out, repairs = fed(start(), *thinking, finish(), STOP)
    assert out[1].data == (
        b'{"index":0,"type":"content_block_start","x":1.0,'
        b'"content_block":{"type":"thinking","thinking":"","signature":""}}'
    )
    assert assembled(out)["content"] == [{"type": "thinking", "thinking": "hm", "signature": ""}]
    assert repairs == {"signature_added": 1}


def test_the_head_is_completed() -> None:
    out, repairs = fed(
        start(stop_reason=..., stop_sequence=..., usage={"input_tokens": 3}), *TEXT, finish(), STOP
    )
    assert documents(out)[0]["message"] == {
        **HEAD,
        "usage": {"input_tokens": 3, "output_tokens": 0},
    }
    assert repairs == {"message_fields_added": 2, "usage_added": 1}


@pytest.mark.parametrize(
    ("block", "sequence", "reason"), [(CALL, None, "tool_use"), (TEXT, "END", "stop_sequence")]
)
def test_the_reason_is_corrected(block: list[Event], sequence: str | None, reason: str) -> None:
    out, repairs = fed(start(), *block, finish("end_turn", sequence), STOP)
    assert assembled(out)["stop_reason"] == reason
    assert repairs == {"stop_reason_corrected": 1}
    assert fed(start(), *CALL, finish("max_tokens"), STOP)[1] == {}


@pytest.mark.parametrize("changes", [{"content": None}, {"stop_reason": ""}])
def test_a_head_with_fields_of_a_wrong_kind(changes: dict[str, Any]) -> None:
    out, repairs = fed(start(**changes), *TEXT, finish(), STOP)
    assert documents(out)[0]["message"] == HEAD
    assert repairs == {"message_fields_added": 1}


def test_two_calls_of_one_id_get_another() -> None:
    second = [
        event(document.pop("type"), **{**document, "index": 1}) for document in documents(CALL)
    ]
    out, repairs = fed(start(), *CALL, *second, finish("tool_use"), STOP)
    first, other = assembled(out)["content"]
    assert first["id"] == "t" != other["id"]
    assert repairs == {"tool_id_doubled": 1}


def test_an_end_for_calls_that_are_not_there_is_a_plain_one() -> None:
    out, repairs = fed(start(), *TEXT, finish("tool_use"), STOP)
    assert assembled(out)["stop_reason"] == "end_turn"
    assert repairs == {"stop_reason_corrected": 1}


def test_a_reason_that_never_came_is_added() -> None:
    out, repairs = fed(start(), *CALL, STOP)
    assert assembled(out)["stop_reason"] == "tool_use"
    assert repairs == {"stop_reason_added": 1}


def test_counts_that_are_missing_are_added() -> None:
    bare = event("message_delta", delta={"stop_reason": "end_turn"})
    out, repairs = fed(start(), *TEXT, bare, STOP)
    assert documents(out)[-2] == {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 3},
    }
    assert repairs == {"stop_sequence_added": 1, "usage_added": 1}


def test_a_stream_with_its_reason_is_complete() -> None:
    out, repairs = fed(start(), *TEXT, finish())
    assert assembled(out)["stop_reason"] == "end_turn"
    assert repairs == {"message_stop_added": 1}


@pytest.mark.parametrize("events", [[], [start()], [start(), *TEXT], [start(), *CALL]])
def test_a_stream_that_breaks_off_says_so(events: list[Event]) -> None:
    out, repairs = fed(*events)
    assert out[:-1] == events
    assert "broke off" in documents(out)[-1]["error"]["message"]
    assert out[-1].name == "error"
    assert repairs == {"error_added": 1}


def test_how_it_broke_off_is_told_where_it_is_known() -> None:
    repair = CODEC.stream_repair()
    repair.feed([start()])
    (error,) = documents(repair.close(Failure(504, "no byte for 60 s", kind="timeout")))
    assert error["error"] == {"type": "timeout_error", "message": "no byte for 60 s"}
    assert repair.close() == []


def test_an_error_passes_and_nothing_follows() -> None:
    error = event("error", error={"type": "overloaded_error", "message": "Busy", "details": None})
    out, repairs = fed(start(), error, *TEXT, finish(), STOP)
    assert out == [start(), error]
    assert out[1] is error
    assert repairs == {"dropped_after_the_end": 5}


@pytest.mark.parametrize(
    "data",
    [
        b'{"error":{"message":"Busy","type":"server_error","code":null}}',
        b'{"type":"error","error":"Busy"}',
        b'{"type":"error","message":"Busy"}',
        b'{"type":"new","error":{"message":"Busy"}}',
    ],
)
def test_an_error_of_another_shape_is_told_in_this_ones(data: bytes) -> None:
    out, _ = fed(start(), Event(data))
    assert [event.name for event in out] == ["message_start", "error"]
    told = documents(out)[1]
    assert told["error"]["type"] == "api_error"
    assert told["error"]["message"] == "Busy"


def test_an_event_that_is_no_json_ends_the_stream() -> None:
    out, _ = fed(start(), Event(b'{"type":"message_delta","del', "message_delta"), STOP)
    assert [event.name for event in out] == ["message_start", "error"]


@given(st.data())
def test_however_the_network_cuts_a_stream_the_bytes_are_the_same(data: st.DataObject) -> None:
    second = [event(doc["type"], **{**doc, "index": 1}) for doc in documents(TEXT)]
    raw = encode([start(), *TEXT, *second, finish(), STOP])
    cuts = sorted(data.draw(st.sets(st.integers(1, len(raw) - 1), max_size=6)))
    decoder, repair = Decoder(), CODEC.stream_repair()
    out = [
        repaired
        for begin, end in zip([0, *cuts], [*cuts, len(raw)], strict=True)
        for repaired in repair.feed(decoder.feed(raw[begin:end]))
    ]
    assert encode(out) == raw
    assert json.loads(out[-1].data or b"") == {"type": "message_stop"}
