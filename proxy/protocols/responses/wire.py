"""What OpenAI Responses puts on the wire, in its own words: events of a stream, kinds of items.

https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import msgspec
from msgspec import Raw, Struct

from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.sse import DONE, Event

NULL = Raw(b"null")


class StreamEvent(Struct, gc=False):
    """One event of a stream: the fields that any of them has, None (or ``NULL``) for an absent one.

    What may be large or must survive whole (items, parts, the response, tokens) stays raw JSON.
    """

    type: str | None = None
    sequence_number: int | None = None
    output_index: int | None = None
    content_index: int | None = None
    summary_index: int | None = None
    item_id: str | None = None
    delta: Any = None
    text: Any = None
    refusal: Any = None
    arguments: Any = None
    input: Any = None
    item: Raw = NULL
    part: Raw = NULL
    response: Raw = NULL
    error: Raw = NULL
    annotation: Raw = NULL
    logprobs: tuple[Raw, ...] | None = None
    code: Any = None
    message: Any = None
    param: Any = None


class PartKind(Enum):
    """What a streamed part of an item is; the value is the stem of its events' names."""

    TEXT = "response.output_text"
    REFUSAL = "response.refusal"
    REASONING = "response.reasoning_text"
    SUMMARY = "response.reasoning_summary_text"
    ARGUMENTS = "response.function_call_arguments"
    CUSTOM_INPUT = "response.custom_tool_call_input"


WHOLE_FIELD: dict[PartKind, str] = {
    PartKind.TEXT: "text",
    PartKind.REFUSAL: "refusal",
    PartKind.REASONING: "text",
    PartKind.SUMMARY: "text",
    PartKind.ARGUMENTS: "arguments",
    PartKind.CUSTOM_INPUT: "input",
}
"""The field of a ``.done`` event that repeats the whole of what the deltas said."""

DELTAS: dict[str, PartKind] = {f"{kind.value}.delta": kind for kind in PartKind}
WHOLES: dict[str, PartKind] = {f"{kind.value}.done": kind for kind in PartKind}

INDEX_FIELD: dict[PartKind, str] = {
    PartKind.TEXT: "content_index",
    PartKind.REFUSAL: "content_index",
    PartKind.REASONING: "content_index",
    PartKind.SUMMARY: "summary_index",
}
"""The field that numbers a part inside its item; arguments and input have no number."""

TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed"})
"""https://platform.openai.com/docs/api-reference/responses-streaming/response/completed"""

FAULT = "response.error"
"""What some gateways send in the place of ``error``.
https://github.com/QuantumNous/new-api/issues/3142"""

DONE_AT_ALL = "response.done"
"""What several gateways send in the place of any of these; the status of the response says of
which.  https://github.com/decolua/9router/pull/2142"""

ID_PREFIX: dict[str, str] = {
    "message": "msg_",
    "reasoning": "rs_",
    "function_call": "fc_",
    "custom_tool_call": "ctc_",
    "tool_search_call": "tsc_",
}
"""What the id of an item of each type begins with, as the API itself makes and demands them."""

_one = msgspec.json.Decoder(StreamEvent)
_several = msgspec.json.Decoder(list[StreamEvent])


def parse(events: list[Event]) -> None:
    """Sets ``parsed`` of each event that has a JSON object and was not parsed yet."""
    if len(events) == 1:
        event = events[0]
        if event.data is not None and event.parsed is None and event.data != DONE:
            event.parsed = _parse_one(event.data)
        return
    waiting = [
        event
        for event in events
        if event.data is not None and event.parsed is None and event.data != DONE
    ]
    if len(waiting) > 1:
        try:
            # one call for all costs a third of a call for each
            found = _several.decode(b"[%b]" % b",".join([event.data or b"" for event in waiting]))
        except msgspec.DecodeError:
            found = []
        if len(found) == len(waiting):
            for event, chunk in zip(waiting, found, strict=True):
                event.parsed = chunk
            return
    for event in waiting:
        event.parsed = _parse_one(event.data or b"")


def _parse_one(data: bytes) -> StreamEvent | None:
    try:
        return _one.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    # lone surrogates, outsized numbers, or a field of another type than it should have
    try:
        document = json.decode(data)
    except ValueError:
        return None
    return from_document(document) if isinstance(document, dict) else None


def from_document(document: dict[str, Any]) -> StreamEvent:
    """The event in ``document``; a field of a wrong type counts as absent."""
    found: dict[str, Any] = {name: document.get(name) for name in _ANY}
    for names, kind in ((_TEXTS, str), (_NUMBERS, int)):
        found |= {name: value for name in names if type(value := document.get(name)) is kind}
    found |= {name: Raw(json.encode(document[name])) for name in _RAW if name in document}
    if isinstance(tokens := document.get("logprobs"), list):
        found["logprobs"] = tuple(Raw(json.encode(token)) for token in tokens)
    return StreamEvent(**found)


_TEXTS = ("type", "item_id")
_NUMBERS = ("sequence_number", "output_index", "content_index", "summary_index")
_ANY = ("delta", "text", "refusal", "arguments", "input", "code", "message", "param")
_RAW = ("item", "part", "response", "error", "annotation")


def value_in(raw: Raw) -> Any:
    """The JSON value in ``raw``; None where it is broken inside."""
    try:
        return json.decode(bytes(raw))
    except ValueError:
        return None


def object_in(raw: Raw) -> dict[str, Any]:
    """The JSON object in ``raw``; {} where there is none."""
    value = value_in(raw)
    return value if isinstance(value, dict) else {}


def document_in(data: bytes) -> dict[str, Any]:
    """The whole of an event that was read in part before; a byte that is no UTF-8 may stand in the
    rest of it."""
    try:
        return json.decode_object(data)
    except InvalidRequest:
        return json.decode_object(data.decode("utf-8", "replace").encode())
