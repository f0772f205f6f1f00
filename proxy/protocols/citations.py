"""Citations of web pages in an answer's text, from one protocol to another.

OpenAI's two protocols say the same in two shapes (``url_citation``).  Messages cites for a whole
block, and names what its own search found by a key that nobody else can make (``encrypted_index``):
so nothing goes that way.

https://platform.openai.com/docs/guides/tools-web-search (output and citations),
https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/web-search-tool (citations)
"""

from __future__ import annotations

from typing import Any

from toolwire.proxy.protocols.neutral import Losses, Text

URL = "url_citation"

_FOUND = "web_search_result_location"

Citation = dict[str, Any]


def url_citations(text: Text, at: str, losses: Losses) -> list[Citation]:
    """The citations of ``text`` that name a page, flat as in Responses, each with all that clients'
    types demand; places are counted from the beginning of ``text``.

    What does not cross is reported of ``at``, where the client has its citations.
    """
    if text.citations is None:
        return []
    native = [note for note in text.citations.value if isinstance(note, dict)]
    cited = [found for note in native if (found := _cited(note, len(text.text))) is not None]
    if len(cited) < len(text.citations.value):
        losses.drop(at, "only citations of web pages are carried across protocols")
    if cited and text.citations.protocol == "messages":
        losses.coerce(at, "a citation of a URL has no words of the page")
    return cited


def _cited(note: Citation, length: int) -> Citation | None:
    if note.get("type") == _FOUND:
        return _located({"url": note.get("url"), "title": note.get("title")}, length)
    if note.get("type") != URL:
        return None
    nested = note.get(URL)
    return _located(nested if isinstance(nested, dict) else note, length)


def _located(fields: Citation, length: int) -> Citation | None:
    """A citation without a place is one for the whole text; there is none for another text."""
    url, title = fields.get("url"), fields.get("title")
    start, end = fields.get("start_index"), fields.get("end_index")
    if type(start) is not int or type(end) is not int:
        start, end = 0, length
    if not isinstance(url, str) or start < 0 or not length:
        return None
    place = {"start_index": start, "end_index": end}
    return {**fields, "type": URL, **place, "url": url, "title": title or url}
