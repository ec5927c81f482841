"""Heartbeats: who is alive, and what the runner is told in return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.reports import told as telling
from controller.reports.placed import Told
from controller.store import commands, facts, fleet
from controller.store.batch import Page
from controller.store.freshness import Moment, NodeStatus
from controller.store.reports import Line
from controller.store.shapes import stamp
from margrave.lifecycle import Freshness

if TYPE_CHECKING:
    from datetime import datetime

    from controller.reports.intake import Intake
    from controller.reports.messages import Heartbeat, HeartbeatNode
    from controller.store import Session
    from controller.store.fleet import Claim


def take(intake: Intake, site: str, beat: Heartbeat) -> dict[str, Any]:
    """Note a heartbeat; the head of the repository, open commands, and the time."""
    now = intake.clock()
    line = Line(site, beat.runner, beat.epoch)
    with intake.store.write() as session:
        claim = fleet.claim(session, site)
        if line.epoch >= claim.highest:
            _note(session, line, beat, claim, Moment(now, intake.period))
        return {
            "head": facts.head(session),
            "wanted_commit": claim.wanted_commit,
            "commands": commands.pending(session, site),
            "epoch": max(claim.highest, line.epoch),
            "time": stamp(now),
        }


def _note(session: Session, line: Line, beat: Heartbeat, claim: Claim, moment: Moment) -> None:
    told = Told(line.site, line.runner, moment, True, Page(session, line.site, moment))
    values: dict[str, Any] = {
        "last_seen": moment.now,
        "runner": line.runner,
        "epoch": line.epoch,
    }
    if beat.applied_commit is not None:
        values["applied_commit"] = beat.applied_commit
    changed = fleet.tell_alive(session, line.site, claim, values)
    nodes = {node.name: _node_values(node, beat.at, moment.now) for node in beat.nodes}
    for name in fleet.tell_nodes(session, line.site, nodes):
        telling.tell_node(told, name)
    if changed or moment.site(claim.last_seen) is not Freshness.FRESH:
        telling.tell_site(told)
    told.page.write()


def _node_values(node: HeartbeatNode, at: datetime, now: datetime) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if node.status in tuple(NodeStatus):
        values["status"] = str(node.status)
    if node.last_seen is not None:
        # How long ago it was by the runner's own clock, so a wrong clock there does no harm.
        values["last_seen"] = now - max(at - node.last_seen, at - at)
    return values
