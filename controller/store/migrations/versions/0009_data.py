"""Whether a placement has named volumes on its node: a drain moves none of those."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the column; runners tell."""
    op.add_column("placements", sa.Column("keeps_data", sa.Boolean(), nullable=True))
