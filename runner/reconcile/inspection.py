"""What the nodes can do, read anew now and then: hardware, engines and their versions change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from runner import usability
from runner.ports import Executor, Node, Observation, Status, Target
from runner.store.nodes import Nodes

# A disk or an engine is changed by people, who do not do that every hour.
INSPECT_SECONDS: Final = 6 * 3600.0


class Inspection:
    """Asks nodes for their capabilities and keeps what they answer."""

    def __init__(self, nodes: Nodes, executor: Executor, target: Callable[[Node], Target]) -> None:
        self._nodes = nodes
        self._executor = executor
        self._target = target
        self._lock = threading.Lock()
        self._asked: set[str] = set()

    def ask(self, nodes: Iterable[str]) -> None:
        """The next look is for these nodes."""
        with self._lock:
            self._asked |= set(nodes)

    def look(self) -> None:
        """Inspect the nodes that were asked for, or all if none was: all at once, because a silent
        one answers nothing for long."""
        with self._lock:
            asked, self._asked = self._asked, set()
        self._inspect([one for one in self._nodes.list() if not asked or one.name in asked])

    def recheck_unusable(self) -> None:
        """Inspect the nodes that lack an engine: whoever installs one waits for the node."""
        self._inspect([one for one in self._nodes.list() if usability.reason(one.capabilities)])

    def _inspect(self, wanted: Sequence[Node]) -> None:
        if not wanted:
            return
        told = self._executor.inspect([self._target(one) for one in wanted])
        # Read again: labels or a drain may have been written, or it was taken off, meanwhile.
        for node in self._nodes.list():
            if node.name in told and told[node.name].status is Status.OK:
                self._nodes.save(_inspected(node, told[node.name]))


def _inspected(node: Node, answer: Observation) -> Node:
    """Return the node with what it can do now; one that has all it needs is usable again."""
    data = answer.data
    able = usability.with_reason(data.get("capabilities"), data.get("checks") or ())
    after, lacked = replace(node, capabilities=able), usability.reason(node.capabilities)
    if usability.reason(able) or lacked:
        after = replace(after, status=usability.status(able), error=usability.reason(able))
    return after
