"""Citations of a message: their places count from the beginning of its whole ``content``.

https://platform.openai.com/docs/api-reference/chat/object (``message.annotations``)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolwire.proxy.protocols.citations import URL, url_citations
from toolwire.proxy.protocols.neutral import Losses, Opaque, Text

Annotation = dict[str, Any]

_AT = "choices[0].message.annotations"


def read_annotations(value: Any, start: int = 0) -> Opaque | None:
    """Those of a text that begins at ``start``; None where there are none."""
    if not isinstance(value, list) or not value:
        return None
    return Opaque("chat", [_moved(note, -start) for note in value] if start else value)


def write_annotations(texts: Iterable[Text], losses: Losses, start: int = 0) -> list[Annotation]:
    """Those of ``texts``, which follow each other from ``start`` on."""
    written: list[Annotation] = []
    for text in texts:
        for found in url_citations(text, _AT, losses):
            fields = {name: value for name, value in found.items() if name != "type"}
            written.append(_moved({"type": URL, URL: fields}, start))
        start += len(text.text)
    return written


class StreamAnnotations:
    """Those of a stream's texts, which end one after the other.

    They are told together, in one delta: the JavaScript SDK keeps the last list that it was told,
    and the Python SDK adds up none whose entries do not bear an ``index``.
    """

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._start = 0
        self._owed: list[Annotation] = []

    def add(self, text: Text, length: int) -> None:
        """Those of a ``text`` of which ``length`` characters were told."""
        self._owed += write_annotations([text], self._losses, self._start)
        self._start += length

    def delta(self) -> dict[str, Any] | None:
        """The delta that tells them, where there are some."""
        owed, self._owed = self._owed, []
        return {"annotations": owed} if owed else None


def _moved(note: Any, by: int) -> Any:
    place = note.get(URL) if isinstance(note, dict) else None
    if not by or not isinstance(place, dict):
        return note
    ends = {
        name: place[name] + by
        for name in ("start_index", "end_index")
        if type(place.get(name)) is int
    }
    return {**note, URL: {**place, **ends}}
