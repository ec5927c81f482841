"""For whom an operation is done: the id that leads from a node back to the request.

It is that of the commit that brought what is wanted, or of a command that came since. What follows
from an operation (another attempt, the way back) goes on under its id.
"""

from __future__ import annotations

from collections.abc import Callable

from margrave.lifecycle import Kind
from margrave.names import is_trace
from margrave.planning import Step
from runner.reconcile.arguments import trace_of
from runner.source import SITE, Desired
from runner.store import Operation


class Traces:
    """Knows what was asked last; a command's id only until a restart, then its commit's counts."""

    def __init__(self, desired: Callable[[], Desired | None]) -> None:
        self._desired = desired
        self._asked: dict[tuple[str, str], tuple[str, str]] = {}

    def asked(self, deployment: str, node: str, trace: object) -> None:
        """A command's id, for what begins next there; of a command without one, none."""
        self._asked.pop((deployment, node), None)
        if is_trace(trace):
            self._asked[deployment, node] = (str(trace), self._of_document(deployment))

    def of(self, step: Step, before: Operation | None) -> str:
        """The id for the operation that a step begins, after the one before on that placement;
        empty when nobody knows it."""
        asked, then = self._asked.pop((step.deployment, step.node), ("", ""))
        wanted = self._of_document(step.deployment)
        # What a command asked for is over once Git wants something else.
        if asked and then == wanted:
            return asked
        if before is not None and (step.attempt > 1 or step.kind is Kind.ROLLBACK):
            return trace_of(before) or wanted
        return self._of_drain(step) or wanted

    def _of_document(self, deployment: str) -> str:
        desired = self._desired()
        return desired.traces.get(deployment, "") if desired else ""

    def _of_drain(self, step: Step) -> str:
        """What is still wanted leaves a drained node for the site's own document."""
        desired = self._desired()
        if desired is None or step.kind is not Kind.DELETE or not desired.site.drains(step.node):
            return ""
        return desired.traces.get(SITE, "") if desired.deployment(step.deployment) else ""
