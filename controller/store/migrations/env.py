"""Runs migrations on the connection that controller.store.schema hands over."""

from __future__ import annotations

from alembic import context

from controller.store import models
from controller.store.columns import Base

assert models.__all__  # importing them makes the tables known to the metadata
context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,  # SQLite alters a table by making it anew
)
with context.begin_transaction():
    context.run_migrations()
