"""How much a request changes, since when it is being published, and whether it is on its way."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the columns; how many documents a request has is counted."""
    for column in (
        sa.Column("documents", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("started_at", sa.DateTime(), nullable=True),
        sa.Column("pushing", sa.Boolean(), nullable=False, server_default=sa.false()),
    ):
        op.add_column("requests", column)
    op.execute(
        "UPDATE requests SET documents ="
        " (SELECT count(*) FROM request_deployments AS one WHERE one.request = requests.number)"
    )
