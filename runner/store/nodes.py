"""The site's nodes. Changes that others should see are reported; a mere sign of life is not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from sqlalchemy import bindparam, delete, select

from margrave.errors import NotFound
from runner.ports import Node, Sign
from runner.store import outbox
from runner.store.engine import Store, Transaction
from runner.store.resources import node_resource
from runner.store.rows import columns, value_of, values_of
from runner.store.schema import beacons, nodes


def all_nodes(tx: Transaction) -> tuple[Node, ...]:
    """By name."""
    query = select(nodes).order_by(nodes.c.name)
    return values_of(Node, tx.connection.execute(query))


def get(tx: Transaction, name: str) -> Node:
    """The node, or NotFound."""
    row = tx.connection.execute(select(nodes).where(nodes.c.name == name)).one_or_none()
    if row is None:
        raise NotFound(f'no node "{name}" at this site', "margrave node list shows them")
    return value_of(Node, row)


def write(tx: Transaction, node: Node) -> None:
    """Store the node and report it when more than the time of its last sign has changed."""
    before = tx.connection.execute(select(nodes).where(nodes.c.name == node.name)).one_or_none()
    if before is None:
        tx.connection.execute(nodes.insert().values(**columns(node)))
    else:
        tx.connection.execute(
            nodes.update().where(nodes.c.name == node.name).values(**columns(node))
        )
        if replace(value_of(Node, before), last_seen=node.last_seen) == node:
            return
    outbox.append(tx, "node", node_resource(node))


def breathe(tx: Transaction, times: Mapping[str, datetime | None]) -> None:
    """Mere signs of life, for hundreds of nodes: one statement, and no report."""
    rows = [{"of": name, "at": time} for name, time in times.items()]
    if rows:
        at = nodes.update().where(nodes.c.name == bindparam("of")).values(last_seen=bindparam("at"))
        tx.connection.execute(at, rows)


class Nodes:
    """The registry as other rooms use it: each call is a transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def list(self) -> tuple[Node, ...]:
        """All nodes, by name."""
        with self._store.read() as tx:
            return all_nodes(tx)

    def get(self, name: str) -> Node:
        """The node, or NotFound."""
        with self._store.read() as tx:
            return get(tx, name)

    def save(self, node: Node) -> None:
        """Add or change a node."""
        with self._store.write() as tx:
            write(tx, node)

    def seen(self, signs: Iterable[Sign]) -> None:
        """Signs of life, or that there were none; a node that is gone stays gone."""
        with self._store.write() as tx:
            known = {one.name: one for one in all_nodes(tx)}
            times = {}
            for sign in signs:
                before = known.get(sign.node)
                if before is None:
                    continue
                after = replace(before, status=sign.status, error=sign.error)
                if sign.at is not None:
                    after = replace(after, last_seen=sign.at)
                if replace(after, last_seen=before.last_seen) == before:
                    times[after.name] = after.last_seen
                else:
                    write(tx, after)
            breathe(tx, times)

    def remove(self, name: str) -> None:
        """Forget a node; unknown ones are forgotten already."""
        with self._store.write() as tx:
            tx.connection.execute(delete(beacons).where(beacons.c.node == name))
            done = tx.connection.execute(delete(nodes).where(nodes.c.name == name))
            if done.rowcount:
                outbox.append(tx, "node", {"name": name, "removed": True})
