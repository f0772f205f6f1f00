"""A database that fails while it is used, and comes back."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator

import pytest
from structlog.testing import capture_logs

from tests.proxy.store.server import PostgreSQLServer
from tests.proxy.store.test_store import response, settings, settled
from toolwire.proxy.store import StoreUnavailable, database, open_store
from toolwire.proxy.store.database import DatabaseStore


@pytest.fixture
async def store(sqlite_url: str) -> AsyncIterator[DatabaseStore]:
    """An open store in SQLite."""
    opened = open_store(settings(sqlite_url))
    assert isinstance(opened, DatabaseStore)
    await opened.save(response("resp_before"))
    await settled(opened)
    yield opened
    await opened.aclose()


async def test_it_recovers_with_the_database(store: DatabaseStore, sqlite_url: str) -> None:
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))
    other.execute("ALTER TABLE toolwire_responses RENAME TO elsewhere")
    with capture_logs() as logs:
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                await store.save(response("resp_1"))
    assert store.failing
    assert [(log["access"], log["suppressed"]) for log in logs] == [("save", 0)]
    assert "no such table" in logs[0]["error"]
    other.execute("ALTER TABLE elsewhere RENAME TO toolwire_responses")
    other.close()
    await store.save(response("resp_2"))
    assert not store.failing


async def test_what_failed_to_be_saved_is_not_kept_back(store: DatabaseStore) -> None:
    with pytest.raises(StoreUnavailable):
        await store.save(response("resp_\ud83d"))
    await store.save(response("resp_1"))
    assert store._unsaved == {}


async def test_an_error_shows_nothing_of_the_conversation(store: DatabaseStore) -> None:
    with capture_logs() as logs, pytest.raises(StoreUnavailable):
        await store.save(response("resp_\ud83d", text=b'{"said":"in confidence"}'))
    assert len(logs) == 1
    assert "in confidence" not in repr(logs)


async def test_a_database_that_does_not_answer_is_left_alone_for_a_while(
    store: DatabaseStore, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "ACCESS_SECONDS", 0.05)
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with capture_logs() as logs:
        with pytest.raises(StoreUnavailable):
            await store.save(response("resp_1"))
        with pytest.raises(StoreUnavailable) as raised:
            await store.save(response("resp_2"))
    assert isinstance(raised.value.__cause__, type(None))  # it was not asked
    assert "TimeoutError" in logs[0]["error"]
    other.execute("ROLLBACK")
    other.close()
    monkeypatch.setattr(store, "_paused_until", 0.0)
    monkeypatch.setattr(database, "ACCESS_SECONDS", 60.0)
    await store.save(response("resp_3"))
    assert await store.find("ada", "resp_3") is not None


async def test_many_waiting_saves_fail_together(
    store: DatabaseStore, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each waits in its turn; they must not wait for the database one after the other."""
    monkeypatch.setattr(database, "ACCESS_SECONDS", 0.05)
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    asked = 0
    in_time = store._in_time

    async def counted(call):  # type: ignore[no-untyped-def]
        nonlocal asked
        asked += database.time.monotonic() >= store._paused_until
        return await in_time(call)

    monkeypatch.setattr(store, "_in_time", counted)
    saves = (store.save(response(f"resp_{number}")) for number in range(50))
    results = await asyncio.gather(*saves, return_exceptions=True)
    assert {type(result) for result in results} == {StoreUnavailable}
    assert asked == 1
    other.execute("ROLLBACK")
    other.close()


@pytest.mark.postgres
async def test_a_restarted_server_is_found_again(
    postgres: PostgreSQLServer, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "PAUSE_SECONDS", 0.0)
    store = open_store(settings(postgres_url))
    await asyncio.gather(*(store.save(response(f"resp_{number}")) for number in range(20)))
    await asyncio.gather(*(store.find("ada", f"resp_{number}") for number in range(20)))
    postgres.stop()
    try:
        with pytest.raises(StoreUnavailable):
            await store.find("ada", "resp_1")
    finally:
        postgres.start()
    # every connection of the pool is dead now
    found = await asyncio.gather(*(store.find("ada", f"resp_{number}") for number in range(20)))
    assert None not in found
    postgres.stop()
    postgres.start()
    await store.save(response("resp_after"))
    assert await store.find("ada", "resp_after") is not None
    await store.aclose()
