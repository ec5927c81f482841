"""The site's nodes. Changes that others should see are reported; a mere sign of life is not."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlalchemy import delete, select

from margrave.errors import NotFound
from runner.ports import Node, NodeStatus
from runner.store import outbox
from runner.store.engine import Store, Transaction
from runner.store.resources import node_resource
from runner.store.rows import columns, value_of
from runner.store.schema import beacons, nodes


def all_nodes(tx: Transaction) -> tuple[Node, ...]:
    """By name."""
    query = select(nodes).order_by(nodes.c.name)
    return tuple(value_of(Node, row) for row in tx.connection.execute(query))


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

    def seen(self, name: str, at: datetime, status: NodeStatus, error: str = "") -> None:
        """A sign of life, or that there was none (`at` stays then)."""
        with self._store.write() as tx:
            for node in all_nodes(tx):
                if node.name == name:
                    last = at if status is NodeStatus.ACTIVE else node.last_seen
                    write(tx, replace(node, last_seen=last, status=status, error=error))

    def remove(self, name: str) -> None:
        """Forget a node; unknown ones are forgotten already."""
        with self._store.write() as tx:
            tx.connection.execute(delete(beacons).where(beacons.c.node == name))
            done = tx.connection.execute(delete(nodes).where(nodes.c.name == name))
            if done.rowcount:
                outbox.append(tx, "node", {"name": name, "removed": True})
