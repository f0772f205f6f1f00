"""Responses, and the items of their output."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "toolwire_responses",
        sa.Column("owner", sa.String(64), primary_key=True),
        sa.Column("id", sa.String(200), primary_key=True),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("expires_at", sa.Double, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("response", sa.LargeBinary, nullable=False),
        sa.Column("input", sa.LargeBinary, nullable=False),
    )
    op.create_index("toolwire_responses_created", "toolwire_responses", ["created_at", "size"])
    op.create_index("toolwire_responses_expires", "toolwire_responses", ["expires_at"])
    op.create_table(
        "toolwire_response_items",
        sa.Column("owner", sa.String(64), primary_key=True),
        sa.Column("id", sa.String(200), primary_key=True),
        sa.Column("response_id", sa.String(200), nullable=False),
        sa.Column("item", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(
            ["owner", "response_id"],
            ["toolwire_responses.owner", "toolwire_responses.id"],
            name="toolwire_response_items_response",
            ondelete="CASCADE",
        ),
    )
    op.create_index(
        "toolwire_response_items_response_id", "toolwire_response_items", ["owner", "response_id"]
    )


def downgrade() -> None:
    op.drop_table("toolwire_response_items")
    op.drop_table("toolwire_responses")
