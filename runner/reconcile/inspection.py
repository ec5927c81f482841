"""What the nodes can do, read anew now and then: hardware, engines and their versions change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from runner.ports import Executor, Node, Status, Target
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

    def ask(self, node: str) -> None:
        """The next look is for this node."""
        with self._lock:
            self._asked.add(node)

    def look(self, names: Iterable[str] | None = None) -> None:
        """Inspect these nodes; without names those that were asked for, or all if none was."""
        with self._lock:
            asked, self._asked = self._asked, set()
        wanted = set(names) if names is not None else asked
        for node in self._nodes.list():
            if wanted and node.name not in wanted:
                continue
            told = self._executor.inspect(self._target(node))
            if told.status is Status.OK:
                capabilities = dict(told.data.get("capabilities") or {})
                # Read again: labels or a drain may have been written while it was looked at.
                self._nodes.save(replace(self._nodes.get(node.name), capabilities=capabilities))
