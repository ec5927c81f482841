"""The last verified state of the site's subtree: what a site without Git lives on."""

from __future__ import annotations

from typing import Final

from sqlalchemy import delete, select, update

from runner.store.engine import Transaction
from runner.store.schema import desired
from runner.store.values import Snapshot

_CURRENT: Final = 0  # earlier versions kept an older state beside it


def load(tx: Transaction) -> Snapshot | None:
    """The state that was verified last, or None."""
    row = tx.connection.execute(select(desired).where(desired.c.age == _CURRENT)).one_or_none()
    if row is None:
        return None
    found = row._mapping
    names = ("commit", "tree", "documents", "site_document", "secrets")
    return Snapshot(*(found[name] for name in names))


def save(tx: Transaction, snapshot: Snapshot) -> None:
    """Keep a verified state; only its commit is written while the subtree stays as it was."""
    current = load(tx)
    if current is not None and current.tree == snapshot.tree:
        tx.connection.execute(
            update(desired).where(desired.c.age == _CURRENT).values(commit=snapshot.commit)
        )
        return
    tx.connection.execute(delete(desired))
    tx.connection.execute(
        desired.insert().values(
            age=_CURRENT,
            commit=snapshot.commit,
            tree=snapshot.tree,
            documents=dict(snapshot.documents),
            site_document=snapshot.site_document,
            secrets=dict(snapshot.secrets),
        )
    )
