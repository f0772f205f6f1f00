"""Citations of the text of a Responses stream."""

from __future__ import annotations

from typing import Any

import pytest

from tests.proxy.protocols.responses.streaming import stream, types, write
from tests.proxy.protocols.responses.wire_events import completed, created, event, read_all, wire
from toolwire.proxy.protocols.neutral import Delta, Opaque, Part, PartEnd, PartStart, Text

NOTE = {
    "type": "url_citation",
    "start_index": 0,
    "end_index": 2,
    "url": "https://x/",
    "title": "X",
}
CITED = Text("Hi", citations=Opaque("responses", [NOTE]))
AT = {"output_index": 0, "content_index": 0}
ADDED = event("response.output_text.annotation.added", **AT, annotation_index=0, annotation=NOTE)
DELTA = event("response.output_text.delta", **AT, delta="Hi")


def done(*annotations: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": "Hi", "annotations": [*annotations]}]
    item = {"id": "msg_1", "type": "message", "role": "assistant", "content": content}
    return event("response.output_item.done", output_index=0, item=item)


# -------------------------------------------------------------------------------------- read
@pytest.mark.parametrize(
    "documents",
    [
        [DELTA, ADDED, done(NOTE), completed([])],
        [DELTA, ADDED, done(), completed([])],
        [DELTA, done(NOTE), completed([])],
        [DELTA, ADDED, completed([])],
    ],
    ids=["told and repeated", "told alone", "at the end alone", "told, and no end"],
)
def test_citations_are_read_once(documents: list[dict[str, Any]]) -> None:
    ends = [e.part for e in read_all(wire([created(), *documents])) if isinstance(e, PartEnd)]
    assert ends == [CITED]


def test_what_is_no_citation() -> None:
    odd = [{**ADDED, "annotation": "x"}, {**ADDED, "content_index": 7}, {**ADDED, "annotation": {}}]
    events = read_all(wire([created(), *odd, DELTA, *odd, completed([])]))
    ends: list[Part | None] = [e.part for e in events if isinstance(e, PartEnd)]
    assert ends == [None]


# ------------------------------------------------------------------------------------- write
def test_citations_are_told_before_the_text_is_done() -> None:
    documents = write(stream([PartStart(0, Text("")), Delta(0, "Hi"), PartEnd(0, CITED)]))
    assert types(documents)[4:9] == [
        "response.output_text.delta",
        "response.output_text.annotation.added",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
    ]
    assert documents[5] | {"annotation_index": 0, "annotation": NOTE} == documents[5]
    for whole in (documents[7]["part"], documents[-1]["response"]["output"][0]["content"][0]):
        assert whole["annotations"] == [NOTE]
