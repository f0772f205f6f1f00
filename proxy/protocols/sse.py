"""Server-sent events, sans-I/O: bytes in, whole events out.

By the WHATWG rules (https://html.spec.whatwg.org/multipage/server-sent-events.html): LF, CRLF and
CR end a line, a blank line ends an event, a colon starts a comment, one space after the colon of a
field is optional, several ``data`` lines are joined.  What the rules would throw away is kept where
it does no harm: an event that the end of the body cuts off before its blank line still counts
(several upstreams leave it out), comments are events of their own, to be passed on, and a JSON
object without a field's name is the data of an event: some servers put an error in a stream's place
and call it a stream.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

MAX_EVENT_BYTES = 32 * 1024 * 1024
"""An event may hold a base64 image; more than this is no event but a fault."""

DONE = b"[DONE]"

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BLANK_LINE = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))")
_LINE_ENDS = (b"\n", b"\r")
_BOM = b"\xef\xbb\xbf"


class Event(Struct, gc=False):
    """One event.

    ``data`` is None for a comment.  ``raw`` holds the bytes as they came, less the blank line where
    it was the usual one, or is None for an event that was made or changed here.  ``parsed`` is what
    a reader has already made of ``data`` (a wire struct), so that it is decoded once; whoever
    changes ``data`` clears both.
    """

    data: bytes | None
    name: str | None = None
    raw: bytes | None = None
    parsed: Any = None

    def encode(self) -> bytes:
        """The event as bytes: those that came, where nothing changed."""
        if self.raw is not None:
            return self.raw if self.raw.endswith(_LINE_ENDS) else self.raw + b"\n\n"
        if self.data is None:
            return b":\n\n"
        data = self.data if b"\n" not in self.data else self.data.replace(b"\n", b"\ndata: ")
        if self.name is None:
            return b"data: %b\n\n" % data
        return b"event: %b\ndata: %b\n\n" % (self.name.encode("utf-8", "replace"), data)


def says_nothing(data: bytes) -> bool:
    """Whether an event holds nothing that can be read: white space, or the null of gateways that
    encode the end of their own stream."""
    return data.strip() in (b"", b"null")


def comment(text: str = "") -> Event:
    """A comment line: keeps a connection alive and means nothing."""
    return Event(None, raw=b": %b" % text.encode() if text else b":")


def encode(events: list[Event]) -> bytes:
    """The bytes of several events, for one write."""
    raws = [event.raw for event in events if event.raw is not None]
    if events and len(raws) == len(events):  # nothing was changed: the usual case by far
        joined = b"\n\n".join(raws) + b"\n\n"
        if b"\r" not in joined:
            return joined
    return b"".join([event.encode() for event in events])


class Decoder:
    """Feeds on reads of any size; gives whole events as soon as their last byte is there."""

    def __init__(self) -> None:
        self._pending = b""
        self._pieces: list[bytes] = []
        self._held = 0
        self._started = False
        self._skip_lf = False

    def feed(self, data: bytes) -> list[Event]:
        """The events that ``data`` completes.  Raises ``ValueError`` for an outsized one."""
        if not data:
            return []
        joined = self._joined(data)
        if joined is None:
            return []
        if b"\r" in joined:
            return self._feed_any_line_end(joined)
        blocks = joined.split(b"\n\n")
        self._hold(blocks.pop())
        events = []
        for block in blocks:
            first, _, second = block.partition(b"\n")
            # as most upstreams write it: the data alone, or after its name
            if not second and first[:6] == b"data: ":
                events.append(Event(first[6:], None, block))
            elif first[:7] == b"event: " and second[:6] == b"data: " and b"\n" not in second:
                events.append(Event(second[6:], first[7:].decode("utf-8", "replace"), block))
            elif (event := _event(block)) is not None:
                events.append(event)
        return events

    @property
    def at_border(self) -> bool:
        """Whether the next byte begins an event."""
        return self._started and not (self._pending or self._pieces or self._skip_lf)

    def flush(self) -> list[Event]:
        """The event that the end of the body left without its blank line, if any."""
        block = b"".join([self._pending, *self._pieces])
        self._hold(b"")
        event = _event(block.rstrip(b"\r\n"))
        return [event] if event is not None else []

    def _joined(self, data: bytes) -> bytes | None:
        """What is pending and ``data``; None while no event can be complete."""
        if not self._started:
            data = self._pending + data
            self._pending = b""
            if len(data) < len(_BOM) and _BOM.startswith(data):
                self._pending = data
                return None
            self._started = True
            data = data.removeprefix(_BOM)
        if self._skip_lf and data:
            self._skip_lf = False
            data = data.removeprefix(b"\n")
        if not self._pending:
            return data
        # A huge event comes in many reads: do not join them again at each.
        tail = (self._pieces[-1] if self._pieces else self._pending)[-2:]
        self._pieces.append(data)
        self._held += len(data)
        if self._held > MAX_EVENT_BYTES:
            raise ValueError(f"an event of more than {MAX_EVENT_BYTES} bytes")
        edge = tail + data
        if b"\n\n" not in edge and b"\r" not in edge:
            return None
        return b"".join([self._pending, *self._pieces])

    def _hold(self, rest: bytes) -> None:
        self._pending, self._pieces, self._held = rest, [], len(rest)

    def _feed_any_line_end(self, data: bytes) -> list[Event]:
        events, start = [], 0
        for match in _BLANK_LINE.finditer(data):
            if match.start() < start:
                continue
            end = match[0]
            if end == b"\r\n\r":  # the LF of its second line end is still to come
                end = b"\r\n\r\n"
            event = _event(data[start : match.start()], end)
            if event is not None:
                events.append(event)
            start = match.end()
        # The blank line is there with its CR; should an LF come next it belongs to it.
        self._skip_lf = start == len(data) and data.endswith(b"\r")
        self._hold(data[start:])
        return events


def _event(block: bytes, end: bytes = b"") -> Event | None:
    """What stands between two blank lines; ``end`` is its own, where that is not two LF."""
    name: str | None = None
    data: list[bytes] = []
    for line in _LINE_END.split(block):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value.decode("utf-8", "replace")
    if data:
        return Event(b"\n".join(data), name, raw=block + end)
    if block.lstrip()[:1] == b"{":
        return Event(block.strip())
    # an event without data is not dispatched; a comment is kept to be passed on
    return Event(None, raw=block + end) if block.lstrip(b"\r\n").startswith(b":") else None
