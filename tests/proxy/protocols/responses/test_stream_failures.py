from __future__ import annotations

from typing import Any

import pytest

from tests.proxy.protocols.responses.wire_events import (
    MESSAGE,
    completed,
    created,
    event,
    message_events,
    read_all,
    whole_stream,
    wire,
)
from toolwire.proxy.protocols.neutral import (
    Delta,
    End,
    Failure,
    Finish,
    PartStart,
    Ping,
    Start,
    StreamFailure,
    Text,
)
from toolwire.proxy.protocols.responses import CODEC
from toolwire.proxy.protocols.sse import Event

START = Start("resp_u1", "demo-model", created=1700000000)


def read(*documents: dict[str, Any]) -> list[Any]:
    """What the reader makes of a stream between its start and its end."""
    events = read_all(wire([created(), *documents]))
    assert events[0] == START
    return events[1:]


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
