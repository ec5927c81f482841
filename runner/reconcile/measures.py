"""Metrics of operations that have ended."""

from __future__ import annotations

from margrave.lifecycle import Kind
from runner.instruments import OPERATION_SECONDS, OPERATIONS, ROLLBACKS, Instruments
from runner.reconcile.settlement import Case, Settlement
from runner.store import OperationState


def count(instruments: Instruments, case: Case, settlement: Settlement) -> None:
    """Count an operation by its kind, state and error class, and measure how long it took."""
    operation, error = case.operation, settlement.operation.get("error") or {}
    state, error_class = str(settlement.operation["state"]), str(error.get("class") or "")
    instruments.count(OPERATIONS, operation.kind, state, error_class)
    # A clock that was set back meanwhile must not make it negative.
    seconds = max(0.0, (case.now - operation.started_at).total_seconds())
    instruments.observe(OPERATION_SECONDS, seconds, operation.kind)
    if operation.kind is Kind.ROLLBACK and state == OperationState.SUCCEEDED:
        cause = (case.placement.error or {}).get("class") or "cancelled"
        instruments.count(ROLLBACKS, str(cause))
