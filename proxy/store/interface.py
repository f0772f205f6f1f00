"""What a store of responses offers, whatever keeps them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection

from msgspec import Struct

from toolwire.proxy.errors import ToolwireError

_ID = re.compile(r"[!-~]{1,200}")
"""Ids come from clients and upstreams: no database takes every text (NUL, lone surrogates)."""


class StoreUnavailable(ToolwireError):
    """The database cannot be opened, or failed; a later try may succeed.  ``__cause__`` tells why,
    for the log: it may name hosts and files, which are not for clients."""

    status = 503
    code = "response_store_unavailable"

    def __init__(self) -> None:
        super().__init__("the gateway's response store cannot be reached now; try again later")


class StoredResponse(Struct, frozen=True):
    """One answer, and what is needed to go on from it.

    ``response`` is the response object and ``input`` the JSON array of all the items that led to
    it, both as UTF-8 JSON.  ``items`` are the items of its output by their ids, so that they can be
    referred to one by one; they are written, and found by ``Store.items``, but not read back.
    ``owner`` tells whose it is: nobody else finds it.
    """

    owner: str
    id: str
    response: bytes
    input: bytes
    items: dict[str, bytes] = {}

    @property
    def size(self) -> int:
        """Bytes, before any compression."""
        return len(self.response) + len(self.input) + sum(map(len, self.items.values()))


def is_storable(name: str) -> bool:
    """Whether something can be kept under this id: 1 to 200 visible ASCII characters."""
    return _ID.fullmatch(name) is not None


class Store(ABC):
    """Responses by owner and id, for a limited time.

    Every method raises ``StoreUnavailable`` when the database cannot be reached in time.
    """

    absent: str = ""
    """Why nothing is ever kept here, as a sentence that says what to do; empty: it is."""

    failing: bool = False
    """Whether the last access failed: what can be told before the next one is tried."""

    def prepare(self) -> None:  # noqa: B027  # most have nothing to do
        """Begins to open what has to be opened, without waiting for it."""

    @abstractmethod
    async def save(self, response: StoredResponse) -> None:
        """Keeps ``response``, in the place of one with the same owner and id.  When this returns
        every worker finds it."""

    @abstractmethod
    async def find(self, owner: str, response_id: str) -> StoredResponse | None:
        """The response, unless it has expired."""

    @abstractmethod
    async def items(self, owner: str, ids: Collection[str]) -> dict[str, bytes]:
        """Those of the output items called ``ids`` that are kept, by id."""

    @abstractmethod
    async def delete(self, owner: str, response_id: str) -> bool:
        """Forgets the response and its items; whether it was there."""

    @abstractmethod
    async def aclose(self) -> None:
        """Closes what is open; the store may be used again and then opens again."""


class NoStore(Store):
    """The store that keeps nothing, and knows why."""

    def __init__(self, why: str) -> None:
        self.absent = why

    async def save(self, response: StoredResponse) -> None:
        """Does nothing."""

    async def find(self, owner: str, response_id: str) -> StoredResponse | None:
        return None

    async def items(self, owner: str, ids: Collection[str]) -> dict[str, bytes]:
        return {}

    async def delete(self, owner: str, response_id: str) -> bool:
        return False

    async def aclose(self) -> None:
        """There is nothing to close."""
