"""What all chunks of a run of text have in common: they need not be decoded to be passed on.

Most chunks of a stream differ in one short string alone.  The bytes before and after it are learned
from a chunk that was decoded and found faultless; a chunk with the same bytes around a string is as
faultless.
"""

from __future__ import annotations

import re

from toolwire.proxy.protocols.chat.wire import Chunk
from toolwire.proxy.protocols.sse import Event

_ROLE = b'"role":"assistant",'
_NEEDS_ESCAPE = re.compile(rb'["\\\x00-\x1f]')


class PlainDelta:
    """The bytes before and after the text of a delta; the closing quote is in neither."""

    __slots__ = ("_after", "_before", "_run")

    def __init__(self, before: bytes, after: bytes) -> None:
        self._before = before
        self._after = after
        self._run: re.Pattern[bytes] | None = None

    @classmethod
    def learn(cls, event: Event) -> PlainDelta | None:
        """What can be learned from a faultless event with its chunk in ``parsed``; None where its
        text has escapes or cannot be told from other strings of the chunk."""
        text = _text(event.parsed)
        if event.data is None or text is None:
            return None
        encoded = text.encode("utf-8", "surrogatepass")
        quoted = b'"%b"' % encoded
        if _NEEDS_ESCAPE.search(encoded) or event.data.count(quoted) != 1:
            return None
        before, _, after = event.data.partition(quoted)
        if not before.rstrip().endswith(b":"):  # a key, not a value
            return None
        return cls(before + b'"', after)

    def leading(self, events: list[Event]) -> int:
        """How many events there are before the first that is no such delta.

        The first quote behind ``before`` is the one that closes the text, and is not escaped; other
        escapes pass as they are.
        """
        before, after = self._before, self._after
        start = len(before)
        for place, event in enumerate(events):
            data = event.data
            if data is None or data[:start] != before:
                return place
            text, _, rest = data[start:].partition(b'"')
            if rest != after or text[-1:] == b"\\":
                return place
        return len(events)

    def spans(self, data: bytes) -> bool:
        """Whether ``data`` is such deltas alone, each with its blank line."""
        if self._run is None:
            before, after = re.escape(self._before), re.escape(self._after)
            # possessive, so that what does not match is given up at once
            self._run = re.compile(
                rb'(?:data: %b(?:[^"\\\r\n]++|\\[^\r\n])*+"%b\n\n)++' % (before, after)
            )
        return self._run.fullmatch(data) is not None


def without_role(event: Event, chunk: Chunk) -> Event | None:
    """The event of a chunk without its role, cut out of its bytes; None where that is not so
    simple."""
    # inside of a string the quotes would be escaped
    if event.data is None or chunk.choices is None or event.data.count(_ROLE) != 1:
        return None
    if (delta := chunk.choices[0].delta) is not None:
        delta.role = None
    return Event(event.data.replace(_ROLE, b""), event.name, parsed=chunk)


def _text(chunk: Chunk) -> str | None:
    """The text of a faultless chunk, where it is the only thing that it says."""
    delta = chunk.choices[0].delta if chunk.choices else None
    if delta is None or delta.tool_calls or delta.refusal or delta.reasoning_blocks:
        return None
    texts = [text for text in (delta.content, delta.reasoning_content, delta.reasoning) if text]
    return texts[0] if len(texts) == 1 else None
