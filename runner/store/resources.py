"""Values as they are told to others: the resources of the HTTP contract, without the site's name.

The site's name is the sender's, who adds it; nothing in the store depends on it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from runner.ports import Node
from runner.store.types import rfc3339
from runner.store.values import Operation, OperationState, Placement, SiteState


def moment(value: datetime | None) -> str | None:
    """A time as it travels."""
    return None if value is None else rfc3339(value)


def placement_resource(one: Placement) -> dict[str, Any]:
    """A placement with all of its fields but its freshness, which is its node's."""
    return {
        "deployment": one.deployment,
        "name": one.name,
        "application": one.application,
        "node": one.node,
        "incarnation": one.incarnation,
        "state": one.state.value,
        "outcome": one.outcome.value,
        "revision": one.revision,
        "version": one.version,
        "wanted_revision": one.wanted_revision,
        "wanted_version": one.wanted_version,
        "attempt": one.attempt,
        "reason": one.reason,
        "error": dict(one.error) if one.error else None,
        "waiting": dict(one.waiting) if one.waiting else None,
        "health": one.health,
        "drift": list(one.drift),
        "components": [dict(component) for component in one.components],
        "keeps_data": one.keeps_data,
        "since": moment(one.since),
    }


def operation_resource(one: Operation) -> dict[str, Any]:
    """An operation with all of its fields."""
    return {
        "id": one.id,
        "deployment": one.deployment,
        "node": one.node,
        "incarnation": one.incarnation,
        "kind": one.kind.value,
        "state": OperationState(one.state).value,
        "phase": one.phase,
        "attempt": one.attempt,
        "started_at": moment(one.started_at),
        "ended_at": moment(one.ended_at),
        "fence": {"epoch": one.epoch, "seq": one.seq},
        "error": dict(one.error) if one.error else None,
        "reason": one.reason,
        "revision": one.revision,
        "version": one.version,
        "commit": one.commit,
        "trace": one.arguments.get("trace"),
    }


def node_resource(one: Node) -> dict[str, Any]:
    """A node with all of its fields."""
    return {
        "name": one.name,
        "address": one.address,
        "status": one.status.value,
        "drain": one.drain,
        "last_seen": moment(one.last_seen),
        "labels": dict(one.labels),
        "capabilities": dict(one.capabilities),
        "error": one.error,
        "problems": list(one.problems),
    }


def site_resource(one: SiteState) -> dict[str, Any]:
    """What holds the site, and how far it has come."""
    return {
        "locked": dict(one.locked) if one.locked else None,
        "halted": dict(one.halted) if one.halted else None,
        "applied_commit": one.applied_commit,
        "stood_down": one.stood_down,
    }
