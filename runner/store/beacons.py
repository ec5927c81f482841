"""The keys of nodes that have a beacon, and when each was heard last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlalchemy import delete, select

from runner.ports import Beacon
from runner.store import nodes
from runner.store.engine import Store, Transaction
from runner.store.rows import columns, value_of
from runner.store.schema import beacons


def all_beacons(tx: Transaction) -> tuple[Beacon, ...]:
    """By node."""
    query = select(beacons).order_by(beacons.c.node)
    return tuple(value_of(Beacon, row) for row in tx.connection.execute(query))


def remove(tx: Transaction, node: str) -> None:
    """Forget a node's key; one without is forgotten already."""
    tx.connection.execute(delete(beacons).where(beacons.c.node == node))


class Beacons:
    """The registry of beacons as other rooms use it: each call is a transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def list(self) -> tuple[Beacon, ...]:
        """All of them."""
        with self._store.read() as tx:
            return all_beacons(tx)

    def save(self, beacon: Beacon) -> None:
        """Add a beacon, or give it another key."""
        with self._store.write() as tx:
            remove(tx, beacon.node)
            tx.connection.execute(beacons.insert().values(**columns(beacon)))

    def heard(self, some: Iterable[tuple[Beacon, Sequence[str]]]) -> None:
        """Note what beacons said since the last time; a node that is gone stays gone."""
        with self._store.write() as tx:
            known = {one.name: one for one in nodes.all_nodes(tx)}
            for beacon, problems in some:
                tx.connection.execute(
                    beacons.update().where(beacons.c.node == beacon.node).values(**columns(beacon))
                )
                node = known.get(beacon.node)
                if node is not None and beacon.heard_at is not None:
                    seen = max(filter(None, (node.last_seen, beacon.heard_at)))
                    alive = replace(node, last_seen=seen, problems=list(problems))
                    nodes.write(tx, alive)
