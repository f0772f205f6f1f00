"""Items that come whole: as they begin, and which of those that were told of they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolwire.proxy.protocols.responses.output import arguments_text
from toolwire.proxy.protocols.responses.repaired_item import WRITTEN, RepairedItem
from toolwire.proxy.protocols.responses.wire import WHOLE_FIELD, PartKind

_MESSAGE = {"type": "message", "role": "assistant", "status": "in_progress", "content": []}
_BEGUN: dict[PartKind, dict[str, Any]] = {
    PartKind.TEXT: _MESSAGE,
    PartKind.REFUSAL: _MESSAGE,
    PartKind.REASONING: {"type": "reasoning", "summary": []},
    PartKind.SUMMARY: {"type": "reasoning", "summary": []},
}


def begun_item(kind: PartKind | None) -> dict[str, Any] | None:
    """The item that holds parts of this kind, as it begins, without its id; a call, which would
    need a name, cannot be made up."""
    return _BEGUN.get(kind) if kind is not None else None


def emptied(document: dict[str, Any]) -> dict[str, Any]:
    """An item as it is told of before its parts are."""
    kind = document.get("type")
    if kind == "message":
        return {**document, "status": "in_progress", "content": []}
    if kind == "reasoning":
        begun = {n: v for n, v in document.items() if n not in ("content", "encrypted_content")}
        return {**begun, "summary": []}
    written = WRITTEN.get(str(kind))
    if written is not None:
        return {**document, "status": "in_progress", WHOLE_FIELD[written]: ""}
    return document


def empty(document: dict[str, Any]) -> bool:
    """A call begins without what the model writes, for clients add the deltas to what is there;
    whether it had something."""
    kind = WRITTEN.get(str(document.get("type")))
    if kind is None or not document.get(field := WHOLE_FIELD[kind]):
        return False
    document[field] = ""
    return True


def give_text(document: dict[str, Any]) -> str | None:
    """Makes the arguments of a call text, ``{}`` where a whole call has none; the kind of repair,
    None where there was none to make."""
    if document.get("type") != "function_call":
        return None
    given = document.get("arguments")
    text = arguments_text(given)
    if not text.strip() and document.get("status") in (None, "completed"):
        document["arguments"] = "{}"
        return "arguments_added"
    document["arguments"] = text
    return None if isinstance(given, str) else "arguments_not_text"


def matched(
    documents: list[dict[str, Any]],
    known: Mapping[int | None, RepairedItem],
    index_of_id: Mapping[str, int],
) -> list[RepairedItem | None]:
    """Which of the ``known`` items each of the last event is; None for one that is news.

    By an id; for what is no call, whose ``call_id`` stays, else by its place or its order among its
    type, for there are upstreams that give an item another id in each event.
    """
    found: list[RepairedItem | None] = []
    for document in documents:
        names = [document.get("id"), document.get("call_id")]
        indices = [index_of_id[n] for n in names if isinstance(n, str) and n in index_of_id]
        found.append(known[indices[0]] if indices else None)
    for place, document in enumerate(documents):
        if found[place] is None and not isinstance(document.get("call_id"), str):
            kind = document.get("type")
            left = [item for item in known.values() if item.type == kind and item not in found]
            here = known.get(place)
            found[place] = here if here in left else next(iter(left), None)
    return found
