"""SQLite, in a thread of its own.

One connection in one thread serves a whole process: a transaction costs one hop to the thread and
back, where a wrapper such as aiosqlite takes one for each call of the driver (0.4 ms of CPU for a
response that is saved, against 1.0 ms).  Other processes are served by the write-ahead log: they
read while one writes, and wait for each other to write (https://www.sqlite.org/wal.html).
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

from sqlalchemy import URL, Connection, create_engine, make_url
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from toolwire.proxy.store import schema
from toolwire.proxy.store.interface import StoreUnavailable

BUSY_SECONDS = 4.0
"""How long a statement waits for the lock of another process."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


class SQLite:
    """One file.  Every method raises ``StoreUnavailable`` for what SQLite or the disk refuses."""

    def __init__(self, thread: ThreadPoolExecutor, connection: Connection) -> None:
        self._thread = thread
        self._connection = connection

    @classmethod
    async def open(cls, url: str) -> SQLite:
        """Opens the file, makes it where there is none, and brings its tables up to date."""
        thread = ThreadPoolExecutor(1, thread_name_prefix="toolwire-store")
        try:
            return cls(thread, await _run(thread, _connect, url))
        except BaseException:
            thread.shutdown(wait=False)
            raise

    async def read(self, statement: Callable[[Connection], _T]) -> _T:
        """What ``statement`` finds."""
        return await _run(self._thread, _read, self._connection, statement)

    async def write(self, statement: Callable[[Connection], _T]) -> _T:
        """``statement`` in one transaction."""
        return await _run(self._thread, _write, self._connection, statement)

    async def close(self) -> None:
        """Ends the thread, too."""
        await _run(self._thread, self._connection.close)
        self._thread.shutdown(wait=False)


async def _run(
    thread: ThreadPoolExecutor, function: Callable[_P, _T], *args: _P.args, **kw: _P.kwargs
) -> _T:
    return await asyncio.get_running_loop().run_in_executor(thread, partial(function, *args, **kw))


# ------------------------------------------------------------------------------- in the thread
def _connect(url: str) -> Connection:
    with _failures():
        engine = create_engine(
            _with_file(make_url(url)),
            # the driver begins no transactions by itself: _write does
            connect_args={"isolation_level": None, "timeout": BUSY_SECONDS},
            poolclass=NullPool,
            hide_parameters=True,  # an error is logged, a conversation is not
        )
        connection = engine.connect()
    try:
        with _failures(), connection.begin():
            _use_write_ahead_log(connection)
            connection.exec_driver_sql("PRAGMA synchronous = NORMAL")
            connection.exec_driver_sql("PRAGMA foreign_keys = ON")
        if not _read(connection, schema.is_current):
            _write(connection, schema.upgrade)
    except BaseException:
        connection.close()
        raise
    return connection


def _read(connection: Connection, statement: Callable[[Connection], _T]) -> _T:
    with _failures(), connection.begin():
        return statement(connection)


def _write(connection: Connection, statement: Callable[[Connection], _T]) -> _T:
    with _failures(), connection.begin():
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        return statement(connection)


@contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, OSError, ValueError) as error:
        raise StoreUnavailable from error


def _use_write_ahead_log(connection: Connection) -> None:
    """Several processes that open a new file at once get in each other's way here, and SQLite does
    not wait (https://www.sqlite.org/wal.html#sometimes_queries_return_sqlite_busy_in_wal_mode)."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.exec_driver_sql("PRAGMA journal_mode = WAL")
            return
        except OperationalError:
            if time.monotonic() > until:
                raise
        time.sleep(0.02)


def _with_file(url: URL) -> URL:
    """``url`` with the file it names, or the usual one; it is there, and is for its owner alone."""
    name = url.database or str(_usual_file())
    if not name.startswith("file:"):
        os.close(os.open(name, os.O_RDWR | os.O_CREAT, 0o600))
    return url.set(drivername="sqlite", database=name)


def _usual_file() -> Path:
    """https://specifications.freedesktop.org/basedir-spec/latest/ (``XDG_STATE_HOME``)."""
    state = Path(os.environ.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():
        state = Path(os.path.expanduser("~/.local/state"))
    if not state.is_absolute():
        raise OSError("there is no home folder: name a file in [responses_store] url")
    folder = state / "toolwire"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / "responses.sqlite3"
