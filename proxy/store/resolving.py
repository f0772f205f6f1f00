"""What a request says by ids, looked up: the response it goes on from, and items it refers to.

https://platform.openai.com/docs/api-reference/responses/create (``previous_response_id`` and
``item_reference`` in ``input``)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from toolwire.proxy.protocols import json
from toolwire.proxy.store.conversation import (
    fields,
    input_items,
    joined,
    portable,
    references,
    stored_items,
    value,
)
from toolwire.proxy.store.interface import Store, StoreUnavailable


class Resolved(Struct):
    """A request whose ids were looked up.

    ``previous`` is the response that it goes on from, where that is kept here ("" where not), and
    ``history`` the conversation until then.  ``body`` is the request to send instead, where
    anything was found.  ``missing`` tells why something was not: the store's failure, or its reason
    never to keep anything, "" where it just is not there; None where nothing is missing.
    """

    keep: Any
    """What the request says of ``store``: null and true mean yes."""

    given: Raw | None
    """Its ``input``, items that are referred to in their places."""

    history: list[Raw] = []
    previous: str = ""
    body: bytes | None = None
    missing: StoreUnavailable | str | None = None

    def input(self) -> bytes:
        """The whole input, as a JSON array."""
        given = bytes(self.given or b"[]")
        if not self.history and given.startswith(b"["):
            return given  # the usual case is not taken apart
        return joined([*self.history, *input_items(self.given)])


async def resolve(
    store: Store, owner: str, data: bytes, *, is_native: Callable[[str], bool]
) -> Resolved:
    """Looks up the ids in a request's body.  ``InvalidRequest``: it is no request.

    ``is_native`` tells whether a model's upstream speaks Responses itself.
    """
    try:
        request = fields(data)
    except ValueError:
        request = {name: Raw(json.encode(v)) for name, v in json.decode_object(data).items()}
    given = request.get("input")
    resolved = Resolved(value(request.get("store")), given)
    previous = value(request.get("previous_response_id"))
    goes_on = isinstance(previous, str)
    if not goes_on and (given is None or b'"item_reference"' not in bytes(given)):
        return resolved
    native = is_native(str(value(request.get("model"))))
    try:
        if goes_on:
            await _find_history(store, owner, previous, resolved, native)
        await _find_items(store, owner, resolved, native)
    except StoreUnavailable as error:
        resolved.missing = error
        return resolved
    if resolved.previous:
        del request["previous_response_id"]
    elif resolved.given is given:
        return resolved
    resolved.body = msgspec.json.encode({**request, "input": Raw(resolved.input())})
    return resolved


async def _find_history(
    store: Store, owner: str, previous: str, resolved: Resolved, native: bool
) -> None:
    stored = await store.find(owner, previous)
    if stored is None:
        resolved.missing = store.absent
        return
    resolved.previous = previous
    resolved.history = _for(native, stored_items(stored))


async def _find_items(store: Store, owner: str, resolved: Resolved, native: bool) -> None:
    items = input_items(resolved.given)
    wanted = references(items)
    if not wanted:
        return
    found = await store.items(owner, set(wanted.values()))
    if len(found) < len(set(wanted.values())):
        resolved.missing = store.absent
    if found:
        put: list[Raw] = []
        for place, item in enumerate(items):
            known = found.get(wanted.get(place, ""))
            put += [item] if known is None else _for(native, [Raw(known)])
        resolved.given = Raw(joined(put))


def _for(native: bool, items: list[Raw]) -> list[Raw]:
    if not native:
        return items
    return [item for item in map(portable, items) if item is not None]
