"""The first schema: events, reports, commands, audit."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make the tables."""
    _audit()
    _events()
    _facts()
    _totals()
    _commands()
    _rejected_reports()
    _report_cursors()


def _audit() -> None:
    op.create_table(
        "audit",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("actor", sa.String(length=255), nullable=False),
        sa.Column("address", sa.String(length=255), nullable=True),
        sa.Column("action", sa.String(length=255), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("outcome", sa.String(length=255), nullable=False),
        sa.Column("trace", sa.String(length=255), nullable=True),
        sa.Column("detail", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("previous", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )


def _events() -> None:
    op.create_table(
        "events",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("event", sa.String(length=24), nullable=False),
        sa.Column("site", sa.String(length=63), nullable=True),
        sa.Column("deployment", sa.String(length=36), nullable=True),
        sa.Column("data", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
    )
    op.create_index(op.f("ix_events_at"), "events", ["at"], unique=False)


def _facts() -> None:
    op.create_table(
        "facts",
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("value", sa.JSON(none_as_null=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_facts")),
    )


def _totals() -> None:
    op.create_table(
        "totals",
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("label", sa.String(length=255), nullable=False),
        sa.Column("value", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.PrimaryKeyConstraint("name", "label", name=op.f("pk_totals")),
    )


def _commands() -> None:
    op.create_table(
        "commands",
        sa.Column(
            "number",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("site", sa.String(length=63), nullable=False),
        sa.Column("kind", sa.String(length=24), nullable=False),
        sa.Column("data", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("state", sa.String(length=24), nullable=False),
        sa.Column("request", sa.String(length=36), nullable=True),
        sa.Column("actor", sa.String(length=255), nullable=False),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("ended_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["site"], ["sites.name"], name=op.f("fk_commands_site"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_commands")),
        sa.UniqueConstraint("id", name=op.f("uq_commands_id")),
    )
    op.create_index("ix_commands_open", "commands", ["site", "state", "number"], unique=False)


def _rejected_reports() -> None:
    op.create_table(
        "rejected_reports",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("site", sa.String(length=63), nullable=False),
        sa.Column("runner", sa.String(length=36), nullable=False),
        sa.Column("epoch", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("finding", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["site"], ["sites.name"], name=op.f("fk_rejected_reports_site"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rejected_reports")),
    )
    op.create_index(op.f("ix_rejected_reports_at"), "rejected_reports", ["at"], unique=False)
    op.create_index(op.f("ix_rejected_reports_site"), "rejected_reports", ["site"], unique=False)


def _report_cursors() -> None:
    op.create_table(
        "report_cursors",
        sa.Column("site", sa.String(length=63), nullable=False),
        sa.Column("runner", sa.String(length=36), nullable=False),
        sa.Column(
            "epoch",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("next_seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["site"], ["sites.name"], name=op.f("fk_report_cursors_site"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site", "runner", "epoch", name=op.f("pk_report_cursors")),
    )
