"""The controller's memory, and the only room that speaks SQL.

What lives here: the tables, their migrations, and one module of queries per resource. Queries take
the session of `Store.session()` (reading) or `Store.write()` (one transaction, one writer at a
time) and give back plain values: no mapped class leaves the room.
May use: margrave, sqlalchemy, alembic. Never: Git, Flask, clocks (times come in as values).
"""

from controller.store.engine import Session, Store

__all__ = ["Session", "Store"]
