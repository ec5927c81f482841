"""A placement as reported: its row, its history, its deployment's state, and the events of both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from controller.store import documents
from controller.store.words import EventKind
from margrave.lifecycle import WORKING, Outcome, State, allowed

if TYPE_CHECKING:
    from datetime import datetime

    from controller.reports.messages import PlacementData
    from controller.store import Session
    from controller.store.batch import Page, Row
    from controller.store.deployments import Key
    from controller.store.freshness import Moment

UNKNOWN_APP = "unknown"  # of a deployment that Git has not told us of yet

# Columns of a placement that are as its runner tells them, whatever is wanted.
_AS_TOLD: Final = (
    "state",
    "revision",
    "version",
    "attempt",
    "reason",
    "error",
    "waiting",
    "health",
    "drift",
    "components",
    "keeps_data",
)


@dataclass(frozen=True, slots=True)
class Told:
    """Where and when a batch was taken in; an older epoch's reports are history only.

    `page` is what the batch touches, in memory; `moved` are the deployments whose state is still to
    be brought in line: once at the end of the batch, however many of their placements moved.
    """

    site: str
    runner: str
    moment: Moment
    adopts: bool
    page: Page
    moved: dict[int, Key] = field(default_factory=dict)

    @property
    def now(self) -> datetime:
        """The time of receipt."""
        return self.moment.now

    @property
    def session(self) -> Session:
        """For what is not on the page; write the page first where the two meet."""
        return self.page.session

    def undo(self, moved: dict[int, Key]) -> None:
        """An event was rejected and its rows are undone: forget what it did."""
        self.page.forget()
        self.moved.clear()
        self.moved.update(moved)


def apply(told: Told, data: PlacementData, at: datetime) -> None:
    """Take a placement's report in, and tell everybody."""
    page = told.page
    key = deployment(told, data.deployment, data.name)
    before = page.standing(key, data.node)
    if data.to is not None:
        page.transition(key, _transition(data, before, at))
    if not told.adopts or (before is not None and before.incarnation > data.incarnation):
        return
    page.place(key, data.node, data.incarnation, _present(key, data, at))
    shown = page.placement(key, data.node)
    shown["from"] = str(data.frm) if data.frm else None
    shown["to"] = str(data.to) if data.to else None
    shown["actor"] = data.actor
    page.tell(EventKind.PLACEMENT, shown, key.id)
    told.moved[key.key] = key


def _present(key: Key, data: PlacementData, at: datetime) -> dict[str, Any]:
    """The placement's row as reported."""
    read = vars(data)
    values: dict[str, Any] = {name: read[name] for name in _AS_TOLD}
    behind = key.in_git and key.revision is not None and data.wanted_revision != key.revision
    if behind and data.state is not State.DELETED:
        # The runner speaks of what was wanted before: of what is wanted now nothing is known yet.
        values |= {
            "outcome": Outcome.PENDING,
            "wanted_revision": key.revision,
            "wanted_version": key.version,
        }
        if data.state not in (*WORKING, State.FAILED):
            values |= {"reason": documents.OTHER_WANTED, "error": None}
    else:
        values |= {
            "outcome": data.outcome,
            "wanted_revision": data.wanted_revision,
            "wanted_version": data.wanted_version,
        }
    values |= {"since": data.since or at, "updated_at": at}
    return values


def settle(told: Told) -> None:
    """Bring the deployments that moved in line, and tell of those that changed."""
    told.page.read([key.id for key in told.moved.values()], ())  # again after a rejected event
    shown = told.page.settle(told.moved)
    for key in told.moved.values():
        if key.key in shown:
            told.page.tell(EventKind.DEPLOYMENT, shown[key.key], key.id)
    told.moved.clear()


def deployment(told: Told, deployment_id: str, name: str | None = None) -> Key:
    """The deployment that a report names; one that only the runner knows is kept as such."""
    found = told.page.key(deployment_id)
    return found or told.page.adopt(deployment_id, name or deployment_id, UNKNOWN_APP)


def _transition(data: PlacementData, before: Row | None, at: datetime) -> dict[str, Any]:
    assert data.to is not None
    revision, version = data.attempted
    return {
        "node": data.node,
        "incarnation": data.incarnation,
        "at": at,
        "from_state": data.frm,
        "to_state": data.to,
        "actor": data.actor,
        "reason": data.reason,
        "operation": data.operation,
        "attempt": data.attempt,
        "revision": revision,
        "version": version,
        "commit": data.commit,
        # The placement keeps its last error; in the history it belongs to the step that failed.
        "error": data.error if data.to is State.FAILED else None,
        "irregular": _irregular(data, before),
    }


def _irregular(data: PlacementData, before: Row | None) -> bool:
    """Whether the table does not know the transition, or it does not begin where we stood."""
    assert data.to is not None
    if not allowed(data.frm, data.to):
        return True
    if before is None or before.incarnation != data.incarnation:
        return data.frm is not None
    return before.state is not data.frm
