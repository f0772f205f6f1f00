"""The text of a call's ``input`` on its way to a client, which takes a JSON object alone.

An object passes as it comes, piece by piece.  What begins otherwise is held to the end, for it may
be an object written in a string; else nothing of it goes out, which a client reads as ``{}``.
Neither does what stands behind an object, nor ``{}`` or null that held the place of one.
"""

from __future__ import annotations

from enum import Enum

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.messages.blocks_write import call_input
from toolwire.proxy.protocols.messages.object_scan import ObjectScan


class _State(Enum):
    BEFORE = "nothing but white space came"
    INSIDE = "an object began"
    WHOLE = "it is whole"
    HELD = "an empty one, or what is none"


# Bound once: before Python 3.12 it takes time to get at a member.
_BEFORE, _INSIDE, _WHOLE, _HELD = _State

_PLACEHOLDERS = ("{}", "null")


class InputText:
    """``is_odd``: something came that is no part of an object, and did not go out."""

    def __init__(self) -> None:
        self.is_odd = False
        self._state = _BEFORE
        self._held = ""
        self._scan = ObjectScan()

    def feed(self, text: str) -> str:
        """More text; what may go out now."""
        if self._state is _INSIDE:
            return self._inside(text)
        if self._state is _WHOLE:
            self.is_odd = self.is_odd or not text.isspace()
            return ""
        begins = text.lstrip()[:1]
        if begins == "{" and self._held.strip() in ("", *_PLACEHOLDERS):
            self._held = ""
            if text.strip() != "{}":
                self._state = _INSIDE
                return self._inside(text)
        self._held += text
        if begins:
            self._state = _HELD
        return ""

    def flush(self) -> str:
        """What is owed at the end."""
        if self._state is not _HELD:
            return ""
        self._state = _WHOLE
        text = _unquoted(self._held)
        self.is_odd = text is None
        return text or ""

    @property
    def has_begun(self) -> bool:
        """Whether an object did."""
        return self._state is _INSIDE or self._state is _WHOLE

    def complete(self) -> bool:
        """Whether a whole object came, as far as can be told."""
        return self._state is _WHOLE or self._held.strip() == "{}"

    def _inside(self, text: str) -> str:
        self._scan.feed(text)
        if "}" not in text or not self._scan.complete():
            return text
        self._state = _WHOLE
        end = len(text) - self._scan.rest
        self.is_odd = bool(text[end:].strip())
        return text[:end]


def _unquoted(text: str) -> str | None:
    """The object itself, or the one that is written in a string; None where there is none."""
    try:
        value = json.decode(text)
    except ValueError:
        return None
    text = value if isinstance(value, str) else text
    return text if call_input(text) is not None else None
