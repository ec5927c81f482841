"""What a runner tells of operations, logs, nodes, its site and commands: a function for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from controller.reports import placed
from controller.reports.messages import (
    CommandData,
    LogData,
    NodeData,
    OperationData,
    PlacementData,
    SiteData,
    SnapshotData,
)
from controller.store import (
    commands,
    deployments,
    events,
    fleet,
    operations,
    placements,
    requests,
)
from controller.store.words import Action, CommandState, EventKind
from margrave.errors import Refused
from margrave.lifecycle import Kind, State

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from controller.reports.placed import Told
    from controller.store import Session
    from controller.store.deployments import Key

REMOVED: Final = "it is in no snapshot of the runner any more"


def placement(session: Session, told: Told, data: Any, at: datetime) -> None:
    """A placement moved, or something beside its state changed."""
    placed.apply(session, told, PlacementData.model_validate(data), at)


def operation(session: Session, told: Told, data: Any, at: datetime) -> None:
    """An operation began, went on, or ended."""
    read = OperationData.model_validate(data)
    known = operations.site_of(session, read.id)
    if known not in (None, told.site):
        raise Refused(f"operation {read.id} belongs to another site")
    key = placed.deployment(session, told, read.deployment)
    values = read.model_dump(exclude={"id", "deployment", "revision"})
    values |= {"deployment": key.key, "site": told.site, "updated_at": at}
    values["kind"] = operations.kind_of(session, read.id) or _kind(session, key, read)
    operations.save(session, read.id, values)
    shown = operations.get(session, read.id)
    if shown is not None:
        events.append(session, EventKind.OPERATION, shown, told.site, key.id, told.now)


def log(session: Session, told: Told, data: Any, at: datetime) -> None:
    """Lines of an operation's log."""
    read = LogData.model_validate(data)
    lines = read.lines + ([read.line] if read.line is not None else [])
    if operations.site_of(session, read.operation) != told.site:
        raise Refused(f"nobody told of operation {read.operation}")
    operations.add_log(session, read.operation, lines, at)
    shown = {"operation": read.operation, "lines": lines}
    found = operations.get(session, read.operation)
    uuid = found["deployment"] if found else None
    events.append(session, EventKind.LOG, shown, told.site, uuid, told.now)


def node(session: Session, told: Told, data: Any, at: datetime) -> None:
    """A node is new, changed, or gone."""
    del at
    read = NodeData.model_validate(data)
    if not told.adopts:
        return
    if read.removed:
        if fleet.forget_node(session, told.site, read.name):
            gone = {"site": told.site, "name": read.name, "removed": True}
            events.append(session, EventKind.NODE, gone, told.site, None, told.now)
        return
    if _keep_node(session, told, read):
        tell_node(session, told, read.name)


def site(session: Session, told: Told, data: Any, at: datetime) -> None:
    """What holds the site, and how far it has come."""
    del at
    read = SiteData.model_validate(data)
    if not told.adopts:
        return
    locked = read.locked
    if locked is True:
        locked = {"reason": "locked at the site"}
    values = {
        "locked": locked or None,
        "halted": read.halted,
        "applied_commit": read.applied_commit,
    }
    if fleet.tell_site(session, told.site, values):
        tell_site(session, told)


def command(session: Session, told: Told, data: Any, at: datetime) -> None:
    """A command is done or refused."""
    read = CommandData.model_validate(data)
    if read.result is CommandState.PENDING:
        raise Refused("the result of a command is done or refused")
    if not commands.acknowledge(session, told.site, read.id, read.result, read.detail or "", at):
        raise Refused(f"the site was given no command {read.id}")


def snapshot(session: Session, told: Told, data: Any, at: datetime) -> None:
    """All that the runner knows: taken over as it stands, without history."""
    read = SnapshotData.model_validate(data)
    if not told.adopts:
        return
    seen: set[tuple[str, str]] = set()
    for one in read.placements:
        data_of_one = PlacementData.model_validate(one)
        seen.add((data_of_one.deployment, data_of_one.node))
        still = data_of_one.model_copy(update={"frm": None, "to": None})
        placed.apply(session, told, still, at)
    for one in read.nodes:
        node(session, told, one, at)
    _forget_nodes(session, told, {NodeData.model_validate(one).name for one in read.nodes})
    if read.site:
        site(session, told, read.site, at)
    _end_unknown(session, told, seen, at)


def tell_site(session: Session, told: Told) -> None:
    """Store the event of a site as it now stands."""
    session.flush()
    shown = fleet.site(session, told.site, told.moment)
    if shown is not None:
        events.append(session, EventKind.SITE, shown, told.site, None, told.now)


def tell_node(session: Session, told: Told, name: str) -> None:
    """Store the event of a node as it now stands."""
    session.flush()
    shown = fleet.node(session, told.site, name, told.moment)
    if shown is not None:
        events.append(session, EventKind.NODE, shown, told.site, None, told.now)


def _kind(session: Session, key: Key, read: OperationData) -> Kind:
    """An operator's rollback is an update like any other on the node, and named as was asked."""
    if read.kind is not Kind.UPDATE or read.revision is None or read.revision != key.revision:
        return read.kind
    if placements.running(session, key.key, read.node) == read.revision:
        return read.kind  # a heal, or another secret
    asked = requests.bringing(session, key.key)
    return Kind.ROLLBACK if asked is Action.ROLLBACK else read.kind


def _keep_node(session: Session, told: Told, read: NodeData) -> bool:
    values = read.model_dump(include={"address", "status", "last_seen", "labels", "capabilities"})
    known = {name: value for name, value in values.items() if value is not None}
    return fleet.tell_node(session, told.site, read.name, known, told.now)


def _forget_nodes(session: Session, told: Told, known: set[str]) -> None:
    for name in fleet.node_names(session, told.site) - known:
        node(session, told, {"name": name, "removed": True}, told.now)


def _end_unknown(session: Session, told: Told, seen: set[tuple[str, str]], at: datetime) -> None:
    """Placements that the runner no longer knows and Git no longer wants are gone.

    Those that Git wants stay as they were: a runner with a new state folder has not looked yet.
    """
    for (uuid, node_name), stand in placements.standing(session, told.site).items():
        key = deployments.find(session, uuid, told.site)
        if (uuid, node_name) in seen or key is None or key.in_git:
            continue
        gone = PlacementData(
            deployment=uuid,
            node=node_name,
            incarnation=stand.incarnation,
            state=State.DELETED,
            outcome="succeeded",
            reason=REMOVED,
            frm=stand.state,
            to=State.DELETED,
            actor="runner",
        )
        placed.apply(session, told, gone, at)


HANDLERS: Final[dict[str, Callable[[Session, Told, Any, datetime], None]]] = {
    "snapshot": snapshot,
    "placement": placement,
    "operation": operation,
    "node": node,
    "site": site,
    "command": command,
    "log": log,
}
