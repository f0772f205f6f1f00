"""Server-sent events as bytes. https://html.spec.whatwg.org/multipage/server-sent-events.html"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from toolwire.proxy.demo.documents import bytes_of


class Event(Struct, frozen=True):
    """One event; without a name it has no `event:` line, as in Chat Completions."""

    data: Any
    name: str | None = None

    def encode(self, newline: bytes = b"\n") -> bytes:
        """The event with the blank line that ends it. A string is sent as it is, not as JSON."""
        data = self.data.encode() if isinstance(self.data, str) else bytes_of(self.data)
        head = b"" if self.name is None else b"event: " + self.name.encode() + newline
        return head + b"data: " + data + newline + newline


DONE = Event("[DONE]")
"""The end of a stream of Chat Completions."""


def named(data: Any) -> Event:
    """An event whose name is the type of its data, as in Messages and Responses."""
    return Event(data, data["type"])
