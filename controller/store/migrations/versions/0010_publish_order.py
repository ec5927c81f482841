"""Index that finds earlier requests for the same deployment."""

from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add the index."""
    columns = ["deployment", "site", "request"]
    op.create_index("ix_request_deployments_place", "request_deployments", columns)
