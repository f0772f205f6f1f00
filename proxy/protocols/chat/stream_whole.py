"""Between a whole answer and a stream that says the same: every field stays.

https://platform.openai.com/docs/api-reference/chat-streaming
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolwire.proxy.protocols import failure as failures
from toolwire.proxy.protocols import json, sse
from toolwire.proxy.protocols.chat.answer_repair import OBJECT
from toolwire.proxy.protocols.chat.envelope import OBJECT as CHUNK
from toolwire.proxy.protocols.chat.errors import error_document, read_error
from toolwire.proxy.protocols.chat.repair import StreamRepair
from toolwire.proxy.protocols.chat.split import split
from toolwire.proxy.protocols.sse import Event

_SAID_ONCE = frozenset({"id", "type", "role", "name", "format", "index", "object"})
"""Fields of a delta whose text is whole in each piece that has them."""


# ------------------------------------------------------------------------- answer to stream
def spelled_out(document: dict[str, Any], request: dict[str, Any] | None) -> list[Event]:
    """The stream of an answer that is repaired: a chunk for each choice, one for each finish, the
    counts where the client asked for them, and ``[DONE]``."""
    named = {n: v for n, v in document.items() if n not in ("choices", "usage")}
    envelope = {**named, "object": CHUNK}
    found = document.get("choices")
    choices = [c for c in found if isinstance(c, dict)] if isinstance(found, list) else []
    if not choices:
        return []
    told = [
        piece for choice in choices for piece in split({**envelope, "choices": [_told(choice)]})
    ]
    told += [{**envelope, "choices": [_finish(choice)]} for choice in choices]
    options = (request or {}).get("stream_options")
    asked = request is None or (isinstance(options, dict) and options.get("include_usage"))
    if document.get("usage") is not None and asked:
        told.append({**envelope, "choices": [], "usage": document["usage"]})
    return [*(Event(json.encode(chunk)) for chunk in told), Event(sse.DONE)]


def _told(choice: dict[str, Any]) -> dict[str, Any]:
    """All of a choice but its finish."""
    message = choice.get("message")
    delta = dict(message) if isinstance(message, dict) else {}
    if isinstance(calls := delta.get("tool_calls"), list):
        delta["tool_calls"] = [
            {"index": place, **call} for place, call in enumerate(calls) if isinstance(call, dict)
        ]
    others = {n: v for n, v in choice.items() if n not in _FINISH and n != "message"}
    return {**others, "delta": delta, "finish_reason": None}


_FINISH = ("finish_reason", "stop_reason", "matched_stop")


def _finish(choice: dict[str, Any]) -> dict[str, Any]:
    said = {name: choice[name] for name in _FINISH if name in choice}
    return {"index": choice.get("index"), "delta": {}, **said}


# ------------------------------------------------------------------------- stream to answer
def collected(events: Iterable[Event]) -> dict[str, Any]:
    """See ``codec.Codec``."""
    answer: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    repair = StreamRepair()
    for event in [*repair.feed(list(events)), *repair.close()]:
        if event.data is None or event.data.strip() == sse.DONE:
            continue
        chunk = json.decode(event.data)
        if (error := error_document(chunk, event.name)) is not None:
            raise failures.as_exception(read_error(error))
        if not isinstance(chunk, dict):
            continue
        for name, value in chunk.items():
            _set(answer, name, value)
        for choice in chunk.get("choices") or ():
            index = choice.get("index", 0)
            kept = choices.setdefault(index, {"index": index, "message": {}})
            _collect(kept, choice)
    for kept in choices.values():
        calls = kept["message"].get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                call.pop("index", None)
        kept["message"].setdefault("content", None)
    return {**answer, "object": OBJECT, "choices": [choices[index] for index in sorted(choices)]}


def _collect(kept: dict[str, Any], choice: dict[str, Any]) -> None:
    for name, value in choice.items():
        if name == "delta":
            _add(kept["message"], value)
        elif name == "logprobs" and isinstance(value, dict):
            _add(kept, {name: value})
        else:
            _set(kept, name, value)


def _set(whole: dict[str, Any], name: str, value: Any) -> None:
    """The last that was said; null and an empty text say nothing."""
    if value not in (None, "") or whole.get(name) is None:
        whole[name] = value


def _add(whole: dict[str, Any], piece: dict[str, Any]) -> None:
    """Adds a piece to what it is a piece of."""
    for name, value in piece.items():
        present = whole.get(name)
        if value in (None, "") or present is None:
            _set(whole, name, value)
        elif isinstance(value, str) and isinstance(present, str) and name not in _SAID_ONCE:
            whole[name] = present + value
        elif isinstance(value, dict) and isinstance(present, dict):
            _add(present, value)
        elif isinstance(value, list) and isinstance(present, list):
            _add_entries(present, value)
        else:
            whole[name] = value


def _add_entries(whole: list[Any], pieces: list[Any]) -> None:
    """Entries are told apart by their ``index``; those without one follow each other."""
    for piece in pieces:
        place = piece.get("index") if isinstance(piece, dict) else None
        same = [
            entry
            for entry in whole
            if place is not None and isinstance(entry, dict) and entry.get("index") == place
            if piece.get("type") in (None, "", entry.get("type"))
        ]
        if same:
            _add(same[-1], piece)
        else:
            whole.append(piece)
