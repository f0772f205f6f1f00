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
    the next event; ``replaced``: it did, and must not go out.  ``quoted``: its arguments are
    written in a string, and wait for the end.
    """

    __slots__ = (
        "custom",
        "doubtful",
        "given_id",
        "index",
        "name",
        "pieces",
        "quoted",
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
        self.quoted = False
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
        if self.quoted or (text[:1] == '"' and not any(self.pieces)):
            self.quoted = True
            self.pieces.append(text)
            return ""
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

    def is_followed_by(self, text: str) -> bool:
        """Whether ``text`` are the arguments of the next call, for its own are whole."""
        if self.custom or text[:1] != "{":
            return False
        said = self.arguments()
        return said not in PLACEHOLDERS and not text.startswith(said) and self.is_whole()

    def is_told_again(self, name: str, text: str) -> bool:
        """Whether a further head with its id is still its own: it has not all of its arguments, or
        gets no others."""
        return name == self.name and (text in ("", self.arguments()) or not self.is_whole())

    def owed(self) -> str:
        """What is still to be said of its arguments at the end, ``{}`` of none; it is noted as
        said."""
        said = self.arguments()
        if self.quoted:
            self.quoted = False
            self.pieces = [oddities.encoded_twice(said) or said]
        elif self.custom or said.strip():
            return ""
        else:
            self.pieces.append("{}")
        return self.pieces[-1]


def _may_follow(said: str, text: str) -> bool:
    """Whether ``text``, which begins with ``{``, can come after ``said`` in one JSON object: as the
    value of an object or array, or in a string, which its first quotation mark then ends."""
    if re.sub(r"\\.", "", said).count('"') % 2:
        return text.partition('"')[2].lstrip()[:1] in ":,}]"
    return said.rstrip()[-1] in ":[,"
