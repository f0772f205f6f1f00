"""A store in the memory of one process: for tests, and for ``url = "sqlite://"``."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import NamedTuple

from toolwire.config.model import ResponsesStore
from toolwire.proxy.store.interface import Store, StoredResponse


class _Kept(NamedTuple):
    response: StoredResponse
    expires_at: float


class MemoryStore(Store):
    """See the module.  Bounded like a database; ``clock`` gives the time in seconds."""

    def __init__(
        self,
        settings: ResponsesStore | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings or ResponsesStore()
        self._clock = clock
        self._kept: dict[tuple[str, str], _Kept] = {}
        self._items: dict[tuple[str, str], str] = {}
        self._bytes = 0

    async def save(self, response: StoredResponse) -> None:
        await self.delete(response.owner, response.id)
        expires_at = self._clock() + self._settings.max_age_seconds
        self._kept[response.owner, response.id] = _Kept(response, expires_at)
        self._items |= {(response.owner, item): response.id for item in response.items}
        self._bytes += response.size
        self._purge()

    async def find(self, owner: str, response_id: str) -> StoredResponse | None:
        kept = self._kept.get((owner, response_id))
        return kept.response if kept is not None and kept.expires_at > self._clock() else None

    async def items(self, owner: str, ids: Collection[str]) -> dict[str, bytes]:
        found = {}
        for item in ids:
            response = await self.find(owner, self._items.get((owner, item), ""))
            if response is not None:
                found[item] = response.items[item]
        return found

    async def delete(self, owner: str, response_id: str) -> bool:
        kept = self._kept.get((owner, response_id))
        if kept is None:
            return False
        self._forget(kept.response)
        return kept.expires_at > self._clock()

    async def aclose(self) -> None:
        self._kept.clear()
        self._items.clear()
        self._bytes = 0

    def _purge(self) -> None:
        """The oldest goes first; all live equally long, so it is also the first to expire."""
        while self._kept:
            oldest = next(iter(self._kept.values()))
            over = (
                oldest.expires_at <= self._clock()
                or len(self._kept) > self._settings.max_entries
                or self._bytes > self._settings.max_bytes
            )
            if not over:
                return
            self._forget(oldest.response)

    def _forget(self, response: StoredResponse) -> None:
        del self._kept[response.owner, response.id]
        self._bytes -= response.size
        for item in response.items:
            if self._items.get((response.owner, item)) == response.id:
                del self._items[response.owner, item]
