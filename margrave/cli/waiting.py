"""`--wait`: follow a request until every placement it concerns has ended, and judge how."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from margrave.cli import tables
from margrave.cli.exits import Problem, TimedOut
from margrave.cli.holds import Holds, of_request
from margrave.cli.paths import at
from margrave.errors import MargraveError, Unreachable

if TYPE_CHECKING:
    from margrave.cli.api import Api

Row = Mapping[str, Any]
Key = tuple[str, str]  # a deployment's id and site: the same id may stand at several
Told = Callable[[str], None]
Ended = tuple[Row, list[Row]]
T = TypeVar("T")

# Fast enough to feel immediate, slow enough that a hundred waiting scripts are no load.
PERIOD = 0.5
# The controller learns of its own commit within a moment; a change that leaves one site's
# document as it was never shows there, so after this long the present state is judged.
GRACE = 5.0
ENDED: Final = {"succeeded", "failed", "rolled-back", "rollback-failed", "held"}
LOST: Final = {"refused", "cancelled", "failed"}


@dataclass(frozen=True, slots=True)
class Goal:
    """What is waited for. `before` holds the placements as they were, for verbs that leave the
    wanted revision alone: their old outcome must not be taken for the new one."""

    request: str
    deployments: tuple[Key, ...]
    action: str = "update"
    before: Mapping[tuple[str, str, str], Row] = field(default_factory=dict)


def newest(placements: Iterable[Row]) -> list[Row]:
    """The newest incarnation of each node's placement."""
    by_node: dict[str, Row] = {}
    for one in placements:
        known = by_node.get(one["node"])
        if known is None or one.get("incarnation", 0) >= known.get("incarnation", 0):
            by_node[one["node"]] = one
    return [by_node[name] for name in sorted(by_node)]


def has_ended(deployment: Row, placements: Iterable[Row], goal: Goal) -> bool:
    """Whether nothing more is to come of what was asked for this deployment."""
    if deployment["state"] == "DELETED":
        return goal.action == "delete"
    if goal.action == "delete":
        failed = [one for one in placements if one["state"] == "FAILED"]
        return any(_moved(one, goal) for one in failed)
    alive = [one for one in placements if one["state"] != "DELETED"]
    if not alive or not all(_settled(one, deployment) for one in alive):
        return False
    if goal.action not in {"retry", "release"}:
        return True
    # The runner takes up all of a deployment at once. A placement that is held again looks as it
    # did before, so one that moved is enough, and where nothing had to be done none will.
    return any(_moved(one, goal) for one in alive) or succeeded(deployment, alive)


def _settled(placement: Row, deployment: Row) -> bool:
    """Return whether the placement has come to its end for the deployment's revision.

    One that is held before its first install begins stays PENDING.
    """
    state, outcome = placement["state"], placement["outcome"]
    at_rest = state in {"INSTALLED", "FAILED"} or (state, outcome) == ("PENDING", "held")
    return at_rest and outcome in ENDED and placement["wanted_revision"] == deployment["revision"]


def _may_go_back(placement: Row) -> bool:
    """Return whether a failed placement has an earlier release that the runner can bring back."""
    return placement["state"] == "FAILED" and placement.get("revision") is not None


def _moved(placement: Row, goal: Goal) -> bool:
    old = goal.before.get((placement["deployment"], placement["site"], placement["node"]))
    watched = ("state", "outcome", "attempt", "since", "incarnation")
    return old is None or any(old.get(name) != placement.get(name) for name in watched)


def succeeded(deployment: Row, placements: Iterable[Row]) -> bool:
    """Whether every placement did; a deployment that is gone has been deleted as asked."""
    if deployment["state"] == "DELETED":
        return True
    alive = [one for one in placements if one["state"] != "DELETED"]
    return bool(alive) and all(one["outcome"] == "succeeded" for one in alive)


class Follower:
    """Asks until the goal has ended or the time is up; a controller that restarts is waited for."""

    def __init__(self, api: Api, timeout: float, tell: Told, warn: Told) -> None:
        self._api = api
        self._holds = Holds(api, warn)
        self._tell = tell
        self._deadline = time.monotonic() + timeout
        api.end_by(self._deadline)
        self._limit = timeout
        self._shown: dict[tuple[str, str, str], str] = {}
        self._failed_since: dict[Key, float] = {}
        self._missing = "the controller's answer"

    def follow(self, goal: Goal) -> tuple[bool, list[Row]]:
        """Whether all succeeded, and the placements as they ended."""
        request = self._until(partial(self._published, goal.request))
        seen = time.monotonic()
        done: dict[Key, Ended] = {}
        self._until(partial(self._all_ended, goal, request, seen, done))
        ends = [done[key] for key in goal.deployments]
        good = all(succeeded(one, placements) for one, placements in ends)
        return good, [row for _, placements in ends for row in placements]

    def _all_ended(self, goal: Goal, request: Row, seen: float, done: dict[Key, Ended]) -> Any:
        """Looks at each that has not ended, so that all are shown as they go."""
        for key in goal.deployments:
            if key not in done:
                found = self._ended(key, request, goal, seen)
                if found is not None:
                    done[key] = found
        return done if len(done) == len(goal.deployments) else None

    def _published(self, request: str) -> Row | None:
        found: Row = self._api.get(at("requests", request))
        held = of_request(found)
        self._missing = f"request {request}, which is {found['state']}"
        if held and found["state"] not in LOST:
            self._missing += f": {held}"
            self._holds.tell(request, f"request {request} is {found['state']}: {held}")
        if found["state"] in LOST:
            error = found.get("error")
            told = error.get("message") if isinstance(error, Mapping) else error
            why = f": {told}" if told else ""
            raise MargraveError(f"request {request} was {found['state']}{why}")
        return found if found["state"] == "published" else None

    def _ended(self, key: Key, request: Row, goal: Goal, seen: float) -> Ended | None:
        path, site = at("deployments", key[0]), key[1]
        deployment: Row = self._api.get(path, site=site)
        placements = newest(self._api.items(f"{path}/placements", site=site))
        where = f"{deployment['name']} at {deployment['site']}"
        self._missing = f"{where}, which is {deployment['state']}"
        self._show(deployment, placements)
        known = request.get("commit") in (None, deployment.get("commit")) or (
            deployment.get("request") == goal.request
        )
        if not known and time.monotonic() - seen < GRACE:
            return None
        if not has_ended(deployment, placements, goal):
            self._failed_since.pop(key, None)
            if held := self._holds.of_deployment(key, where):
                self._missing = f"{where}: {held}"
            return None
        if any(_may_go_back(one) for one in placements) and not self._stayed(key):
            return None
        return deployment, placements

    def _stayed(self, key: Key) -> bool:
        """A failure counts when it stays: going back begins a moment after it."""
        now = time.monotonic()
        return now - self._failed_since.setdefault(key, now) >= GRACE

    def _show(self, deployment: Row, placements: list[Row]) -> None:
        for one in placements:
            key = (str(deployment["id"]), str(deployment["site"]), str(one["node"]))
            text = f"{one['state']} {one['outcome']}"
            if self._shown.get(key) != text:
                self._shown[key] = text
                # While it is under way its error and reason may still be those of the last attempt.
                over = one["outcome"] in ENDED or one.get("waiting")
                why = tables.trouble(one) if over else None
                place = f"{deployment['site']}/{one['node']}"
                self._tell(f"{place}  {text}" + (f"  {why}" if why else ""))

    def _until(self, ask: Callable[[], T | None]) -> T:
        while True:
            try:
                answer = ask()
            except Unreachable as error:
                answer, self._missing = None, str(error)
            except Problem as problem:
                if problem.status != 429 and problem.status < 500:
                    raise
                answer, self._missing = None, str(problem)
            if answer is not None:
                return answer
            if time.monotonic() + PERIOD > self._deadline:
                raise TimedOut(f"not done after {self._limit:.0f} s: waiting for {self._missing}")
            time.sleep(PERIOD)
