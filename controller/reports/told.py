"""What a runner tells of operations, logs, nodes, its site and commands: a function for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from controller.reports import placed
from controller.reports.messages import (
    CommandData,
    LogData,
    Message,
    NodeData,
    OperationData,
    PlacementData,
    SiteData,
    SnapshotData,
)
from controller.store import (
    commands,
    fleet,
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
    from controller.store.deployments import Key

REMOVED: Final = "it is in no snapshot of the runner any more"


def placement(told: Told, read: PlacementData, at: datetime) -> None:
    """A placement moved, or something beside its state changed."""
    placed.apply(told, read, at)


def operation(told: Told, read: OperationData, at: datetime) -> None:
    """An operation began, went on, or ended."""
    known = told.page.operation(read.id)
    if known is not None and known.site != told.site:
        raise Refused(f"operation {read.id} belongs to another site")
    key = placed.deployment(told, read.deployment)
    values = read.model_dump(exclude={"id", "deployment", "revision", "trace"})
    values["kind"] = known.kind if known is not None else _kind(told, key, read)
    if read.fence is not None:  # whose claim it is; a runner tells of its own calls alone
        # Kept with it: for whom the call is.
        values["fence"] = {"runner": told.runner, **read.fence, "trace": read.trace}
    shown = told.page.operate(read.id, key, {**values, "updated_at": at})
    told.page.tell(EventKind.OPERATION, shown, key.id)


def _kind(told: Told, key: Key, read: OperationData) -> Kind:
    """An operator's rollback is an update like any other on the node, and named as was asked."""
    if read.kind is not Kind.UPDATE or read.revision is None or read.revision != key.revision:
        return read.kind
    before = told.page.standing(key, read.node)
    if before is not None and before.revision == read.revision:
        return read.kind  # a heal, or another secret
    asked = requests.bringing(told.session, key.key)
    return Kind.ROLLBACK if asked is Action.ROLLBACK else read.kind


def log(told: Told, read: LogData, at: datetime) -> None:
    """Lines of an operation's log."""
    lines = read.lines + ([read.line] if read.line is not None else [])
    known = told.page.operation(read.operation)
    if known is None or known.site != told.site:
        raise Refused(f"nobody told of operation {read.operation}")
    told.page.log(read.operation, lines, at, known.uuid)


def node(told: Told, read: NodeData, at: datetime) -> None:
    """A node is new, changed, or gone."""
    del at
    if not told.adopts:
        return
    if read.removed:
        if fleet.forget_node(told.session, told.site, read.name):
            gone = {"site": told.site, "name": read.name, "removed": True}
            told.page.tell(EventKind.NODE, gone)
        return
    if _keep_node(told, read):
        tell_node(told, read.name)


def site(told: Told, read: SiteData, at: datetime) -> None:
    """What holds the site, and how far it has come."""
    del at
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
    if fleet.tell_site(told.session, told.site, values):
        tell_site(told)


def command(told: Told, read: CommandData, at: datetime) -> None:
    """A command is done or refused."""
    if read.result is CommandState.PENDING:
        raise Refused("the result of a command is done or refused")
    done = (read.result, read.detail or "", at)
    if not commands.acknowledge(told.session, told.site, read.id, *done):
        raise Refused(f"the site was given no command {read.id}")


def snapshot(told: Told, read: SnapshotData, at: datetime) -> None:
    """All that the runner knows: taken over as it stands, without history."""
    if not told.adopts:
        return
    for one in read.nodes:
        node(told, one, at)
    _forget_nodes(told, {one.name for one in read.nodes})
    told.session.flush()
    told.page.look_again()
    told.page.read([one.deployment for one in read.placements], ())
    for placement_ in read.placements:
        placed.apply(told, placement_.model_copy(update={"frm": None, "to": None}), at)
    if read.site is not None and read.site.model_fields_set:  # an empty one says nothing
        site(told, read.site, at)
    told.page.write()
    _end_unknown(told, {(one.deployment, one.node) for one in read.placements}, at)


def tell_site(told: Told) -> None:
    """Store the event of a site as it now stands."""
    told.session.flush()
    shown = fleet.site(told.session, told.site, told.moment)
    if shown is not None:
        told.page.tell(EventKind.SITE, shown)


def tell_node(told: Told, name: str) -> None:
    """Store the event of a node as it now stands."""
    told.session.flush()
    shown = fleet.node(told.session, told.site, name, told.moment)
    if shown is not None:
        told.page.tell(EventKind.NODE, shown)


def _keep_node(told: Told, read: NodeData) -> bool:
    values = read.model_dump(include={"address", "status", "last_seen", "labels", "capabilities"})
    known = {name: value for name, value in values.items() if value is not None}
    if read.error is not None:  # an older runner reports none
        known["reason"] = read.error or None
    return fleet.tell_node(told.session, told.site, read.name, known, told.now)


def _forget_nodes(told: Told, known: set[str]) -> None:
    for name in sorted(fleet.node_names(told.session, told.site) - known):
        node(told, NodeData(name=name, removed=True), told.now)


def _end_unknown(told: Told, seen: set[tuple[str, str]], at: datetime) -> None:
    """Placements that the runner no longer knows and Git no longer wants are gone.

    Those that Git wants stay as they were: a runner with a new state folder has not looked yet.
    """
    standing = placements.standing(told.session, told.site)
    told.page.read([uuid for uuid, _ in standing], ())
    for (uuid, node_name), stand in standing.items():
        key = told.page.key(uuid)
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
        placed.apply(told, gone, at)


@dataclass(frozen=True, slots=True)
class Handler:
    """How a kind of event is read and taken in.

    One that is `light` refuses, when it does, before it has changed anything, and works on the page
    alone; what the others do is undone by the database when they refuse.
    """

    model: type[Message]
    take: Callable[[Told, Any, datetime], None]
    light: bool = False


HANDLERS: Final[dict[str, Handler]] = {
    "snapshot": Handler(SnapshotData, snapshot),
    "placement": Handler(PlacementData, placement, light=True),
    "operation": Handler(OperationData, operation, light=True),
    "node": Handler(NodeData, node),
    "site": Handler(SiteData, site),
    "command": Handler(CommandData, command),
    "log": Handler(LogData, log, light=True),
}
