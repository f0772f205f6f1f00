"""Reads of any size and split come out as the same whole events."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from toolwire.proxy.protocols import sse
from toolwire.proxy.protocols.sse import Decoder, Event, encode

STREAM = (
    b"\xef\xbb\xbf: a comment\n\n"  # a byte order mark, then a comment
    b'data: {"a":1}\n\n'
    b"event: named\ndata:no space\n\n"
    b"data: two\ndata: lines\n\n"
    b"\n\n"  # more blank lines than needed
    b"data: crlf\r\n\r\n"
    b"data: cr \xc3\xa9\r\r"
    b"id: 7\nretry: 10\ndata: with id\n\n"
    b"event: nothing\n\n"
    b"data\n\n"
    b"data: left without its blank line"
)
EVENTS = [
    (None, None),
    (None, b'{"a":1}'),
    ("named", b"no space"),
    (None, b"two\nlines"),
    (None, b"crlf"),
    (None, "cr é".encode()),
    (None, b"with id"),
    (None, b""),
    (None, b"left without its blank line"),
]


def decoded(pieces: list[bytes]) -> list[Event]:
    decoder = Decoder()
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return events + decoder.flush()


def meant(events: list[Event]) -> list[tuple[str | None, bytes | None]]:
    return [(event.name, event.data) for event in events]


def test_one_read() -> None:
    assert meant(decoded([STREAM])) == EVENTS


@given(st.lists(st.integers(0, len(STREAM))))
def test_split_anywhere(cuts: list[int]) -> None:
    borders = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[a:b] for a, b in pairwise(borders)]
    assert meant(decoded(pieces)) == EVENTS


def test_byte_by_byte() -> None:
    assert meant(decoded([bytes([byte]) for byte in STREAM])) == EVENTS


@given(st.binary())
def test_any_bytes_are_taken(data: bytes) -> None:
    whole = meant(decoded([data]))
    assert meant(decoded([data[: len(data) // 2], data[len(data) // 2 :]])) == whole


def test_an_event_is_given_with_its_last_byte() -> None:
    decoder = Decoder()
    assert decoder.feed(b"data: 1\n") == []
    assert meant(decoder.feed(b"\n")) == [(None, b"1")]


def test_a_carriage_return_is_not_waited_for() -> None:
    decoder = Decoder()
    assert meant(decoder.feed(b"data: 1\r\r")) == [(None, b"1")]
    assert decoder.feed(b"\n") == []  # it was the second half of a CRLF
    assert meant(decoder.feed(b"data: 2\r\n\r\n")) == [(None, b"2")]


@given(st.sampled_from([b"data: 1\n\n", b"event: x\ndata: 1\n\n", b"data: 1\r\n\r\n", b": c\n\n"]))
def test_untouched_events_keep_their_bytes(raw: bytes) -> None:
    assert encode(decoded([raw, raw])) == raw + raw


def test_changed_events_are_written_anew() -> None:
    assert Event(b"1").encode() == b"data: 1\n\n"
    assert Event(b"1", "ping").encode() == b"event: ping\ndata: 1\n\n"
    assert Event(b"1\n2").encode() == b"data: 1\ndata: 2\n\n"
    assert encode([Event(b"1"), *decoded([b"data: 2\n\n"])]) == b"data: 1\n\ndata: 2\n\n"
    assert sse.comment().encode() == b":\n\n"
    assert sse.comment("alive").encode() == b": alive\n\n"


def test_an_outsized_event_is_refused(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 1000)
    decoder = Decoder()
    try:
        for _ in range(100):
            decoder.feed(b"data: " + b"x" * 100)
    except ValueError as error:
        assert "1000 bytes" in str(error)
    else:
        raise AssertionError("it was taken")


def test_json_without_a_field_is_data() -> None:
    error = b'{"error": {"message": "no"}}'
    assert meant(decoded([error])) == [(None, error)]
    assert meant(decoded([error + b"\n\n"])) == [(None, error)]
    assert meant(decoded([b"<html>\n\n", b"words"])) == []
