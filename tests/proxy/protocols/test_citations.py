"""Citations of an answer, from one protocol to another."""

from __future__ import annotations

from typing import Any

import pytest

from toolwire.proxy.protocols.citations import url_citations
from toolwire.proxy.protocols.neutral import Losses, Opaque, Protocol, Text

PLACE = {"start_index": 0, "end_index": 2, "url": "https://x/", "title": "X"}
FLAT = {"type": "url_citation", **PLACE}
NESTED = {"type": "url_citation", "url_citation": PLACE}
FOUND = {
    "type": "web_search_result_location",
    "url": "https://x/",
    "title": "X",
    "cited_text": "…",
    "encrypted_index": "E",
}
WHOLE = {**FLAT, "end_index": 4}


def told(upstream: Protocol, *citations: Any, text: str = "text") -> tuple[Any, list[str]]:
    """What is told of the citations of ``text``, and what is lost."""
    losses = Losses()
    found = url_citations(Text(text, citations=Opaque(upstream, list(citations))), "here", losses)
    return found, [f"{loss.kind} {loss.path}" for loss in losses.entries]


@pytest.mark.parametrize(
    ("citation", "expected"),
    [
        (NESTED, FLAT),
        (FLAT, FLAT),
        ({**FLAT, "content": "own"}, {**FLAT, "content": "own"}),
        ({"type": "url_citation", "url": "https://x/"}, {**WHOLE, "title": "https://x/"}),
    ],
)
def test_citations_of_pages(citation: Any, expected: Any) -> None:
    """xAI tells neither title nor place."""
    assert told("chat", citation) == ([expected], [])


@pytest.mark.parametrize("title", ["X", None])
def test_what_a_search_found_lacks_its_words(title: str | None) -> None:
    expected = {**WHOLE, "title": title or "https://x/"}
    assert told("messages", {**FOUND, "title": title}) == ([expected], ["coerced here"])


@pytest.mark.parametrize(
    ("upstream", "citation"),
    [
        ("chat", {"type": "file", "file": {}}),
        ("chat", {"type": "url_citation", "url_citation": {"url": 1}}),
        ("chat", {"type": "url_citation", "url_citation": {**PLACE, "start_index": -1}}),
        ("chat", "text"),
        ("responses", {"type": "file_citation", "file_id": "f", "filename": "n"}),
        ("messages", {"type": "char_location", "document_index": 0}),
        ("messages", {"type": "search_result_location", "source": "https://x/"}),
    ],
)
def test_what_is_no_page_is_reported(upstream: Protocol, citation: Any) -> None:
    assert told(upstream, citation) == ([], ["dropped here"])
    assert told("chat", citation, NESTED) == ([FLAT], ["dropped here"])


def test_there_is_no_citation_of_no_text() -> None:
    assert told("chat", NESTED, text="") == ([], ["dropped here"])


def test_a_text_without_citations() -> None:
    losses = Losses()
    assert url_citations(Text("text"), "here", losses) == []
    assert losses.entries == []
