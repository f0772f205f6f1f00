"""Which parts of an explanation are shown."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from toolwire.config.problems import did_you_mean
from toolwire.proxy.explain.given import InputError

PARTS = {
    "routing": "which upstream is asked, and why",
    "changes": "what each middleware changes; the name of a middleware: that one alone",
    "request": "method, URL and headers of the upstream request",
    "body": "its body",
    "losses": "what was dropped, coerced or invented, and the changes that are counted",
    "answer": "what the client gets for the recorded answer",
}


class Shown(Struct, frozen=True):
    """``only``: the parts and middlewares that are shown; empty: all of them.

    ``raw``: bodies are shown as their bytes, without a change.
    """

    only: frozenset[str] = frozenset()
    raw: bool = False

    def part(self, name: str) -> bool:
        """Whether this part is shown."""
        return not self.only or name in self.only

    def layer(self, name: str) -> bool:
        """Whether the change that this layer makes is shown."""
        return self.part("changes") or name in self.only

    @property
    def alone(self) -> bool:
        """Whether it is one thing, which needs no heading."""
        return len(self.only) == 1


def shown(only: Iterable[str], layers: Iterable[str], *, raw: bool = False) -> Shown:
    """From the command line; ``layers`` are the names of the stack.  Raises ``InputError``."""
    words = [word for value in only for word in value.split(",") if word]
    known = [*PARTS, *layers]
    for word in words:
        if word not in known:
            raise InputError(
                f'--only: expected {", ".join(PARTS)} or the name of a middleware, got "{word}"'
                + did_you_mean(word, known)
            )
    return Shown(frozenset(words), raw)
