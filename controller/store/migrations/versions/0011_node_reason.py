"""Why a node's last check failed, or why nothing can run there."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the column; the next heartbeat of each site fills it."""
    op.add_column("nodes", sa.Column("reason", sa.String(), nullable=True))
