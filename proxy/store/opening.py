"""From the configuration to a store."""

from __future__ import annotations

import re
from importlib.util import find_spec

from toolwire.config.model import ResponsesStore
from toolwire.proxy.store.database import DatabaseStore
from toolwire.proxy.store.interface import NoStore, Store
from toolwire.proxy.store.memory import MemoryStore

_IN_MEMORY = re.compile(r"sqlite(\+\w+)?://(/:memory:)?")

_DRIVERS = ("asyncpg", "psycopg")
"""For PostgreSQL; the first that is installed is taken."""

DISABLED = (
    "this upstream keeps no responses, and the gateway's own response store is disabled: "
    "set enabled = true in [responses_store]"
)
NOT_INSTALLED = (
    "this upstream keeps no responses, and the gateway's own response store needs packages that "
    "are not installed: pip install 'toolwire[{extra}]'"
)


def open_store(settings: ResponsesStore) -> Store:
    """The store that ``settings`` ask for.  Nothing is opened, nor any database library loaded,
    before its first use."""
    if not settings.enabled:
        return NoStore(DISABLED)
    url = settings.url.reveal()
    if _IN_MEMORY.fullmatch(url):
        return MemoryStore(settings)
    if not url.startswith("postgresql"):
        return _database(url or "sqlite://", settings, "store")
    driver = _driver(url)
    address = url.partition("://")[2]
    return _database(f"postgresql+{driver}://{address}", settings, "postgres", driver)


def _database(url: str, settings: ResponsesStore, extra: str, *needed: str) -> Store:
    if not all(map(find_spec, ("sqlalchemy", "alembic", *needed))):
        return NoStore(NOT_INSTALLED.format(extra=extra))
    return DatabaseStore(url, settings)


def _driver(url: str) -> str:
    """The package that speaks to PostgreSQL: the one that the URL names, else one that is there."""
    if named := re.match(r"postgresql\+(\w+)://", url):
        return named[1]
    return next((driver for driver in _DRIVERS if find_spec(driver)), _DRIVERS[0])
