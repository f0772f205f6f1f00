"""A value that must not be seen: keys, tokens, and URLs that hold a password."""

from __future__ import annotations

import hmac


class Secret:
    """Text that shows itself only when asked: `str`, `repr` and every dump print stars.

    It is deliberately no `str`: a serializer or a log formatter that meets one either prints the
    stars or refuses it, and a place that needs the text has to say `reveal()`, which can be
    searched for.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself, for a header that is about to be sent or a key that is compared."""
        return self._text

    def matches(self, candidate: str) -> bool:
        """Whether `candidate` is this secret, in a time that does not tell how much of it fits."""
        return hmac.compare_digest(self._text.encode(), candidate.encode("utf-8", "surrogatepass"))

    def __str__(self) -> str:
        return "***"

    def __repr__(self) -> str:
        return "Secret('***')"

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return self.matches(other._text) if isinstance(other, Secret) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[type[Secret], tuple[str]]:
        """Workers of one server are started with the settings pickled."""
        return (Secret, (self._text,))
