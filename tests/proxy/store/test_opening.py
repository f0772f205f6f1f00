"""How a store is opened: lazily, where nobody has opened it before, by many at once, or not."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text
from structlog.testing import capture_logs

from tests.proxy.store.test_store import response, settings
from toolwire.config.model import ResponsesStore
from toolwire.proxy.store import (
    MemoryStore,
    NoStore,
    StoreUnavailable,
    database,
    open_store,
    opening,
    schema,
    sqlite,
    tables,
)
from toolwire.proxy.store.rows import open_rows

T = TypeVar("T")
ROOT = Path(__file__).parents[3]


def run(program: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Another process of the gateway."""
    path = f"{ROOT / 'build/ns'}{os.pathsep}{ROOT}"
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program, *arguments],
        env={**os.environ, "PYTHONPATH": path, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def output(process: subprocess.Popen[str]) -> str:
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0, out
    return out


# ------------------------------------------------------------------------------ several at once
SAVE_MANY = """
import asyncio, sys
from toolwire.config.model import ResponsesStore
from toolwire.config.secret import Secret
from toolwire.proxy.store import StoredResponse, database, open_store

database.OPEN_SECONDS = database.ACCESS_SECONDS = 60.0

async def main(url, worker, entries):
    store = open_store(ResponsesStore(url=Secret(url)))
    await asyncio.gather(*(
        store.save(StoredResponse("ada", name, b"{}", b"[]", {f"msg_{name}": b"{}"}))
        for name in (f"resp_{worker}_{number}" for number in range(entries))
    ))
    await store.aclose()

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


async def test_many_processes_open_and_save_at_once(url: str) -> None:
    workers = [run(SAVE_MANY, url, str(worker), "50") for worker in range(6)]
    results = await asyncio.gather(*(asyncio.to_thread(output, worker) for worker in workers))
    assert set(results) == {""}
    store = open_store(settings(url))
    for worker in range(6):
        for number in range(50):
            assert await store.find("ada", f"resp_{worker}_{number}") is not None
    await store.aclose()


# -------------------------------------------------------------------------------------- lazily
async def test_nothing_is_loaded_before_the_first_use(sqlite_url: str) -> None:
    program = (
        "import asyncio, sys\n"
        "from toolwire.config.model import ResponsesStore\n"
        "from toolwire.config.secret import Secret\n"
        "from toolwire.proxy.store import StoredResponse, database, open_store\n"
        "database.OPEN_SECONDS = 60.0\n"
        "async def main():\n"
        "    store = open_store(ResponsesStore(url=Secret(sys.argv[1])))\n"
        "    before = sorted({'sqlalchemy', 'alembic', 'asyncpg', 'sqlite3'} & set(sys.modules))\n"
        "    await store.save(StoredResponse('ada', 'resp_1', b'{}', b'[]'))\n"
        "    await store.aclose()\n"
        "    print(before, 'alembic' in sys.modules, 'asyncpg' in sys.modules)\n"
        "asyncio.run(main())\n"
    )
    assert output(run(program, sqlite_url)) == "[] True False\n"
    # the tables are there now, so that Alembic is not needed
    assert output(run(program, sqlite_url)) == "[] False False\n"


async def test_a_process_that_never_closes_its_store_still_ends(sqlite_url: str) -> None:
    program = SAVE_MANY.replace("    await store.aclose()\n", "")
    assert output(run(program, sqlite_url, "0", "3")) == ""


# --------------------------------------------------------------------------------------- where
async def test_the_usual_file_is_for_its_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store = open_store(ResponsesStore())
    await store.save(response("resp_1"))
    await store.aclose()
    folder = tmp_path / "state" / "toolwire"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [file.name for file in folder.iterdir()] == ["responses.sqlite3"]
    assert stat.S_IMODE((folder / "responses.sqlite3").stat().st_mode) == 0o600


@pytest.mark.parametrize("state", [None, "", "relative/to/nothing"])
async def test_without_a_state_folder_it_is_in_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str | None
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    if state is not None:
        monkeypatch.setenv("XDG_STATE_HOME", state)
    store = open_store(ResponsesStore())
    await store.save(response("resp_1"))
    await store.aclose()
    assert (tmp_path / ".local/state/toolwire/responses.sqlite3").exists()
    assert not (tmp_path / "relative").exists()


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "sqlite+aiosqlite://"])
def test_a_database_in_memory_needs_no_database(url: str) -> None:
    assert isinstance(open_store(settings(url)), MemoryStore)


@pytest.mark.postgres
@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+asyncpg"])
async def test_the_driver_need_not_be_named(postgres_url: str, scheme: str) -> None:
    url = postgres_url.replace("postgresql", scheme, 1) + "&sslmode=prefer&application_name=me"
    store = open_store(settings(url))
    await store.save(response("resp_1"))
    assert await store.find("ada", "resp_1") is not None
    await store.aclose()


# -------------------------------------------------------------------------------------- or not
def test_a_disabled_store_says_how_to_enable_it() -> None:
    store = open_store(ResponsesStore(enabled=False))
    assert isinstance(store, NoStore)
    assert "enabled = true" in store.absent


@pytest.mark.parametrize(
    ("url", "missing", "extra"),
    [
        ("", "sqlalchemy", "store"),
        ("", "alembic", "store"),
        ("postgresql://h/d", "asyncpg", "postgres"),
        ("postgresql+psycopg://h/d", "psycopg", "postgres"),
    ],
)
def test_missing_packages_are_named_by_their_extra(
    monkeypatch: pytest.MonkeyPatch, url: str, missing: str, extra: str
) -> None:
    found = opening.find_spec
    absent = {missing, "psycopg"}
    monkeypatch.setattr(opening, "find_spec", lambda n: None if n in absent else found(n))
    store = open_store(settings(url))
    assert isinstance(store, NoStore)
    assert f"pip install 'toolwire[{extra}]'" in store.absent


def test_the_other_driver_is_taken_where_the_first_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda n: None if n == "asyncpg" else object())
    store = open_store(settings("postgresql://h/d"))
    assert isinstance(store, database.DatabaseStore)
    assert store._url == "postgresql+psycopg://h/d"


async def failure(url: str) -> dict[str, Any]:
    """What is logged when ``url`` cannot be opened, after the error was checked."""
    store = open_store(settings(url))
    with capture_logs() as logs:
        with pytest.raises(StoreUnavailable) as raised:
            await store.save(response("resp_1"))
        with pytest.raises(StoreUnavailable):  # not tried again, and not logged again, so soon
            await store.find("ada", "resp_1")
    assert store.failing
    assert raised.value.status == 503
    assert "s3cret" not in raised.value.message
    (log,) = logs
    assert "s3cret" not in json.dumps(log)
    await store.aclose()
    return dict(log)


async def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    log = await failure(f"sqlite:///{tmp_path}/file/responses.sqlite3")
    assert log["event"] == "response store failed"
    assert log["access"] == "save"
    assert "NotADirectoryError" in log["error"]


async def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("this is no database" * 100)
    assert "file is not a database" in (await failure(f"sqlite:///{tmp_path}/text"))["error"]


async def test_nobodys_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(sqlite.os.path, "expanduser", lambda path: path)
    assert "name a file in [responses_store] url" in (await failure(""))["error"]


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("postgresql://me:s3cret@127.0.0.1:1/db", "Connect"),
        ("postgresql://me:s3cret@localhost:port/db", "is not understood"),
        ("postgresql+asyncpg://me:s3cret@[::1/db", "is not understood"),
        ("sqlite:///\0s3cret", "is not understood"),
    ],
)
async def test_a_server_that_cannot_be_reached(url: str, error: str) -> None:
    assert error in (await failure(url))["error"]


@pytest.mark.postgres
async def test_a_database_that_is_not_there(postgres_url: str) -> None:
    url = postgres_url.replace("/test", "/nothing")
    assert "does not exist" in (await failure(url))["error"]


# -------------------------------------------------------------------------------------- tables
async def within(url: str, statement: Callable[[Connection], T]) -> T:
    """``statement`` in the database of ``url``, whose tables are made before."""
    store = open_store(settings(url))
    assert isinstance(store, database.DatabaseStore)
    rows = await open_rows(store._url)
    try:
        return await rows._database.write(statement)
    finally:
        await rows.close()


async def test_tables_of_a_newer_version_are_left_alone(url: str) -> None:
    newer = text(f"UPDATE {tables.VERSION_TABLE} SET version_num = '9999'")
    await within(url, lambda connection: connection.execute(newer))
    assert "9999" in (await failure(url))["error"]


async def test_the_migrations_make_the_tables_that_the_statements_use(url: str) -> None:
    def difference(connection: Connection) -> list[Any]:
        options = {"version_table": tables.VERSION_TABLE, "compare_type": True}
        context = MigrationContext.configure(connection, opts=options)
        return list(compare_metadata(context, tables.metadata))

    assert await within(url, difference) == []


def test_the_newest_migration_is_the_one_that_is_asked_for() -> None:
    config = Config()
    config.set_main_option("script_location", str(schema.MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_current_head() == tables.HEAD


async def test_migrations_can_be_undone(url: str) -> None:
    def downgrade(connection: Connection) -> set[str]:
        config = Config()
        config.set_main_option("script_location", str(schema.MIGRATIONS))
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
        return set(inspect(connection).get_table_names())

    assert await within(url, downgrade) == {tables.VERSION_TABLE}
