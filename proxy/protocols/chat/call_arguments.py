"""One call of a stream under repair, and its arguments as they come."""

from __future__ import annotations

import re

from toolwire.proxy.errors import BadUpstreamAnswer
from toolwire.proxy.protocols.chat import oddities

PLACEHOLDERS = ("{}", "null")
"""What some upstreams send for the arguments before they send the arguments."""


class StreamedCall:
    """One call.  ``index`` is its true place, None until it has been announced with its name.

    ``doubtful``: all that was said of its arguments may only hold their place, and should wait for
    the next event; ``replaced``: it did, and must not go out.
    """

    __slots__ = (
        "custom",
        "doubtful",
        "given_id",
        "index",
        "name",
        "pieces",
        "repeats",
        "replaced",
    )

    def __init__(self, given_id: str, custom: bool) -> None:
        self.given_id = given_id
        self.custom = custom
        self.index: int | None = None
        self.name = ""
        self.pieces: list[str] = []
        self.doubtful = False
        self.replaced = False
        self.repeats = False

    def arguments(self) -> str:
        return "".join(self.pieces)

    def is_cut(self) -> bool:
        """Whether it has arguments, but not all of them."""
        arguments = self.arguments().strip()
        return bool(arguments) and not oddities.is_object(arguments)

    def is_whole(self) -> bool:
        """Whether it has all of its arguments, as far as can be told."""
        return oddities.is_object(self.arguments())

    def add(self, text: str) -> str:
        """Notes more arguments; what is new in them.

        Some upstreams say all so far again.  They are taken to do so where a piece begins with all
        that was said, and cannot be what comes next in the arguments.  Raises
        ``BadUpstreamAnswer`` for arguments after such as are whole, and out.
        """
        if self.custom or not text:
            self.pieces.append(text)
            return text
        if self.doubtful and text.lstrip()[:1] == "{":
            self.pieces.clear()
            self.replaced = True
        self.doubtful = text in PLACEHOLDERS and not any(self.pieces)
        if text[:1] == "{" and (said := self.arguments()):
            if text.startswith(said):
                self.repeats = self.repeats or not _may_follow(said, text)
                text = text[len(said) :] if self.repeats else text
            if text and said in PLACEHOLDERS:
                raise BadUpstreamAnswer("the upstream sent arguments of a call that had some")
        self.pieces.append(text)
        return text

    def owed(self) -> bool:
        """Whether it is to be said at the end that it has no arguments; it is noted as said."""
        if self.custom or self.arguments().strip():
            return False
        self.pieces.append("{}")
        return True


def _may_follow(said: str, text: str) -> bool:
    """Whether ``text``, which begins with ``{``, can come after ``said`` in one JSON object: as the
    value of an object or array, or in a string, which its first quotation mark then ends."""
    if re.sub(r"\\.", "", said).count('"') % 2:
        return text.partition('"')[2].lstrip()[:1] in ":,}]"
    return said.rstrip()[-1] in ":[,"
