"""The responses that the demo has stored, as the vendor stores them; the oldest are forgotten."""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct

from toolwire.proxy.demo.neutral import Json


class Stored(Struct, frozen=True):
    answer: Json
    conversation: list[Json]
    """All items of the conversation up to and with the output of this answer."""


class ResponseMemory:
    """At most `size` responses."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._stored: OrderedDict[str, Stored] = OrderedDict()

    def keep(self, answer: Json, conversation: list[Json]) -> None:
        """Stores an answer together with its conversation."""
        self._stored[answer["id"]] = Stored(answer, conversation)
        self._stored.move_to_end(answer["id"])
        while len(self._stored) > self._size:
            self._stored.popitem(last=False)

    def get(self, response_id: str) -> Stored | None:
        """What is stored under this id."""
        return self._stored.get(response_id)

    def forget(self, response_id: str) -> bool:
        """Deletes it; False when it was not there."""
        return self._stored.pop(response_id, None) is not None

    def item(self, item_id: str) -> Json | None:
        """The output item with this id, of any stored response."""
        items = (item for kept in self._stored.values() for item in kept.answer["output"])
        return next((item for item in items if item["id"] == item_id), None)
