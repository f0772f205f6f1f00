"""Chunks and streams of Chat Completions, for the tests beside this file."""

from __future__ import annotations

import json
from typing import Any

from toolwire.proxy.protocols import sse
from toolwire.proxy.protocols.chat import StreamRepair
from toolwire.proxy.protocols.sse import Event

HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
DONE = b"data: [DONE]\n\n"


def chunk(
    delta: dict[str, Any] | None = None, finish: str | None = None, **fields: Any
) -> dict[str, Any]:
    """A chunk as OpenAI sends it; ``delta`` None: one without choices."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {**HEAD, "choices": choices, **fields}


def role() -> dict[str, Any]:
    return chunk({"role": "assistant", "content": ""})


def call(index: int | None = 0, **fields: Any) -> dict[str, Any]:
    """A chunk with one piece of a call: ``id``, ``name``, ``arguments`` as given, no others."""
    function = {name: fields.pop(name) for name in ("name", "arguments") if name in fields}
    piece = {"index": index, **fields} if index is not None else dict(fields)
    return chunk({"tool_calls": [{**piece, "function": function}]})


def wire(*documents: dict[str, Any] | bytes) -> bytes:
    """The bytes of a stream; bytes stand as they are."""
    return b"".join(
        document
        if isinstance(document, bytes)
        else b"data: %b\n\n" % json.dumps(document, separators=(",", ":")).encode()
        for document in documents
    )


def repaired(
    *documents: dict[str, Any] | bytes, repair: StreamRepair | None = None, size: int = 0
) -> tuple[list[Any], StreamRepair]:
    """What comes out for a stream read in pieces of ``size`` bytes (0: in one): the documents,
    "[DONE]", None for a comment; and the repair."""
    repair = repair or StreamRepair()
    events = repaired_events(wire(*documents), repair, size)
    return [told(event) for event in events], repair


def repaired_events(raw: bytes, repair: StreamRepair, size: int = 0) -> list[Event]:
    decoder = sse.Decoder()
    step = size or len(raw) or 1
    events: list[Event] = []
    for at in range(0, len(raw), step):
        events += repair.feed(decoder.feed(raw[at : at + step]))
    return [*events, *repair.feed(decoder.flush()), *repair.close()]


def told(event: Event) -> Any:
    if event.data is None:
        return None
    return "[DONE]" if event.data.strip() == b"[DONE]" else json.loads(event.data)


def deltas(documents: list[Any]) -> list[dict[str, Any]]:
    """The deltas of the chunks that have choices."""
    found = [
        d["choices"][0]["delta"] for d in documents if isinstance(d, dict) and d.get("choices")
    ]
    return [dict(delta) for delta in found]


def pieces(documents: list[Any]) -> list[dict[str, Any]]:
    """All pieces of calls, in order."""
    return [piece for delta in deltas(documents) for piece in delta.get("tool_calls") or []]


def finishes(documents: list[Any]) -> list[str]:
    """The finish reasons of chunks; an error may have anything beside it."""
    return [
        choice["finish_reason"]
        for document in documents
        if isinstance(document, dict) and not document.get("error")
        for choice in document.get("choices") or []
        if choice.get("finish_reason")
    ]
