"""Between a whole answer and a stream that says the same: every field stays.

https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolwire.proxy.errors import UpstreamCut
from toolwire.proxy.protocols import failure as failures
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.responses import wire
from toolwire.proxy.protocols.responses.repair import ResponsesRepair
from toolwire.proxy.protocols.responses.response import failed_response, read_error
from toolwire.proxy.protocols.responses.stream_reader import BROKEN_OFF, error_in
from toolwire.proxy.protocols.sse import Event

_BEGUN: dict[str, Any] = {
    "status": "in_progress",
    "output": [],
    "usage": None,
    "error": None,
    "incomplete_details": None,
}


def spelled_out(document: dict[str, Any], request: dict[str, Any] | None) -> list[Event]:
    """The stream of an answer that is repaired: its repair knows how to tell of items that only the
    last event has.  None of one that is not over yet."""
    last = f"response.{document.get('status') or 'completed'}"
    if last not in wire.TERMINAL:
        return []
    begun = {**document, **{name: v for name, v in _BEGUN.items() if name in document}}
    told = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        {"type": last, "response": document},
    ]
    return ResponsesRepair(request).feed([Event(json.encode(e), str(e["type"])) for e in told])


def collected(events: Iterable[Event]) -> dict[str, Any]:
    """See ``codec.Codec``."""
    response: dict[str, Any] = {}
    repair = ResponsesRepair()
    told = repair.feed(list(events))
    if not repair.finished:
        raise UpstreamCut(BROKEN_OFF)
    wire.parse(told)
    for event in told:
        chunk = event.parsed
        if not isinstance(chunk, wire.StreamEvent):
            continue
        if chunk.type == "error":
            raise failures.as_exception(read_error(error_in(chunk)))
        if chunk.type in wire.TERMINAL:
            response = wire.object_in(chunk.response)
    if (failed := failed_response(response)) is not None:
        raise failures.as_exception(failed)
    return response
