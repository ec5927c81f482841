"""The first schema: sources, applications, component contents."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    _app_sources()
    _apps()
    _components()
    _app_versions()
    _app_version_components()


def _app_sources() -> None:
    op.create_table(
        "app_sources",
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("ref", sa.String(length=255), nullable=True),
        sa.Column("path", sa.String(length=255), nullable=False),
        sa.Column("credentials", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("commit", sa.String(length=64), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("findings", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("synced_at", sa.DateTime(), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_app_sources")),
    )


def _apps() -> None:
    op.create_table(
        "apps",
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("newest", sa.String(length=255), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_apps")),
    )


def _components() -> None:
    op.create_table(
        "components",
        sa.Column("digest", sa.String(length=71), nullable=False),
        sa.Column("archive", sa.LargeBinary(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_components")),
    )


def _app_versions() -> None:
    op.create_table(
        "app_versions",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("app_id", sa.String(length=200), nullable=False),
        sa.Column("version", sa.String(length=255), nullable=False),
        sa.Column("source", sa.String(length=63), nullable=True),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("commit", sa.String(length=64), nullable=True),
        sa.Column("digest", sa.String(length=71), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("description", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("findings", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("usable", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["app_id"], ["apps.id"], name=op.f("fk_app_versions_app_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["source"],
            ["app_sources.name"],
            name=op.f("fk_app_versions_source"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_app_versions")),
        sa.UniqueConstraint("app_id", "version", name=op.f("uq_app_versions_app_id_version")),
    )
    op.create_index(op.f("ix_app_versions_source"), "app_versions", ["source"], unique=False)


def _app_version_components() -> None:
    op.create_table(
        "app_version_components",
        sa.Column(
            "version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("path", sa.String(length=1024), nullable=False),
        sa.Column("digest", sa.String(length=71), nullable=False),
        sa.ForeignKeyConstraint(
            ["digest"], ["components.digest"], name=op.f("fk_app_version_components_digest")
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["app_versions.id"],
            name=op.f("fk_app_version_components_version_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("version_id", "path", name=op.f("pk_app_version_components")),
    )
    op.create_index(
        op.f("ix_app_version_components_digest"), "app_version_components", ["digest"], unique=False
    )
