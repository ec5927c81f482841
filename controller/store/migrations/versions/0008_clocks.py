"""How far a runner's clock is from the controller's."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the column; the next heartbeat of each site fills it."""
    op.add_column("sites", sa.Column("clock_offset", sa.Integer(), nullable=True))
