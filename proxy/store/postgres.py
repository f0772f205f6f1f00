"""PostgreSQL, by an asynchronous engine of SQLAlchemy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from toolwire.proxy.store import schema
from toolwire.proxy.store.interface import StoreUnavailable

CONNECT_SECONDS = 4.0
CONNECTIONS = 5
"""Per worker."""

_T = TypeVar("_T")


class PostgreSQL:
    """One database.  Every method raises ``StoreUnavailable`` for what the server or the way to it
    refuses."""

    def __init__(self, url: str) -> None:
        self._engine, self._errors = _engine(url)

    @classmethod
    async def open(cls, url: str) -> PostgreSQL:
        """Connects, and brings the tables up to date."""
        database = cls(url)
        try:
            if not await database.read(schema.is_current):
                await database.write(schema.upgrade)
        except BaseException:
            await database.close()
            raise
        return database

    async def read(self, statement: Callable[[Connection], _T]) -> _T:
        """What ``statement`` finds."""
        return await self.write(statement)

    async def write(self, statement: Callable[[Connection], _T]) -> _T:
        """``statement`` in one transaction; a second time where the connection was gone."""
        with self._failures():
            try:
                return await self._transact(statement)
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
            return await self._transact(statement)

    async def close(self) -> None:
        """Closes the connections."""
        with self._failures():
            await self._engine.dispose()

    async def _transact(self, statement: Callable[[Connection], _T]) -> _T:
        async with self._engine.begin() as connection:
            return await connection.run_sync(statement)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except self._errors as error:
            raise StoreUnavailable from error


def _engine(url: str) -> tuple[AsyncEngine, tuple[type[Exception], ...]]:
    """The engine, and what it raises when something fails."""
    build = partial(
        create_async_engine,
        pool_size=CONNECTIONS,
        max_overflow=0,
        pool_timeout=CONNECT_SECONDS,
        hide_parameters=True,  # an error is logged, a conversation is not
    )
    scheme, _, address = url.partition("://")
    if scheme != "postgresql+asyncpg":
        return build(url), (SQLAlchemyError, OSError)
    import asyncpg  # type: ignore[import-untyped]

    # asyncpg reads the address itself, for it knows what libpq knows (sslmode, ...)
    dsn = f"postgresql://{address}"
    connect = partial(asyncpg.connect, dsn, timeout=CONNECT_SECONDS)
    # SQLAlchemy does not translate what is raised while connecting
    errors = (SQLAlchemyError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError, ValueError)
    return build(f"{scheme}://", async_creator=connect), errors
