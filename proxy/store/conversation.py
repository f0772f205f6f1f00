"""Conversations as JSON text: what a request says, what an answer adds, and the two put together.

Items are cut out of requests and answers and joined again as the bytes that came: on their way
through the store they are neither parsed nor changed.

https://platform.openai.com/docs/guides/conversation-state
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import DecodeError, Raw
from msgspec.json import Decoder

from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.responses.reasoning import ENVELOPE
from toolwire.proxy.store.interface import StoredResponse, is_storable

_KEPT = ("completed", "incomplete")
"""What a conversation can go on from, by the ``status`` of a response."""

_fields = Decoder(dict[str, Raw])
_elements = Decoder(list[Raw])
_NO_ITEMS = Raw(b"[]")


# ------------------------------------------------------------------------------- cutting JSON
def fields(data: bytes | Raw) -> dict[str, Raw]:
    """The fields of a JSON object; ``ValueError`` where it is none."""
    try:
        return _fields.decode(data)
    except (DecodeError, RecursionError):  # or something that only our own reader understands
        document = json.decode(bytes(data))
    if not isinstance(document, dict):
        raise ValueError(f"not an object but {json.type_name(document)}")
    return {name: Raw(json.encode(value)) for name, value in document.items()}


def elements(data: bytes | Raw) -> list[Raw]:
    """The elements of a JSON array; ``ValueError`` where it is none."""
    try:
        return _elements.decode(data)
    except (DecodeError, RecursionError):
        document = json.decode(bytes(data))
    if not isinstance(document, list):
        raise ValueError(f"not an array but {json.type_name(document)}")
    return [Raw(json.encode(value)) for value in document]


def joined(items: Iterable[Raw]) -> bytes:
    """The JSON array of ``items``."""
    return b"[%b]" % b",".join(map(bytes, items))


def value(data: Raw | None) -> Any:
    """What a field says; None where there is no such field."""
    return None if data is None else json.decode(bytes(data))


# ---------------------------------------------------------------------------------- a request
def input_items(given: Raw | None) -> list[Raw]:
    """The items of a request's ``input``: a text is a message of the user."""
    text = bytes(given or b"null")
    if text.startswith(b'"'):
        return [Raw(b'{"type":"message","role":"user","content":%b}' % text)]
    if text.startswith(b"["):
        return elements(text)
    if text == b"null":
        return []
    kind = json.type_name(json.decode(text))
    raise InvalidRequest(f"input must be a string or an array, not {kind}", param="input")


def references(items: list[Raw]) -> dict[int, str]:
    """The ids that ``item_reference`` items name, by the place of the item."""
    found = {}
    for place, item in enumerate(items):
        if b'"item_reference"' not in bytes(item):
            continue
        match json.decode(bytes(item)):
            case {"type": "item_reference", "id": str(name)}:
                found[place] = name
    return found


def portable(item: Raw) -> Raw | None:
    """An item that another upstream made, for one that knows Responses and has its own store.

    It knows nothing under the id, and asks for what it does not know.  Reasoning stays out, but
    for what it may have sealed itself: nobody else can read it, nor is it for others.
    """
    document = json.decode(bytes(item))
    if not isinstance(document, dict):
        return item
    if document.get("type") == "reasoning":
        sealed = document.get("encrypted_content")
        return item if isinstance(sealed, str) and not sealed.startswith(ENVELOPE) else None
    document.pop("id", None)
    return Raw(json.encode(document))


# ---------------------------------------------------------------------------------- an answer
def stored_items(stored: StoredResponse) -> list[Raw]:
    """The whole conversation that a response ended."""
    output = fields(stored.response)["output"]
    return [*elements(stored.input), *elements(output)]


def stored_response(owner: str, response: Raw, given: bytes) -> StoredResponse | None:
    """What to keep of a response object; None where nothing can go on from it.

    ``given`` is the whole input that led to it.  ``ValueError``: it is no response object.
    """
    answer = fields(response)
    name = value(answer.get("id"))
    if value(answer.get("status")) not in _KEPT:
        return None
    if not isinstance(name, str) or not is_storable(name):
        raise ValueError("a response without an id")
    output = {_id(item): bytes(item) for item in elements(answer.get("output", _NO_ITEMS))}
    output.pop("", None)
    return StoredResponse(owner, name, bytes(response), given, output)


def _id(item: Raw) -> str:
    """Under what an item can be referred to; "" for one that cannot."""
    name = value(fields(item).get("id"))
    return name if isinstance(name, str) and is_storable(name) else ""


def with_fields(data: Raw, changes: Mapping[str, Raw]) -> Raw:
    """A JSON object with some fields in the place of others, or added."""
    return Raw(msgspec.json.encode({**fields(data), **changes}))
