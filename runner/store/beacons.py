"""The keys of nodes that have a beacon, and when each was heard last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, select

from runner.ports import Beacon, Node
from runner.store import nodes
from runner.store.engine import Store, Transaction
from runner.store.rows import columns, values_of
from runner.store.schema import beacons


def all_beacons(tx: Transaction) -> tuple[Beacon, ...]:
    """By node."""
    query = select(beacons).order_by(beacons.c.node)
    return values_of(Beacon, tx.connection.execute(query))


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
        told = {beacon.node: (beacon, list(problems)) for beacon, problems in some}
        with self._store.write() as tx:
            known = {one.name: one for one in nodes.all_nodes(tx) if one.name in told}
            seen = [(node, *told[name]) for name, node in known.items()]
            if seen:
                tx.connection.execute(_HEARD, [_heard(beacon) for _, beacon, _ in seen])
            nodes.breathe(
                tx, {node.name: _latest(node, beacon, tx.now) for node, beacon, _ in seen}
            )
            for node, _, problems in seen:
                if list(node.problems) != problems:
                    fresh = nodes.get(tx, node.name)
                    nodes.write(tx, replace(fresh, problems=problems))


_HEARD = (
    beacons.update()
    .where(beacons.c.node == bindparam("of"))
    .values({name: bindparam(name) for name in ("last_beat", "heard_at", "boot_id", "old_key")})
)


def _heard(beacon: Beacon) -> dict[str, Any]:
    return {
        "of": beacon.node,
        "last_beat": beacon.last_beat,
        "heard_at": beacon.heard_at,
        "boot_id": beacon.boot_id,
        "old_key": beacon.old_key,
    }


def _latest(node: Node, beacon: Beacon, now: datetime) -> datetime | None:
    """Return the later of the two times. One in the future is of a clock that was wrong."""
    times = [one for one in (node.last_seen, beacon.heard_at) if one is not None]
    past = [one for one in times if one <= now]
    return max(past, default=now if times else None)
