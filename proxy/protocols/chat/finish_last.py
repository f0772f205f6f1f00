"""A finish reason goes behind what else its read has of the same choice.

Some upstreams say ``stop`` in every chunk, or before the calls.  Clients may stop listening there,
so within one read, where nobody has to wait for it, the reason stands in the last chunk.
"""

from __future__ import annotations

import re
from typing import Any

from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.chat import finish
from toolwire.proxy.protocols.chat.wire import Chunk
from toolwire.proxy.protocols.sse import Event

_SOME_CHOICE = re.compile(rb'"choices"\s*:\s*\[\s*\{')


def finish_last(event: Event, later: list[Event]) -> list[Event] | None:
    """``event`` and the ``later`` events of its read, with each finish reason in the last chunk
    that says something of its choice; None where ``event`` has none, or it is there already."""
    if not _finishes(event.parsed):
        return None
    if not any(other.data is not None and _SOME_CHOICE.search(other.data) for other in later):
        return None
    events = [event, *later]
    chunks = {
        place: chunk for place, one in enumerate(events) if (chunk := _chunk(one)) is not None
    }
    changed: set[int] = set()
    for index in {index for chunk in chunks.values() for index in _choices_of(chunk)}:
        said = {
            place: choice
            for place, chunk in chunks.items()
            if (choice := _choices_of(chunk).get(index)) is not None
            if choice.get("finish_reason") or says_something(choice)
        }
        changed |= _move(said)
    if not changed:
        return None
    return [
        Event(json.encode(chunks[place]), one.name) if place in changed else one
        for place, one in enumerate(events)
    ]


def says_something(choice: dict[str, Any]) -> bool:
    """Whether the delta of a choice has more than empty fields and the role."""
    delta = choice.get("delta")
    return isinstance(delta, dict) and any(value for name, value in delta.items() if name != "role")


def _finishes(chunk: Any) -> bool:
    if type(chunk) is not Chunk:
        return False
    return any(choice.finish_reason for choice in chunk.choices or ())


def _move(said: dict[int, dict[str, Any]]) -> set[int]:
    """Moves the reason of a choice to the last of the chunks that say something of it; the places
    of the chunks that were changed."""
    ends = {
        place: word
        for place, choice in said.items()
        if isinstance(word := choice.get("finish_reason"), str) and word
    }
    last = max((place for place, choice in said.items() if says_something(choice)), default=-1)
    if not ends or last <= min(ends):
        return set()
    last = max(said)
    reason = ""
    for place, word in ends.items():
        reason = finish.of_two(reason, word) if reason else word
        said[place]["finish_reason"] = None
    said[last]["finish_reason"] = reason
    return {*ends, last}


def _chunk(event: Event) -> dict[str, Any] | None:
    if event.data is None or not _SOME_CHOICE.search(event.data):
        return None
    try:
        document = json.decode(event.data)
    except ValueError:
        return None
    choices = document.get("choices") if isinstance(document, dict) else None
    return document if isinstance(choices, list) else None


def _choices_of(chunk: dict[str, Any]) -> dict[int, dict[str, Any]]:
    found = [choice for choice in chunk["choices"] if isinstance(choice, dict)]
    indices = [index if type(index := one.get("index")) is int else 0 for one in found]
    return dict(zip(indices, found, strict=True))
