"""The first tables.

Revision ID: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make them all."""
    _site_tables()
    _placement_tables()
    _operation_tables()
    _report_tables()


def downgrade() -> None:
    """There is nothing before the first tables."""
    for name in (
        "commands", "outbox", "quarantine", "operations", "placements", "beacons",
        "nodes",
        "desired", "site", "identity",
    ):  # fmt: skip
        op.drop_table(name)


def _site_tables() -> None:
    op.create_table(
        "identity",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("runner", sa.String(36), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("fence_seq", sa.Integer(), nullable=False),
        sa.Column("report_seq", sa.Integer(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_identity_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity")),
    )
    op.create_table(
        "site",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("locked", sa.JSON()),
        sa.Column("halted", sa.JSON()),
        sa.Column("stood_down", sa.Text()),
        sa.Column("known_epoch", sa.Integer(), nullable=False),
        sa.Column("accepted_commit", sa.String(64)),
        sa.Column("applied_commit", sa.String(64)),
        sa.CheckConstraint("id = 1", name=op.f("ck_site_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_site")),
    )
    op.create_table(
        "desired",
        sa.Column("age", sa.Integer(), nullable=False),
        sa.Column("commit", sa.String(64), nullable=False),
        sa.Column("tree", sa.String(200), nullable=False),
        sa.Column("site_document", sa.Text()),
        sa.Column("documents", sa.JSON(), nullable=False),
        sa.Column("secrets", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("age", name=op.f("pk_desired")),
    )
    op.create_table(
        "nodes",
        sa.Column("name", sa.String(63), nullable=False),
        sa.Column("address", sa.String(255), nullable=False),
        sa.Column("port", sa.Integer(), nullable=False),
        sa.Column("user", sa.String(64), nullable=False),
        sa.Column("host_key", sa.Text(), nullable=False),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("capabilities", sa.JSON(), nullable=False),
        sa.Column("drain", sa.Boolean(), nullable=False),
        sa.Column("last_seen", sa.String(32)),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("problems", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_nodes")),
    )
    op.create_table(
        "beacons",
        sa.Column("node", sa.String(63), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("old_key", sa.String(64)),
        sa.Column("last_beat", sa.Integer(), nullable=False),
        sa.Column("heard_at", sa.String(32)),
        sa.Column("boot_id", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("node", name=op.f("pk_beacons")),
    )


def _placement_tables() -> None:
    op.create_table(
        "placements",
        sa.Column("deployment", sa.String(36), nullable=False),
        sa.Column("node", sa.String(63), nullable=False),
        sa.Column("incarnation", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(63), nullable=False),
        sa.Column("state", sa.String(32), nullable=False),
        sa.Column("outcome", sa.String(32), nullable=False),
        sa.Column("application", sa.String(200), nullable=False),
        sa.Column("release", sa.String(64)),
        sa.Column("revision", sa.String(71)),
        sa.Column("version", sa.String(128)),
        sa.Column("good_release", sa.String(64)),
        sa.Column("good_revision", sa.String(71)),
        sa.Column("good_version", sa.String(128)),
        sa.Column("wanted_revision", sa.String(71)),
        sa.Column("wanted_version", sa.String(128)),
        sa.Column("tried_release", sa.String(64)),
        sa.Column("operation", sa.String(36)),
        sa.Column("kind", sa.String(32)),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("next_attempt_at", sa.String(32)),
        sa.Column("cancelled", sa.Boolean(), nullable=False),
        sa.Column("healing", sa.Boolean(), nullable=False),
        sa.Column("keeps_data", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("error", sa.JSON()),
        sa.Column("waiting", sa.JSON()),
        sa.Column("health", sa.String(16), nullable=False),
        sa.Column("drift", sa.JSON(), nullable=False),
        sa.Column("components", sa.JSON(), nullable=False),
        sa.Column("heals", sa.JSON(), nullable=False),
        sa.Column("commit", sa.String(64)),
        sa.Column("since", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("deployment", "node", "incarnation", name=op.f("pk_placements")),
    )
    op.create_index("ix_placements_state", "placements", ["state"])


def _operation_tables() -> None:
    op.create_table(
        "operations",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("deployment", sa.String(36), nullable=False),
        sa.Column("node", sa.String(63), nullable=False),
        sa.Column("incarnation", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("state", sa.String(32), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("release", sa.String(64)),
        sa.Column("revision", sa.String(71)),
        sa.Column("version", sa.String(128)),
        sa.Column("commit", sa.String(64)),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("arguments", sa.JSON(), nullable=False),
        sa.Column("phase", sa.String(32), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_try_at", sa.String(32)),
        sa.Column("deadline", sa.Integer(), nullable=False),
        sa.Column("log_file", sa.Text(), nullable=False),
        sa.Column("started_at", sa.String(32), nullable=False),
        sa.Column("ended_at", sa.String(32)),
        sa.Column("error", sa.JSON()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_operations")),
        sa.UniqueConstraint("epoch", "seq", name=op.f("uq_operations_fence")),
    )
    op.create_index("ix_operations_state", "operations", ["state"])
    op.create_index("ix_operations_placement", "operations", ["deployment", "node"])
    op.create_table(
        "quarantine",
        sa.Column("deployment", sa.String(36), nullable=False),
        sa.Column("release", sa.String(64), nullable=False),
        sa.Column("revision", sa.String(71), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("since", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("deployment", "release", name=op.f("pk_quarantine")),
    )


def _report_tables() -> None:
    op.create_table(
        "outbox",
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("acked_at", sa.String(32)),
        sa.PrimaryKeyConstraint("epoch", "seq", name=op.f("pk_outbox")),
    )
    op.create_index("ix_outbox_acked_at", "outbox", ["acked_at"])
    op.create_table(
        "commands",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("result", sa.String(16), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("handled_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_commands")),
    )
