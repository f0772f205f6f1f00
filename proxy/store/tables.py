"""The tables, for the statements; ``migrations`` makes them.

They may stand in a database with the tables of others, so each has our name before it.
"""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Double,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
)

VERSION_TABLE = "toolwire_schema_version"
"""Where Alembic notes which migrations were made."""

HEAD = "0001"
"""The newest migration."""

metadata = MetaData()

responses = Table(
    "toolwire_responses",
    metadata,
    Column("owner", String(64), primary_key=True),
    Column("id", String(200), primary_key=True),
    Column("created_at", Double, nullable=False),  # Unix time in seconds
    Column("expires_at", Double, nullable=False),
    Column("size", Integer, nullable=False),  # bytes before compression
    Column("response", LargeBinary, nullable=False),
    Column("input", LargeBinary, nullable=False),
    # what is purged is chosen without reading the rows, which are large
    Index("toolwire_responses_created", "created_at", "size"),
    Index("toolwire_responses_expires", "expires_at"),
)

items = Table(
    "toolwire_response_items",
    metadata,
    Column("owner", String(64), primary_key=True),
    Column("id", String(200), primary_key=True),
    Column("response_id", String(200), nullable=False),
    Column("item", LargeBinary, nullable=False),
    ForeignKeyConstraint(
        ["owner", "response_id"],
        ["toolwire_responses.owner", "toolwire_responses.id"],
        name="toolwire_response_items_response",
        ondelete="CASCADE",
    ),
    Index("toolwire_response_items_response_id", "owner", "response_id"),
)
