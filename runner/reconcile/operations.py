"""Operations from begin to end: each change of state, its fence and its report are one transaction.

Begin: the row, the state and the fence's number are written before the node hears of anything.
End: the result becomes a state. What lies between can be killed at any point: the row stays, and
the same call with the same fence is made again.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from margrave.documents.extensions import Extensions
from margrave.documents.site import SiteDocument
from margrave.error_classes import ErrorClass
from margrave.errors import MargraveError
from margrave.lifecycle import WORKING_STATE, Kind, State
from margrave.planner import effective
from margrave.planning import Step
from runner.instruments import OPERATION_SECONDS, OPERATIONS, ROLLBACKS, Instruments
from runner.ports import Call, Executor, Node, Progress, Result, Status, Target
from runner.reconcile import arguments, view
from runner.reconcile.beginning import Goal, new_placement, noted, reason_of
from runner.reconcile.journal import Journal
from runner.reconcile.settlement import Case, Jitter, Settlement, settle
from runner.source import Desired
from runner.store import (
    Operation,
    OperationState,
    Placement,
    Store,
    Transaction,
    placements,
    site,
    transitions,
)
from runner.store import operations as rows
from runner.store.reporting import stand_down

_ANSWER_GRACE: Final = timedelta(seconds=60)
# What leads to nothing new is finished, whatever Git wants meanwhile.
_NEVER_OUTDATED: Final = (Kind.DELETE, Kind.ROLLBACK)


@dataclass(frozen=True)
class Dispatch:
    """What is handed to a call besides its arguments, and is never stored."""

    target: Callable[[Node], Target]
    sensitive: Callable[[Mapping[str, Any]], Mapping[str, Any]]  # registries, resolved secrets


class Operations:
    """Begins, repeats and ends operations."""

    def __init__(
        self,
        store: Store,
        executor: Executor,
        dispatch: Dispatch,
        journal: Journal,
        desired: Callable[[], Desired | None],
        release_of: view.ReleaseOf,
        policy: Callable[[SiteDocument], Mapping[str, Any]],
        wake: Callable[[], None],
        jitter: Jitter = random.random,
        instruments: Instruments | None = None,
    ) -> None:
        self._store = store
        self._executor = executor
        self._dispatch = dispatch
        self._journal = journal
        self._desired = desired
        self._release_of = release_of
        self._policy = policy
        self._wake = wake
        self._jitter = jitter
        self._instruments = instruments or Instruments()
        self._sent: dict[str, datetime] = {}  # when each running call was handed over

    def begin(self, steps: Sequence[Step], nodes: Mapping[str, Node]) -> int:
        """Start what is due; how many there were."""
        if not steps:
            return 0
        with self._store.write() as tx:
            begun = [self._begin(tx, step) for step in steps]
        self._send(begun, nodes)
        return len(begun)

    def repeat(self, nodes: Mapping[str, Node], *, back: frozenset[str] = frozenset()) -> int:
        """Make calls again that did not end, when it is their time or their node is back."""
        with self._store.write() as tx:
            running = {"state": OperationState.RUNNING, "next_try_at": None}
            due = [
                rows.change(tx, one.id, **running)
                for one in rows.unfinished(tx)
                if one.node in nodes and self._is_due(one, tx.now, back)
            ]
        self._send(due, nodes)
        return len(due)

    def _is_due(self, one: Operation, now: datetime, back: frozenset[str]) -> bool:
        if one.state is OperationState.WAITING:
            return one.node in back or one.next_try_at is None or one.next_try_at <= now
        sent = self._sent.get(one.id)
        # An answer that never came, from a call that was never handed over or got lost inside.
        return sent is None or now - sent > timedelta(seconds=one.deadline) + _ANSWER_GRACE

    def running(self) -> bool:
        """Whether a call is on its way."""
        with self._store.read() as tx:
            return any(one.state is OperationState.RUNNING for one in rows.unfinished(tx))

    def resume(self) -> int:
        """After a start: what was running when the process ended is called again."""
        with self._store.write() as tx:
            cut = [one for one in rows.unfinished(tx) if one.state is OperationState.RUNNING]
            for one in cut:
                rows.change(tx, one.id, state=OperationState.WAITING, next_try_at=tx.now)
        return len(cut)

    def supersede(self, wanted: Mapping[str, str]) -> int:
        """End waiting operations whose release Git no longer wants: the newest revision wins."""
        ended = 0
        with self._store.write() as tx:
            for one in rows.unfinished(tx):
                newer = wanted.get(one.deployment)
                goes_on = arguments.called(one) in _NEVER_OUTDATED or newer == one.release
                if one.state is OperationState.WAITING and not goes_on:
                    self._give_way(tx, one)
                    ended += 1
        return ended

    def finish(self, result: Result) -> None:
        """A result has come, from whatever thread: write what follows from it."""
        sent = self._sent.get(result.operation)
        with self._store.write() as tx:
            operation = rows.find(tx, result.operation)
            if operation is None or operation.state is not OperationState.RUNNING:
                return  # a second answer to a call that has ended
            self._journal.flush(tx, operation.id)
            placement = placements.find(tx, operation.deployment, operation.node)
            assert placement is not None, "an operation has a placement"
            extensions = self._extensions(operation.deployment)
            case = Case(placement, operation, result, extensions, tx.now, self._jitter)
            settlement = settle(case)
            self._write(tx, case, settlement)
        if settlement.to is not None:
            self._count(case, settlement)
        # Only now: while it is running and not among the sent, it would be called again.
        if self._sent.get(result.operation) is sent:
            self._sent.pop(result.operation, None)
        self._wake()

    def _count(self, case: Case, settlement: Settlement) -> None:
        one, error = case.operation, settlement.operation.get("error") or {}
        result, cls = str(settlement.operation["state"]), str(error.get("class") or "")
        self._instruments.count(OPERATIONS, one.kind, result, cls)
        seconds = (case.now - one.started_at).total_seconds()
        self._instruments.observe(OPERATION_SECONDS, seconds, one.kind)
        if one.kind is Kind.ROLLBACK and result == OperationState.SUCCEEDED:
            why = (case.placement.error or {}).get("class") or "cancelled"
            self._instruments.count(ROLLBACKS, str(why))

    def _write(self, tx: Transaction, case: Case, settlement: Settlement) -> None:
        fence = {"seq": site.take_fence_seq(tx)} if settlement.anew else {}
        rows.change(tx, case.operation.id, **settlement.operation, **fence)
        if settlement.to is None:
            transitions.note(tx, case.placement, **settlement.placement)
            return
        tried = case.placement.tried_release
        transitions.move(
            tx, case.placement, settlement.to, settlement.reason, **settlement.placement
        )
        if settlement.quarantine and tried is not None:
            revision = case.placement.wanted_revision or ""
            placements.put_in_quarantine(
                tx, case.operation.deployment, tried, revision, settlement.reason
            )
        if settlement.other_runner:
            stand_down(tx, settlement.other_runner)

    def _begin(self, tx: Transaction, step: Step) -> Operation:
        placement = self._placement(tx, step)
        assert step.kind is not None, "only steps with a kind are begun"
        built, goal = self._arguments(step, placement)
        why = reason_of(step, placement, goal)
        who = site.identity_of(tx)
        operation = Operation(
            id=str(uuid.uuid4()),
            deployment=step.deployment,
            node=step.node,
            incarnation=placement.incarnation,
            kind=step.kind,
            state=OperationState.RUNNING,
            reason=why,
            attempt=step.attempt,
            epoch=who.epoch,
            seq=site.take_fence_seq(tx),
            deadline=arguments.deadline(step.kind, built),
            started_at=tx.now,
            arguments=built,
            commit=placement.commit,
            release=goal.release,
            revision=goal.revision,
            version=goal.version,
        )
        operation = replace(operation, log_file=str(self._journal.path(operation.id)))
        rows.add(tx, operation)
        changes = noted(step, operation, placement, tx.now)
        transitions.move(tx, placement, WORKING_STATE[step.kind], why, **changes)
        return operation

    def _placement(self, tx: Transaction, step: Step) -> Placement:
        found = placements.find(tx, step.deployment, step.node)
        if found is not None and found.state is not State.DELETED:
            return found
        return new_placement(tx, step, self._desired())

    def _arguments(self, step: Step, placement: Placement) -> tuple[dict[str, Any], Goal]:
        if step.kind is Kind.DELETE:
            goal = Goal(placement.release, placement.revision, placement.version)
            return arguments.delete_arguments(placement), goal
        extensions = self._extensions(step.deployment)
        desired = self._desired()
        policy = self._policy(desired.site if desired else SiteDocument())
        document = desired.deployment(step.deployment) if desired else None
        wanted = self._release_of(document) if document else None
        if step.kind is Kind.ROLLBACK or (step.heal and step.to_release != wanted):
            goal = Goal(placement.good_release, placement.good_revision, placement.good_version)
            return arguments.rollback_arguments(placement, extensions, policy), goal
        assert desired is not None and document is not None, "what is begun is wanted"
        built = arguments.release_arguments(document, extensions, policy, desired.components)
        return built | {"release": wanted}, Goal(wanted, document.revision, document.version)

    def _extensions(self, deployment: str) -> Extensions:
        desired = self._desired()
        document = desired.deployment(deployment) if desired else None
        return effective(document, desired.site) if desired and document else Extensions()

    def _give_way(self, tx: Transaction, one: Operation) -> None:
        why = "a newer revision is wanted"
        rows.change(tx, one.id, state=OperationState.CANCELLED, ended_at=tx.now, next_try_at=None)
        placement = placements.find(tx, one.deployment, one.node)
        assert placement is not None, "an operation has a placement"
        transitions.move(tx, placement, State.FAILED, why, waiting=None, next_attempt_at=None)

    def _send(self, begun: Sequence[Operation], nodes: Mapping[str, Node]) -> None:
        calls = []
        for one in begun:
            try:
                calls.append(self._call(one, nodes[one.node]))
            except MargraveError as error:
                self.finish(_refused(one, error, self._store.clock()))
        if calls:
            now = self._store.clock()
            self._sent |= {one.operation: now for one in calls}
            self._executor.start(calls, self._progress, self.finish)

    def _progress(self, progress: Progress) -> None:
        """A line of its log; where it is at another step, everybody is told."""
        self._journal.add(progress)
        if progress.phase:
            with self._store.write() as tx:
                one = rows.find(tx, progress.operation)
                if one is not None and one.state is OperationState.RUNNING:
                    rows.change(tx, one.id, phase=progress.phase)

    def _call(self, one: Operation, node: Node) -> Call:
        with self._store.read() as tx:
            runner = site.identity_of(tx).runner
        fence = {"runner": runner, "epoch": one.epoch, "seq": one.seq}
        sent = {**one.arguments, "fence": fence, "request_id": one.id}
        kind = arguments.called(one)
        if kind is not Kind.DELETE:
            sent |= self._dispatch.sensitive(one.arguments)
        return Call(one.id, kind, self._dispatch.target(node), sent, one.deadline)


def _refused(one: Operation, error: MargraveError, now: datetime) -> Result:
    """A call that cannot even be made, such as for want of a secret."""
    told = {
        "class": ErrorClass.CONFIG,
        "code": "not-callable",
        "message": error.message,
        "cure": error.cure,
    }
    return Result(one.id, Status.FAILED, {"error": told}, now, now)
