"""The last two verified states of the site's subtree: what a site without Git lives on."""

from __future__ import annotations

from sqlalchemy import delete, select, update

from runner.store.engine import Transaction
from runner.store.schema import desired
from runner.store.values import Snapshot

CURRENT, PREVIOUS = 0, 1


def load(tx: Transaction, age: int = CURRENT) -> Snapshot | None:
    """The state that was verified last (or the one before it), or None."""
    row = tx.connection.execute(select(desired).where(desired.c.age == age)).one_or_none()
    if row is None:
        return None
    found = row._mapping
    names = ("commit", "tree", "documents", "site_document", "secrets")
    return Snapshot(*(found[name] for name in names))


def save(tx: Transaction, snapshot: Snapshot) -> None:
    """Keep a verified state; what was current becomes previous when the subtree differs."""
    current = load(tx)
    if current is not None and current.tree == snapshot.tree:
        tx.connection.execute(
            update(desired).where(desired.c.age == CURRENT).values(commit=snapshot.commit)
        )
        return
    tx.connection.execute(delete(desired).where(desired.c.age == PREVIOUS))
    tx.connection.execute(update(desired).values(age=PREVIOUS))
    tx.connection.execute(
        desired.insert().values(
            age=CURRENT,
            commit=snapshot.commit,
            tree=snapshot.tree,
            documents=dict(snapshot.documents),
            site_document=snapshot.site_document,
            secrets=dict(snapshot.secrets),
        )
    )
