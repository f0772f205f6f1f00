"""The tools of an agent, worked on once.

An agent sends its tools with each request: tens of kilobytes, the most intricate part of the whole
and always the same bytes.  What such an array comes to is kept: parsed, read into the neutral form,
written for an upstream, encoded.  JSON has no context (https://www.rfc-editor.org/rfc/rfc8259), so
bytes that were an array once are the same array wherever they stand.

What is handed out here belongs to many requests: nobody may change it in place.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Concatenate, ParamSpec, TypeVar

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.parts import Loss

MIN_BYTES = 1024
"""Of an array; a smaller one is as quick to parse as to find."""

MAX_BYTES = 2 * 1024 * 1024
"""Of all arrays together.  With what is made of them they take some six times as much memory."""

_KEY = b'"tools":'
_HEAD_BYTES = 64
_MOST_TRIES = 8
_MOST_SIGHTED = 1024
_STAND_IN = secrets.token_hex(16)
"""What no client writes."""

In = TypeVar("In")
Out = TypeVar("Out")
Facts = ParamSpec("Facts")


class _Sent(Struct):
    """How far the array reaches in a request."""

    tools: Raw = Raw()


_sent = Decoder(_Sent)


class _Known:
    """An array of tools, and what was made of it: other arrays, and bytes."""

    def __init__(self, tools: list[Any]) -> None:
        self.tools = tools
        self.from_end = 0
        self.derived: dict[tuple[Any, ...], tuple[_Known, list[Loss]]] = {}
        self.encoded: dict[bool, Raw] = {}

    def all(self) -> Iterator[_Known]:
        """This one, and those that were made of it."""
        yield self
        for other, _ in self.derived.values():
            yield from other.all()


class KnownTools:
    """The arrays that came more than once, those that were not seen for longest given up first."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._by_bytes: dict[bytes, _Known] = {}
        self._by_head: dict[bytes, list[bytes]] = {}
        self._by_id: dict[int, _Known] = {}
        self._sighted: dict[bytes, None] = {}

    def decode(self, data: bytes) -> json.Document:
        """As ``json.decode``; ``tools`` of a known request are the very same list each time."""
        if len(data) < MIN_BYTES:
            return json.decode(data)
        document = self._decode_as_last(data)
        if document is not None:
            return document
        starts = list(_arrays(data))
        for start in starts:
            for raw in self._by_head.get(data[start : start + _HEAD_BYTES], ()):
                if data.startswith(raw, start):
                    document = self._decode_around(data, start, raw)
                    if document is not None:
                        return document
        document = json.decode(data)
        if starts:
            self._sight(data, starts, document)
        return document

    def _decode_as_last(self, data: bytes) -> dict[str, Any] | None:
        """The document, where tools that came lately stand as far from the end as they did then:
        there is no need to search."""
        for raw in islice(reversed(self._by_bytes), _MOST_TRIES):
            start = len(data) - self._by_bytes[raw].from_end
            if start > 0 and data.startswith(raw, start):
                return self._decode_around(data, start, raw)
        return None

    def _decode_around(self, data: bytes, start: int, raw: bytes) -> dict[str, Any] | None:
        """The document, where these are its tools and not those of something inside it."""
        try:
            document = json.decode(
                b'%b"%b"%b' % (data[:start], _STAND_IN.encode(), data[start + len(raw) :])
            )
        except ValueError:
            return None  # decoding in full says where
        if type(document) is not dict or document.get("tools") != _STAND_IN:
            return None
        known = self._by_bytes[raw] = self._by_bytes.pop(raw)
        known.from_end = len(data) - start
        document["tools"] = known.tools
        return document

    def _sight(self, data: bytes, starts: list[int], document: json.Document) -> None:
        """Keeps the array where one that begins like it was seen before."""
        heads = [data[start : start + _HEAD_BYTES] for start in starts]
        if self._sighted.keys().isdisjoint(heads):
            if len(self._sighted) > _MOST_SIGHTED:
                self._sighted.clear()
            self._sighted.update(dict.fromkeys(heads))
            return
        if type(document) is not dict or type(tools := document.get("tools")) is not list:
            return
        try:
            raw = bytes(_sent.decode(data).tools)
        except (DecodeError, RecursionError):
            return
        if MIN_BYTES <= len(raw) <= self._max_bytes // 8:
            self._keep(raw, tools)

    def _keep(self, raw: bytes, tools: list[Any]) -> None:
        if raw in self._by_bytes:  # known, but not where it was looked for
            return
        self._by_bytes[raw] = self._by_id[id(tools)] = _Known(tools)
        self._by_head.setdefault(raw[:_HEAD_BYTES], []).append(raw)
        self._bytes += len(raw)
        while self._bytes > self._max_bytes:
            self._give_up(next(iter(self._by_bytes)))

    def _give_up(self, raw: bytes) -> None:
        for known in self._by_bytes.pop(raw).all():
            del self._by_id[id(known.tools)]
        head = self._by_head[raw[:_HEAD_BYTES]]
        head.remove(raw)
        if not head:
            del self._by_head[raw[:_HEAD_BYTES]]
        self._bytes -= len(raw)

    def derived(
        self,
        tools: list[In],
        make: Callable[Concatenate[list[In], Facts], tuple[list[Out], list[Loss]]],
        *facts: Facts.args,
        **none: Facts.kwargs,
    ) -> tuple[list[Out], list[Loss]]:
        """``make(tools, *facts)``, a new list and its losses; made once where ``tools`` are known.

        ``facts`` are all that it depends on beside the tools; they are hashable, and few.
        """
        known = self._by_id.get(id(tools))
        if known is None:
            return make(tools, *facts, **none)
        found = known.derived.get((make, *facts))
        if found is None:
            made, losses = make(tools, *facts, **none)
            found = known.derived[(make, *facts)] = _Known(made), losses
            self._by_id[id(made)] = found[0]
        return found[0].tools, found[1]

    def encode(self, document: json.Document, *, sort_keys: bool = False) -> bytes:
        """As ``json.encode``; known tools are encoded once."""
        if type(document) is dict and type(tools := document.get("tools")) is list:
            document = {**document, "tools": self.encoded(tools, sort_keys=sort_keys)}
        return json.encode(document, sort_keys=sort_keys)

    def encoded(self, tools: list[Any], *, sort_keys: bool = False) -> list[Any] | Raw:
        """Known ``tools`` as they are encoded, others as they are: to be put into a document."""
        known = self._by_id.get(id(tools))
        if known is None:
            return tools
        raw = known.encoded.get(sort_keys)
        if raw is None:
            raw = known.encoded[sort_keys] = Raw(json.encode(tools, sort_keys=sort_keys))
        return raw


def _arrays(data: bytes) -> Iterator[int]:
    """Where arrays under the key begin, from the last: it is the history that grows before it."""
    end = len(data)
    for _ in range(_MOST_TRIES):
        end = data.rfind(_KEY, 0, end)
        if end < 0:
            return
        start = end + len(_KEY)
        while data[start : start + 1].isspace():
            start += 1
        if data[start : start + 1] == b"[":
            yield start


KNOWN_TOOLS = KnownTools()
"""Those of this process."""
