"""The statements on an open database: what ``database`` loads when it is first used."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from sqlalchemy.exc import SQLAlchemyError

from toolwire.proxy.store import statements
from toolwire.proxy.store.interface import StoredResponse, StoreUnavailable
from toolwire.proxy.store.postgres import PostgreSQL
from toolwire.proxy.store.sqlite import SQLite


class Rows:
    """Each method is one transaction; times are Unix times in seconds.  ``StoreUnavailable`` is
    what any of them raises."""

    def __init__(self, database: SQLite | PostgreSQL) -> None:
        self._database = database

    async def save(self, entries: Sequence[StoredResponse], now: float, expires_at: float) -> None:
        await self._database.write(
            partial(statements.save, entries=entries, now=now, expires_at=expires_at)
        )

    async def find(self, owner: str, response_id: str, now: float) -> StoredResponse | None:
        return await self._database.read(
            partial(statements.find, owner=owner, response_id=response_id, now=now)
        )

    async def items(self, owner: str, ids: Collection[str], now: float) -> dict[str, bytes]:
        return await self._database.read(
            partial(statements.find_items, owner=owner, ids=ids, now=now)
        )

    async def delete(self, owner: str, response_id: str, now: float) -> bool:
        return await self._database.write(
            partial(statements.remove, owner=owner, response_id=response_id, now=now)
        )

    async def purge(self, now: float, max_entries: int, max_bytes: int) -> bool:
        """Deletes some of what has expired or is over the limits; whether there may be more."""
        limits = statements.Limits(now, max_entries, max_bytes)
        deleted = await self._database.write(partial(statements.purge, limits=limits))
        return deleted == statements.PURGED_AT_ONCE

    async def close(self) -> None:
        await self._database.close()


async def open_rows(url: str) -> Rows:
    """Opens the database that ``url`` names, and brings its tables up to date."""
    try:
        return Rows(await (SQLite if url.startswith("sqlite") else PostgreSQL).open(url))
    except (SQLAlchemyError, ValueError) as error:  # a URL that says nothing
        raise StoreUnavailable from error
