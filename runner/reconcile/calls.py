"""From a step to a call: what an operation is to lead to, and the arguments that go to its node.

What is stored with an operation is enough to make the same call again after any interruption. The
fence and what is sensitive are added on the way out, and never stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from margrave.documents.extensions import Extensions
from margrave.documents.site import SiteDocument
from margrave.error_classes import ErrorClass
from margrave.errors import MargraveError, SecretsUnread
from margrave.lifecycle import Kind
from margrave.planner import effective
from margrave.planning import Step
from runner.ports import Call, Node, Result, Status, Target
from runner.reconcile import arguments
from runner.reconcile.beginning import Goal
from runner.reconcile.sensitive import NoLogin, hidden
from runner.reconcile.view import ReleaseOf
from runner.source import Desired
from runner.store import Operation, Placement

# What a call fails with that could not be made; the first kind that fits is it.
_CLASSES: Final = (
    (NoLogin, ErrorClass.AUTH),
    (SecretsUnread, ErrorClass.DISK),  # of the site, so it is tried again and never gone back from
    (MargraveError, ErrorClass.CONFIG),
)


@dataclass(frozen=True)
class Calls:
    """Makes calls from what Git wants now, and from what the site allows."""

    desired: Callable[[], Desired | None]
    release_of: ReleaseOf
    policy: Callable[[SiteDocument], Mapping[str, Any]]
    target: Callable[[Node], Target]
    sensitive: Callable[[Mapping[str, Any]], Mapping[str, Any]]  # registries, resolved secrets

    def arguments(self, step: Step, placement: Placement) -> tuple[dict[str, Any], Goal]:
        """What is stored of the call that a step asks for, and what it is to lead to."""
        if step.kind is Kind.DELETE:
            goal = Goal(placement.release, placement.revision, placement.version)
            return arguments.delete_arguments(placement), goal
        desired = self.desired()
        document = desired.deployment(step.deployment) if desired else None
        wanted = self.release_of(document) if document else None
        extensions = self.extensions(step.deployment)
        proof = arguments.proof_arguments(step, placement, extensions)
        if step.kind is Kind.ROLLBACK or (step.heal and step.to_release != wanted):
            policy = self.policy(desired.site if desired else SiteDocument())
            goal = _known(placement, step.to_release)
            back = (step.deployment, goal.release, extensions, policy)
            return arguments.rollback_arguments(*back) | proof, goal
        built, goal = self._wanted(step.deployment)
        return built | proof, goal

    def _wanted(self, deployment: str) -> tuple[dict[str, Any], Goal]:
        """What an install or an update of what Git wants is called with."""
        desired = self.desired()
        document = desired.deployment(deployment) if desired else None
        assert desired is not None and document is not None, "what is begun is wanted"
        extensions, release = self.extensions(deployment), self.release_of(document)
        policy = self.policy(desired.site)
        built = arguments.release_arguments(document, extensions, policy, desired.components)
        return built | {"release": release}, Goal(release, document.revision, document.version)

    def extensions(self, deployment: str) -> Extensions:
        """The policies of a deployment; the defaults of one that Git no longer has."""
        desired = self.desired()
        document = desired.deployment(deployment) if desired else None
        return effective(document, desired.site) if desired and document else Extensions()

    def call(self, one: Operation, node: Node, runner: str) -> Call:
        """The call as it goes out; MargraveError where it cannot be made, as for want of a
        secret."""
        fence = {"runner": runner, "epoch": one.epoch, "seq": one.seq}
        kind = arguments.called(one)
        more = self.sensitive(one.arguments) if kind is not Kind.DELETE else {}
        target = self.target(node)
        # One that an earlier version has stored may be of any length.
        seconds = min(one.deadline, arguments.LONGEST_CALL)
        call = _call(one.id, kind, target, one.arguments, more, fence, seconds)
        # These may follow a cancel: what they stop holds the connection that all calls share.
        return replace(call, apart=kind is Kind.ROLLBACK or arguments.takes_off(one))

    def ahead(self, deployment: str, ident: str, node: Node, fence: Mapping[str, Any]) -> Call:
        """The call that only fetches what Git wants of a deployment; MargraveError as above."""
        built, _ = self._wanted(deployment)
        desired = self.desired()
        built = arguments.traced(built, desired.traces.get(deployment, "") if desired else "")
        seconds, more = arguments.deadline(Kind.UPDATE, built), self.sensitive(built)
        call = _call(ident, Kind.UPDATE, self.target(node), built, more, fence, seconds)
        return replace(call, ahead=True)


def _known(placement: Placement, release: str | None) -> Goal:
    """Return a release that is on the node: the one that runs there, or the proven one."""
    if release is not None and release == placement.release:
        return Goal(release, placement.revision, placement.version)
    return Goal(placement.good_release, placement.good_revision, placement.good_version)


def _call(
    ident: str,
    kind: Kind,
    node: Target,
    stored: Mapping[str, Any],
    sensitive: Mapping[str, Any],
    fence: Mapping[str, Any],
    seconds: int,
) -> Call:
    """The call with all that is stored nowhere; the node is told what of it is secret, and when
    nobody will be listening any more."""
    sent = {**stored, "fence": fence, "request_id": ident, **sensitive}
    sent["deadline"] = arguments.on_node(seconds)
    kept_back = hidden(stored, sent)
    if "components" in sent:
        sent["secrets"] = list(kept_back)
    return Call(ident, kind, node, sent, seconds, hidden=kept_back)


def refused(one: Operation, error: Exception, now: datetime) -> Result:
    """What a call that could not be made came to; what nobody foresaw is a defect."""
    cls = next((cls for kind, cls in _CLASSES if isinstance(error, kind)), ErrorClass.INTERNAL)
    defect = "report it, with the runner's log"
    cure = error.cure if isinstance(error, MargraveError) else defect
    told = {"class": cls, "code": "not-callable", "message": not_made(error), "cure": cure}
    return Result(one.id, Status.FAILED, {"error": told}, now, now)


def not_made(error: Exception) -> str:
    """Why a call could not be made. The text of what nobody foresaw may hold anything, a secret's
    value too: the log has it, and no report."""
    if isinstance(error, MargraveError):
        return error.message
    return f"the call could not be made: {type(error).__name__}"
