"""Citations of the text of a chat stream."""

from __future__ import annotations

from typing import Any

from tests.proxy.protocols.chat.chunks import DONE, call, chunk
from tests.proxy.protocols.chat.test_stream_reader import read
from tests.proxy.protocols.chat.test_stream_writer import START, write
from toolwire.proxy.protocols.neutral import (
    Delta,
    End,
    Finish,
    Opaque,
    Part,
    PartEnd,
    PartStart,
    Stop,
    StreamEvent,
    Text,
)


def note(start: int, end: int) -> dict[str, Any]:
    place = {"start_index": start, "end_index": end, "url": "https://x/", "title": "X"}
    return {"type": "url_citation", "url_citation": place}


def cited(text: str, *notes: Any) -> Text:
    return Text(text, citations=Opaque("chat", list(notes)))


# -------------------------------------------------------------------------------------- read
def ends(*deltas: dict[str, Any]) -> list[Part | None]:
    """What the ends of the parts tell."""
    events = read(*[chunk(delta) for delta in deltas], chunk({}, "stop"), DONE)
    return [event.part for event in events if isinstance(event, PartEnd)]


def test_citations_stand_in_the_text_that_they_are_of() -> None:
    """Their places are counted from its beginning."""
    assert ends(
        {"annotations": [note(0, 1)]},
        {"content": "One"},
        {"annotations": [note(0, 3)]},
        {"reasoning_content": "h"},
        {"content": "Two", "annotations": [note(3, 6)]},
    ) == [cited("One", note(0, 1), note(0, 3)), None, cited("Two", note(0, 3))]


def test_citations_that_no_text_follows_stand_in_an_empty_one() -> None:
    delta = call(0, id="c", name="f", arguments="{}")["choices"][0]["delta"]
    assert ends({"content": "One"}, delta, {"annotations": [note(0, 3)]}) == [
        None,
        None,
        cited("", note(-3, 0)),
    ]


def test_what_is_no_citation() -> None:
    odd: list[Any] = ["x", {"type": "url_citation"}]
    assert ends({"content": "a", "annotations": "x"}, {"content": "b", "annotations": odd}) == [
        cited("ab", *odd)
    ]


# ------------------------------------------------------------------------------------- write
def told(*events: StreamEvent) -> list[Any]:
    """The deltas, but those of the role and of the finish."""
    return [
        choice["delta"]
        for document in write(START, *events, Finish(Stop.DONE), End())
        if isinstance(document, dict)
        for choice in document["choices"]
    ][1:-1]


def spoken(key: int, text: str, whole: Text | None = None) -> list[StreamEvent]:
    return [PartStart(key, Text("")), Delta(key, text), PartEnd(key, whole)]


def test_citations_count_from_the_beginning_of_all_text() -> None:
    assert told(*spoken(0, "One"), *spoken(1, "Two", cited("Two", note(0, 3)))) == [
        {"content": "One"},
        {"content": "Two"},
        {"annotations": [note(3, 6)]},
    ]


def test_all_citations_are_told_in_one_delta() -> None:
    """For SDKs that add up no lists."""
    one, two = cited("One", note(0, 3)), cited("Two", note(0, 3), note(1, 2))
    assert told(*spoken(0, "One", one), *spoken(1, "Two", two)) == [
        {"content": "One"},
        {"content": "Two"},
        {"annotations": [note(0, 3), note(3, 6), note(4, 5)]},
    ]
