"""The first schema: requests, deployments, placements, history, operations."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the tables."""
    _requests()
    _deployments()
    _request_deployments()
    _history()
    _operations()
    _placements()
    _operation_log()


def _requests() -> None:
    op.create_table(
        "requests",
        sa.Column(
            "number",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("action", sa.String(length=24), nullable=False),
        sa.Column("actor", sa.String(length=255), nullable=False),
        sa.Column("state", sa.String(length=24), nullable=False),
        sa.Column("priority", sa.String(length=24), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("body", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("change", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("plan", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("idempotency_key", sa.String(length=255), nullable=True),
        sa.Column("commit", sa.String(length=64), nullable=True),
        sa.Column("branch", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("error", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("trace", sa.String(length=255), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("ended_at", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_requests")),
        sa.UniqueConstraint(
            "actor", "idempotency_key", name=op.f("uq_requests_actor_idempotency_key")
        ),
        sa.UniqueConstraint("id", name=op.f("uq_requests_id")),
    )
    op.create_index("ix_requests_queue", "requests", ["state", "rank", "number"], unique=False)


def _deployments() -> None:
    op.create_table(
        "deployments",
        sa.Column(
            "key",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("site", sa.String(length=63), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("app", sa.String(length=200), nullable=False),
        sa.Column(
            "search",
            sa.Text(),
            sa.Computed("lower(name || ' ' || app || ' ' || site || ' ' || id)", persisted=True),
            nullable=False,
        ),
        sa.Column("state", sa.String(length=24), nullable=False),
        sa.Column("outcome", sa.String(length=24), nullable=False),
        sa.Column("version", sa.String(length=255), nullable=True),
        sa.Column("profile", sa.String(length=255), nullable=False),
        sa.Column("node", sa.String(length=63), nullable=True),
        sa.Column("in_git", sa.Boolean(), nullable=False),
        sa.Column("revision", sa.String(length=71), nullable=True),
        sa.Column("document_digest", sa.String(length=71), nullable=True),
        sa.Column("document", sa.Text(), nullable=True),
        sa.Column("parameters", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("extensions", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("needs", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("findings", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("commit", sa.String(length=64), nullable=True),
        sa.Column("author", sa.String(length=255), nullable=True),
        sa.Column("request", sa.String(length=36), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["site"], ["sites.name"], name=op.f("fk_deployments_site")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_deployments")),
        sa.UniqueConstraint("site", "id", name=op.f("uq_deployments_site_id")),
    )
    op.create_index("ix_deployments_app_key", "deployments", ["app", "key"], unique=False)
    op.create_index(
        "ix_deployments_counts", "deployments", ["site", "state", "outcome"], unique=False
    )
    op.create_index(op.f("ix_deployments_id"), "deployments", ["id"], unique=False)
    op.create_index("ix_deployments_name_key", "deployments", ["name", "key"], unique=False)
    op.create_index("ix_deployments_outcome_key", "deployments", ["outcome", "key"], unique=False)
    op.create_index("ix_deployments_site_key", "deployments", ["site", "key"], unique=False)
    op.create_index("ix_deployments_site_name", "deployments", ["site", "name"], unique=False)
    op.create_index("ix_deployments_state_key", "deployments", ["state", "key"], unique=False)
    op.create_index(
        "ix_deployments_updated_key", "deployments", ["updated_at", "key"], unique=False
    )


def _request_deployments() -> None:
    op.create_table(
        "request_deployments",
        sa.Column("request", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("deployment", sa.String(length=36), nullable=False),
        sa.Column("site", sa.String(length=63), nullable=False),
        sa.ForeignKeyConstraint(
            ["request"],
            ["requests.number"],
            name=op.f("fk_request_deployments_request"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "request", "deployment", "site", name=op.f("pk_request_deployments")
        ),
    )


def _history() -> None:
    op.create_table(
        "history",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column(
            "deployment", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("node", sa.String(length=63), nullable=False),
        sa.Column("incarnation", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("from_state", sa.String(length=24), nullable=True),
        sa.Column("to_state", sa.String(length=24), nullable=False),
        sa.Column("actor", sa.String(length=255), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("operation", sa.String(length=36), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("revision", sa.String(length=71), nullable=True),
        sa.Column("version", sa.String(length=255), nullable=True),
        sa.Column("commit", sa.String(length=64), nullable=True),
        sa.Column("error", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("irregular", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["deployment"],
            ["deployments.key"],
            name=op.f("fk_history_deployment"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_history")),
    )
    op.create_index("ix_history_deployment", "history", ["deployment", "id"], unique=False)


def _operations() -> None:
    op.create_table(
        "operations",
        sa.Column(
            "number",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column(
            "deployment", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("site", sa.String(length=63), nullable=False),
        sa.Column("node", sa.String(length=63), nullable=False),
        sa.Column("kind", sa.String(length=24), nullable=False),
        sa.Column("state", sa.String(length=24), nullable=False),
        sa.Column("phase", sa.String(length=255), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(), nullable=True),
        sa.Column("ended_at", sa.DateTime(), nullable=True),
        sa.Column("fence", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("error", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["deployment"],
            ["deployments.key"],
            name=op.f("fk_operations_deployment"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_operations")),
        sa.UniqueConstraint("id", name=op.f("uq_operations_id")),
    )
    op.create_index(op.f("ix_operations_deployment"), "operations", ["deployment"], unique=False)
    op.create_index(
        "ix_operations_open",
        "operations",
        ["state"],
        unique=False,
        sqlite_where=sa.text("state IN ('running', 'waiting')"),
        postgresql_where=sa.text("state IN ('running', 'waiting')"),
    )
    op.create_index(op.f("ix_operations_site"), "operations", ["site"], unique=False)


def _placements() -> None:
    op.create_table(
        "placements",
        sa.Column(
            "deployment", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("node", sa.String(length=63), nullable=False),
        sa.Column("incarnation", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=24), nullable=False),
        sa.Column("outcome", sa.String(length=24), nullable=False),
        sa.Column("revision", sa.String(length=71), nullable=True),
        sa.Column("version", sa.String(length=255), nullable=True),
        sa.Column("wanted_revision", sa.String(length=71), nullable=True),
        sa.Column("wanted_version", sa.String(length=255), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("error", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("waiting", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("health", sa.String(length=255), nullable=False),
        sa.Column("drift", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("components", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("since", sa.DateTime(), nullable=False),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["deployment"],
            ["deployments.key"],
            name=op.f("fk_placements_deployment"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("deployment", "node", "incarnation", name=op.f("pk_placements")),
    )


def _operation_log() -> None:
    op.create_table(
        "operation_log",
        sa.Column(
            "operation", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column(
            "chunk",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("lines", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["operation"],
            ["operations.number"],
            name=op.f("fk_operation_log_operation"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("operation", "chunk", name=op.f("pk_operation_log")),
    )
    op.create_index(op.f("ix_operation_log_at"), "operation_log", ["at"], unique=False)
