"""Operations from begin to end: each change of state, its fence and its report are one transaction.

Begin: the row, the state and the fence's number are written before the node hears of anything.
End: the result becomes a state. What lies between can be killed at any point: the row stays, and
the same call with the same fence is made again.
"""

from __future__ import annotations

import logging
import random
import uuid
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from margrave.errors import MargraveError
from margrave.lifecycle import WORKING_STATE, Kind, State
from margrave.planning import Step
from runner.instruments import OPERATION_SECONDS, OPERATIONS, ROLLBACKS, Instruments
from runner.ports import Call, Executor, Node, Progress, Result
from runner.reconcile import arguments, endings
from runner.reconcile.beginning import new_placement, noted, reason_of
from runner.reconcile.calls import Calls, refused
from runner.reconcile.due import is_due
from runner.reconcile.journal import Journal
from runner.reconcile.settlement import Case, Jitter, Settlement, settle
from runner.reconcile.stalls import Stalls
from runner.reconcile.traces import Traces
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

_log = logging.getLogger(__name__)

_ANSWER_GRACE: Final = 60.0
# An answer that could not be written down is asked for again after so long: a full disk or a busy
# database is not helped by asking at once, and the node has kept the answer.
_AFTER_A_DEFECT: Final = 10.0
# One whose meaning could not be told is no better understood when it is asked for again at once.
_AFTER_A_STALL: Final = 60.0


class Operations:
    """Begins, repeats and ends operations."""

    def __init__(
        self,
        store: Store,
        executor: Executor,
        calls: Calls,
        journal: Journal,
        wake: Callable[[], None],
        jitter: Jitter = random.random,
        instruments: Instruments | None = None,
        stalls: Stalls | None = None,
    ) -> None:
        self.stalls = stalls or Stalls()
        self.unsettled = Stalls()  # whose results could not be made a state, until one can
        self._store = store
        self._executor = executor
        self._calls = calls
        self.traces = Traces(calls.desired)
        self._journal = journal
        self._wake = wake
        self._jitter = jitter
        self._instruments = instruments or Instruments()
        # Until when each running call is waited for, by the monotonic clock; what is not among them
        # is called again.
        self._patience: dict[str, float] = {}

    def begin(self, steps: Sequence[Step], nodes: Mapping[str, Node]) -> int:
        """Start what is due; how many there were. A call that is overtaken is waited for no
        longer: on its node the one that follows asks it to stop at its next safe point."""
        if not steps:
            return 0
        begun: list[Operation] = []
        overtaken: list[str] = []
        with self._store.write() as tx:
            at_work = {(one.deployment, one.node): one for one in rows.unfinished(tx)}
            for step in steps:
                before = at_work.get((step.deployment, step.node))
                if step.overtakes and before is None:
                    continue  # it ended since the plan was made: its end is planned for next
                with self.stalls.guard(step.deployment, step.node), tx.savepoint():
                    if step.overtakes and before is not None:
                        endings.make_way(tx, step, before)
                    begun.append(self._begin(tx, step))
                    overtaken += [before.id] if step.overtakes and before is not None else []
        for identifier in overtaken:
            self._patience.pop(identifier, None)
            self._executor.cancel(identifier)
        self._send(begun, nodes)
        return len(begun)

    def repeat(
        self, nodes: Mapping[str, Node], awake: Container[str], *, back: frozenset[str]
    ) -> int:
        """Make calls again that did not end, when it is their time or their node is back.

        One whose node is not awake waits for that: each try would fail, and be told.
        """
        with self._store.write() as tx:
            epoch = site.identity_of(tx).epoch
            due: list[Operation] = []
            for one in rows.unfinished(tx):
                with self.stalls.guard(one.deployment, one.node), tx.savepoint():
                    if one.node in nodes and self._is_due(one, tx.now, awake, back):
                        due.append(_again(tx, one, epoch))
        self._send(due, nodes)
        return len(due)

    def _is_due(
        self, one: Operation, now: datetime, awake: Container[str], back: frozenset[str]
    ) -> bool:
        if one.state is OperationState.WAITING:
            on_time = is_due(one.next_try_at, now)
            return one.node in back or (on_time and one.node in awake)
        # An answer that never came, from a call that was never handed over or got lost inside.
        until = self._patience.get(one.id)
        return until is None or self._store.monotonic() > until

    def running(self) -> bool:
        """Whether a call is on its way."""
        with self._store.read() as tx:
            return any(one.state is OperationState.RUNNING for one in rows.unfinished(tx))

    def unfinished(self) -> int:
        """How many have not ended: they run, or wait to be called again."""
        with self._store.read() as tx:
            return len(rows.unfinished(tx))

    def resume(self) -> int:
        """After a start: what was running when the process ended is called again."""
        with self._store.write() as tx:
            return endings.resume(tx, self.stalls)

    def supersede(self, wanted: Mapping[str, str], unknown: Container[str] = ()) -> int:
        """End operations that wait for their node and whose release Git no longer wants: what is at
        work is overtaken by the plan, as soon as the newer one may begin. Nothing is told of
        deployments whose wanted release is `unknown`."""
        with self._store.write() as tx:
            return endings.supersede(tx, wanted, unknown, self.stalls)

    def finish(self, result: Result) -> None:
        """A result has come, from whatever thread: write what follows from it."""
        until = self._patience.get(result.operation)
        try:
            settled = self._write_down(result)
        except BaseException:
            # The node has kept its answer: the same call asks for it, and is not long in coming.
            self._patience[result.operation] = self._store.monotonic() + _AFTER_A_DEFECT
            raise
        if not settled:
            self._patience[result.operation] = self._store.monotonic() + _AFTER_A_STALL
        # Only now: while it is running and nobody waits for it, it would be called again.
        elif self._patience.get(result.operation) is until:
            self._patience.pop(result.operation, None)
        self._wake()

    def _write_down(self, result: Result) -> bool:
        """Write what follows from a result; whether that could be told."""
        written: list[tuple[Case, Settlement]] = []
        with self._store.write() as tx:
            operation = rows.find(tx, result.operation)
            if operation is None or operation.state is not OperationState.RUNNING:
                return True  # a second answer to a call that has ended
            self._journal.flush(tx, operation.id)
            place = (operation.deployment, operation.node)
            with self.unsettled.guard(*place), tx.savepoint():
                placement = placements.get(tx, *place)
                extensions = self._calls.extensions(operation.deployment)
                epoch = site.identity_of(tx).epoch
                case = Case(placement, operation, result, extensions, tx.now, self._jitter, epoch)
                settlement = settle(case)
                endings.write(tx, operation, placement, settlement)
                written.append((case, settlement))
        for case, settlement in written:
            self.unsettled.discard(*place)
            if settlement.to is not None:
                self._journal.close(operation.id)
                self._count(case, settlement)
        return bool(written)

    def _count(self, case: Case, settlement: Settlement) -> None:
        one, error = case.operation, settlement.operation.get("error") or {}
        result, cls = str(settlement.operation["state"]), str(error.get("class") or "")
        self._instruments.count(OPERATIONS, one.kind, result, cls)
        seconds = max(0.0, (case.now - one.started_at).total_seconds())
        self._instruments.observe(OPERATION_SECONDS, seconds, one.kind)
        if one.kind is Kind.ROLLBACK and result == OperationState.SUCCEEDED:
            why = (case.placement.error or {}).get("class") or "cancelled"
            self._instruments.count(ROLLBACKS, str(why))

    def _begin(self, tx: Transaction, step: Step) -> Operation:
        placement = self._placement(tx, step)
        assert step.kind is not None, "only steps with a kind are begun"
        built, goal = self._calls.arguments(step, placement)
        trace = self.traces.of(step, rows.find(tx, placement.operation))
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
            arguments=arguments.traced(built, trace),
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
        return new_placement(tx, step, self._calls.desired())

    def _send(self, begun: Sequence[Operation], nodes: Mapping[str, Node]) -> None:
        if not begun:
            return
        with self._store.read() as tx:
            runner = site.identity_of(tx).runner
        made = (self._made(one, nodes[one.node], runner) for one in begun)
        calls = [call for call in made if call is not None]
        if calls:
            now = self._store.monotonic()
            for call in calls:
                self._patience[call.operation] = now + call.deadline + _ANSWER_GRACE
            self._executor.start(calls, self._progress, self.finish)

    def _made(self, one: Operation, node: Node, runner: str) -> Call | None:
        """The call as it goes out; one that cannot be made ends, and holds no other."""
        try:
            return self._calls.call(one, node, runner)
        except MargraveError as error:
            self.finish(refused(one, error, self._store.clock()))
        except Exception as error:  # noqa: BLE001 - told; a defect holds no other call
            _log.exception("%s: its call could not be made", one.id)
            self.finish(refused(one, error, self._store.clock()))
        return None

    def _progress(self, progress: Progress) -> None:
        """A line of its log; where it is at another step, everybody is told."""
        self._journal.add(progress)
        if progress.phase:
            with self._store.write() as tx:
                one = rows.find(tx, progress.operation)
                if one is not None and one.state is OperationState.RUNNING:
                    rows.change(tx, one.id, phase=progress.phase)


def _again(tx: Transaction, one: Operation, epoch: int) -> Operation:
    """Under way anew, with the fence that it had. Not after a take-over: the nodes have been told
    since of an epoch that its fence is behind."""
    running = {"state": OperationState.RUNNING, "next_try_at": None}
    fence = {} if one.epoch == epoch else {"epoch": epoch, "seq": site.take_fence_seq(tx)}
    return rows.change(tx, one.id, **running, **fence)
