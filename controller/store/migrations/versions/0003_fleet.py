"""The first schema: sites, their tokens, nodes."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the tables."""
    _sites()
    _nodes()
    _site_tokens()


def _sites() -> None:
    op.create_table(
        "sites",
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("document", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("findings", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("labels", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("timezone", sa.String(length=255), nullable=True),
        sa.Column("paused", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("drain", sa.Boolean(), nullable=False),
        sa.Column("wanted_commit", sa.String(length=64), nullable=True),
        sa.Column("runner", sa.String(length=36), nullable=True),
        sa.Column("epoch", sa.Integer(), nullable=True),
        sa.Column("last_seen", sa.DateTime(), nullable=True),
        sa.Column("applied_commit", sa.String(length=64), nullable=True),
        sa.Column("locked", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("halted", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_sites")),
    )


def _nodes() -> None:
    op.create_table(
        "nodes",
        sa.Column("site", sa.String(length=63), nullable=False),
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("address", sa.String(length=255), nullable=True),
        sa.Column("status", sa.String(length=255), nullable=True),
        sa.Column("drain", sa.Boolean(), nullable=False),
        sa.Column("last_seen", sa.DateTime(), nullable=True),
        sa.Column("labels", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("capabilities", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("registered_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["site"], ["sites.name"], name=op.f("fk_nodes_site"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site", "name", name=op.f("pk_nodes")),
    )


def _site_tokens() -> None:
    op.create_table(
        "site_tokens",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("site", sa.String(length=63), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("created_by", sa.String(length=255), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("expires_at", sa.DateTime(), nullable=True),
        sa.Column("revoked_at", sa.DateTime(), nullable=True),
        sa.Column("last_used_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["site"], ["sites.name"], name=op.f("fk_site_tokens_site"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_site_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_site_tokens_digest")),
    )
    op.create_index(op.f("ix_site_tokens_site"), "site_tokens", ["site"], unique=False)
