"""The answer to ``GET /v1/responses/{id}/input_items``.

https://platform.openai.com/docs/api-reference/responses/input-items
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from toolwire.proxy.errors import InvalidRequest
from toolwire.proxy.protocols import json
from toolwire.proxy.protocols.identifiers import derived_id
from toolwire.proxy.store.conversation import elements
from toolwire.proxy.store.interface import StoredResponse

_USUAL_LIMIT = 20
_MAX_LIMIT = 100

_PREFIXES = {
    "message": "msg_",
    "reasoning": "rs_",
    "function_call": "fc_",
    "function_call_output": "fco_",
    "custom_tool_call": "ctc_",
    "custom_tool_call_output": "ctco_",
}
"""How ids begin, by the type of the item."""

_WITH_STATUS = tuple(set(_PREFIXES) - {"reasoning"})


def input_items_page(stored: StoredResponse, query: bytes) -> dict[str, Any]:
    """One page of the items that led to a response, the newest first unless asked otherwise.

    ``query`` is the query string: ``limit`` (1 to 100), ``order`` (``asc`` or ``desc``) and
    ``after`` (the id of an item).  Items that the client gave no id have one that is made here, the
    same every time.  ``InvalidRequest`` names a parameter that is wrong.
    """
    asked = {name: values[-1] for name, values in parse_qs(query.decode("latin-1")).items()}
    items = [
        _listed(json.decode(bytes(i)), stored.id, n) for n, i in enumerate(elements(stored.input))
    ]
    if _order(asked) == "desc":
        items.reverse()
    if "after" in asked:
        items = items[_place_after(items, asked["after"]) :]
    page = items[: _limit(asked)]
    return {
        "object": "list",
        "data": page,
        "first_id": page[0]["id"] if page else None,
        "last_id": page[-1]["id"] if page else None,
        "has_more": len(page) < len(items),
    }


def _order(asked: dict[str, str]) -> str:
    order = asked.get("order", "desc")
    if order not in ("asc", "desc"):
        raise InvalidRequest(f"order must be asc or desc, not {order!r}", param="order")
    return order


def _limit(asked: dict[str, str]) -> int:
    text = asked.get("limit", str(_USUAL_LIMIT))
    if not text.isdecimal() or not 1 <= int(text[:9]) <= _MAX_LIMIT:
        raise InvalidRequest(
            f"limit must be an integer from 1 to {_MAX_LIMIT}, not {text!r}", param="limit"
        )
    return int(text)


def _place_after(items: list[dict[str, Any]], after: str) -> int:
    for place, item in enumerate(items, 1):
        if item["id"] == after:
            return place
    raise InvalidRequest(f"this response has no input item with id '{after}'", param="after")


def _listed(item: Any, response_id: str, place: int) -> dict[str, Any]:
    """An item as the API lists it: what the client may leave out is there."""
    if not isinstance(item, dict):
        item = {"type": "message", "role": "user", "content": item}
    kind = item.get("type") or "message"
    listed = {
        "id": derived_id(_PREFIXES.get(kind, "item_"), response_id, place),
        "type": kind,
        **{name: value for name, value in item.items() if value is not None},
    }
    if kind in _WITH_STATUS:
        listed.setdefault("status", "completed")
    if kind == "message" and isinstance(text := listed.get("content"), str):
        listed["content"] = [_text_part(text, listed.get("role"))]
    return listed


def _text_part(text: str, role: Any) -> dict[str, Any]:
    if role == "assistant":
        return {"type": "output_text", "text": text, "annotations": []}
    return {"type": "input_text", "text": text}
