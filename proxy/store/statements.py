"""What is said to the database, in SQL that SQLite and PostgreSQL share.

Each function runs inside a transaction, and is given its connection.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import (
    Connection,
    Insert,
    Table,
    bindparam,
    delete,
    func,
    or_,
    select,
    tuple_,
)
from sqlalchemy.dialects import postgresql, sqlite

from toolwire.proxy.store.interface import StoredResponse
from toolwire.proxy.store.tables import items, responses

COMPRESSED_FROM = 32 * 1024
"""Bytes: shorter texts are kept as they are, for packing them takes longer than writing them."""

PURGED_AT_ONCE = 500
"""Rows that one transaction deletes, so that nobody waits long for it."""

_BETWEEN_ENTRIES = 1e-6
"""Seconds between entries that are saved at once, so that one of them is the oldest."""

_IDS_AT_ONCE = 500
"""Parameters of one statement: SQLite before 3.32 takes 999."""


class Limits(Struct, frozen=True):
    """What is purged: all that expired before ``now`` (Unix time in seconds), and the oldest of
    what is more than so many entries or bytes."""

    now: float
    max_entries: int
    max_bytes: int


# ------------------------------------------------------------------------------------- writing
def _upsert(dialect: Any, table: Table) -> Insert:
    insert = dialect.insert(table)
    keys = [column.name for column in table.primary_key]
    values = {c.name: insert.excluded[c.name] for c in table.columns if c.name not in keys}
    upsert: Insert = insert.on_conflict_do_update(index_elements=keys, set_=values)
    return upsert


_DIALECTS = {"sqlite": sqlite, "postgresql": postgresql}
_SAVE_RESPONSE = {name: _upsert(dialect, responses) for name, dialect in _DIALECTS.items()}
_SAVE_ITEM = {name: _upsert(dialect, items) for name, dialect in _DIALECTS.items()}


def save(
    connection: Connection, entries: Sequence[StoredResponse], now: float, expires_at: float
) -> None:
    """Keeps ``entries``, each in the place of one with the same owner and id."""
    dialect = connection.dialect.name
    rows = [
        {
            "owner": entry.owner,
            "id": entry.id,
            "created_at": now + place * _BETWEEN_ENTRIES,
            "expires_at": expires_at,
            "size": entry.size,
            "response": _packed(entry.response),
            "input": _packed(entry.input),
        }
        for place, entry in enumerate(entries)
    ]
    parts = {
        (entry.owner, name): {
            "owner": entry.owner,
            "id": name,
            "response_id": entry.id,
            "item": _packed(item),
        }
        for entry in entries
        for name, item in entry.items.items()
    }
    connection.execute(_SAVE_RESPONSE[dialect], rows)
    if parts:
        connection.execute(_SAVE_ITEM[dialect], list(parts.values()))


_DELETE = delete(responses).where(
    responses.c.owner == bindparam("of"), responses.c.id == bindparam("called")
)


def remove(connection: Connection, owner: str, response_id: str, now: float) -> bool:
    """Deletes a response and its items; whether it was there and had not expired."""
    there = connection.execute(
        _DELETE.returning(responses.c.expires_at), {"of": owner, "called": response_id}
    ).scalar()
    return there is not None and there > now


def purge(connection: Connection, limits: Limits) -> int:
    """Deletes up to ``PURGED_AT_ONCE`` responses that are over the limits; how many it were."""
    over = [responses.c.expires_at <= limits.now]
    cutoffs = (_over_entries(connection, limits), _over_bytes(connection, limits))
    found = [cutoff for cutoff in cutoffs if cutoff is not None]
    if found:
        over.append(responses.c.created_at <= max(found))
    key = tuple_(responses.c.owner, responses.c.id)
    chosen = select(responses.c.owner, responses.c.id).where(or_(*over)).limit(PURGED_AT_ONCE)
    return connection.execute(delete(responses).where(key.in_(chosen))).rowcount


def _over_entries(connection: Connection, limits: Limits) -> float | None:
    """When the newest of the responses that are too many was made."""
    newest_first = select(responses.c.created_at).order_by(responses.c.created_at.desc())
    return connection.scalar(newest_first.offset(limits.max_entries).limit(1))


def _over_bytes(connection: Connection, limits: Limits) -> float | None:
    """When the newest of the responses was made that do not fit with all newer ones."""
    if (connection.scalar(select(func.sum(responses.c.size))) or 0) <= limits.max_bytes:
        return None
    until_here = func.sum(responses.c.size).over(order_by=responses.c.created_at.desc())
    running = select(responses.c.created_at, until_here.label("bytes")).subquery()
    newest = select(func.max(running.c.created_at)).where(running.c.bytes > limits.max_bytes)
    cutoff: float | None = connection.scalar(newest)
    return cutoff


# ------------------------------------------------------------------------------------- reading
_FIND = select(responses.c.response, responses.c.input).where(
    responses.c.owner == bindparam("of"),
    responses.c.id == bindparam("called"),
    responses.c.expires_at > bindparam("now"),
)


def find(connection: Connection, owner: str, response_id: str, now: float) -> StoredResponse | None:
    """The response, unless it has expired."""
    row = connection.execute(_FIND, {"of": owner, "called": response_id, "now": now}).first()
    if row is None:
        return None
    return StoredResponse(owner, response_id, _unpacked(row.response), _unpacked(row.input))


_FIND_ITEMS = (
    select(items.c.id, items.c.item)
    .join(responses)
    .where(
        items.c.owner == bindparam("of"),
        items.c.id.in_(bindparam("called", expanding=True)),
        responses.c.expires_at > bindparam("now"),
    )
)


def find_items(
    connection: Connection, owner: str, ids: Collection[str], now: float
) -> dict[str, bytes]:
    """Those of the items that are there and have not expired, by id."""
    wanted = list(ids)
    found: dict[str, bytes] = {}
    for start in range(0, len(wanted), _IDS_AT_ONCE):
        called = wanted[start : start + _IDS_AT_ONCE]
        rows = connection.execute(_FIND_ITEMS, {"of": owner, "called": called, "now": now})
        found |= {row.id: _unpacked(row.item) for row in rows}
    return found


# ------------------------------------------------------------------------------------- packing
def _packed(text: bytes) -> bytes:
    """JSON begins with no ``x``, as what zlib makes does."""
    return text if len(text) < COMPRESSED_FROM else zlib.compress(text, 1)


def _unpacked(data: bytes) -> bytes:
    return zlib.decompress(data) if data[:1] == b"x" else data
