"""A store in a database, opened when it is first used.

The database libraries are loaded then, too, in a thread: a gateway whose clients need no store
starts fast and stays small.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

import structlog

from toolwire.config.model import ResponsesStore
from toolwire.proxy.store.interface import Store, StoredResponse, StoreUnavailable, is_storable

if TYPE_CHECKING:
    from toolwire.proxy.store.rows import Rows

OPEN_SECONDS = 15.0
"""How long the first requests wait until the libraries are loaded and the tables made."""

ACCESS_SECONDS = 5.0
"""How long a request waits for an open database."""

PAUSE_SECONDS = 5.0
"""How long nothing is tried after the database could not be opened, or did not answer in time."""

PURGE_SECONDS = 60.0
"""How often what is over the limits is deleted, while something is saved."""

WARNING_SECONDS = 60.0
"""How often a failure is logged; ``suppressed`` tells how many were not."""

_log = structlog.get_logger("toolwire")
_T = TypeVar("_T")


class DatabaseStore(Store):
    """See the module.  ``url`` names a driver that is installed."""

    def __init__(self, url: str, settings: ResponsesStore) -> None:
        self._url = url
        self._settings = settings
        self._opening: asyncio.Task[Rows] | None = None
        self._paused_until = 0.0
        self._unsaved: dict[tuple[str, str], StoredResponse] = {}
        self._saving = asyncio.Lock()
        self._purging: asyncio.Task[None] | None = None
        self._purge_at = 0.0
        self._warn_at = 0.0
        self._suppressed = 0

    def prepare(self) -> None:
        if self._opening is None and time.monotonic() >= self._paused_until:
            self._opening = asyncio.create_task(self._open())
            self._opening.add_done_callback(_retrieve)

    async def save(self, response: StoredResponse) -> None:
        key = (response.owner, response.id)
        self._unsaved[key] = response
        try:
            async with self._saving:
                # who had the lock before may have saved this as well
                if self._unsaved.get(key) is response:
                    await self._save_all()
        finally:
            if self._unsaved.get(key) is response:
                del self._unsaved[key]
        self._purge_now_and_then()

    async def _save_all(self) -> None:
        """Saves what has gathered while the transaction before was under way, in one."""
        batch = dict(self._unsaved)
        now = time.time()
        expires_at = now + self._settings.max_age_seconds
        await self._access("save", lambda rows: rows.save([*batch.values()], now, expires_at))
        for key, response in batch.items():
            if self._unsaved.get(key) is response:
                del self._unsaved[key]

    async def find(self, owner: str, response_id: str) -> StoredResponse | None:
        if not is_storable(response_id):
            return None
        return await self._access("find", lambda rows: rows.find(owner, response_id, time.time()))

    async def items(self, owner: str, ids: Collection[str]) -> dict[str, bytes]:
        storable = [name for name in ids if is_storable(name)]
        if not storable:
            return {}
        return await self._access("items", lambda rows: rows.items(owner, storable, time.time()))

    async def delete(self, owner: str, response_id: str) -> bool:
        if not is_storable(response_id):
            return False
        return await self._access(
            "delete", lambda rows: rows.delete(owner, response_id, time.time())
        )

    async def aclose(self) -> None:
        if self._purging is not None:
            await asyncio.wait([self._purging])
        opening, self._opening = self._opening, None
        if opening is None:
            return
        await asyncio.wait([opening])
        if opening.exception() is None:
            await opening.result().close()

    # the database ---------------------------------------------------------------------------
    async def _access(self, what: str, call: Callable[[Rows], Awaitable[_T]]) -> _T:
        """What ``call`` gives; ``failing`` and the log are kept up to date."""
        try:
            result = await self._in_time(call)
        except StoreUnavailable as error:
            self._warn(what, error)
            raise
        self.failing = False
        return result

    async def _in_time(self, call: Callable[[Rows], Awaitable[_T]]) -> _T:
        self.prepare()
        if self._opening is None or time.monotonic() < self._paused_until:
            raise StoreUnavailable
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                # shielded: others wait for it, too, and it may take longer than this request
                rows = await asyncio.shield(self._opening)
            async with asyncio.timeout(ACCESS_SECONDS):
                return await call(rows)
        except TimeoutError as error:
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            raise StoreUnavailable from error

    async def _open(self) -> Rows:
        try:
            module = await asyncio.to_thread(import_module, "toolwire.proxy.store.rows")
            rows: Rows = await module.open_rows(self._url)
        except BaseException:
            self._opening = None
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            raise
        return rows

    def _purge_now_and_then(self) -> None:
        if time.monotonic() >= self._purge_at:
            self._purge_at = time.monotonic() + PURGE_SECONDS
            if self._purging is None or self._purging.done():
                self._purging = asyncio.create_task(self._purge())

    async def _purge(self) -> None:
        entries, size = self._settings.max_entries, self._settings.max_bytes
        try:
            while await self._access("purge", lambda rows: rows.purge(time.time(), entries, size)):
                pass  # in several transactions, so that requests come between
        except StoreUnavailable:
            return  # it is logged, and the next time will do

    def _warn(self, what: str, error: StoreUnavailable) -> None:
        self.failing = True
        if time.monotonic() < self._warn_at:
            self._suppressed += 1
            return
        self._warn_at = time.monotonic() + WARNING_SECONDS
        _log.warning(
            "response store failed",
            access=what,
            error=_cause(error),
            suppressed=self._suppressed,
        )
        self._suppressed = 0


def _retrieve(task: asyncio.Task[Rows]) -> None:
    """Who waited for it may have given up; asyncio complains of exceptions that nobody saw."""
    if not task.cancelled():
        task.exception()


def _cause(error: StoreUnavailable) -> str:
    cause = error.__cause__
    if cause is None:
        return f"not tried again within {PAUSE_SECONDS:g} s"
    if isinstance(cause, ValueError):  # its text may show a part of the URL, and so a password
        return f"{type(cause).__name__}: [responses_store] url is not understood"
    return f"{type(cause).__name__}: {cause}".split("\n", 1)[0]
