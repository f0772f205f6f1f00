"""Brings the tables up to date, whoever else is doing the same."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Column, Connection, MetaData, String, Table, inspect, select, text

from toolwire.proxy.store.interface import StoreUnavailable
from toolwire.proxy.store.tables import HEAD, VERSION_TABLE

MIGRATIONS = Path(__file__).with_name("migrations")

_LOCK = int.from_bytes(b"toolwire")
"""Of PostgreSQL's advisory locks, which are named by a number of 64 bits."""

_versions = Table(VERSION_TABLE, MetaData(), Column("version_num", String(32)))


def is_current(connection: Connection) -> bool:
    """Whether nothing has to be done, which is asked without loading Alembic."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return False
    return connection.scalar(select(_versions.c.version_num)) == HEAD


def upgrade(connection: Connection) -> None:
    """Runs the missing migrations in the transaction of ``connection``.

    On SQLite the transaction must have been begun as ``IMMEDIATE``, so that of several processes
    one migrates and the others wait; on PostgreSQL the lock is taken here.  Raises
    ``StoreUnavailable`` where the tables are of a version that is not known, so a newer one.
    """
    from alembic import command  # loaded once in the life of a database, not of a process
    from alembic.config import Config
    from alembic.util import CommandError

    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise StoreUnavailable from error
