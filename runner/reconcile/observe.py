"""What really runs on the nodes, read now and then: signs of life, health, drift.

Runs beside the ticks, because a silent node must not hold the others; a tick notes what was found.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from margrave.lifecycle import WORKING, State
from runner import usability
from runner.instruments import DRIFT, Instruments
from runner.ports import Executor, Node, NodeStatus, Observation, Sign, Status, Target
from runner.reconcile import claims
from runner.reconcile.stability import Verdict, Windows, is_open, proven
from runner.store import Placement, Store, operations, placements, site, transitions
from runner.store.nodes import Nodes
from runner.store.reporting import stand_down

_log = logging.getLogger(__name__)

Freshness = Callable[[Node], NodeStatus]
_SILENT: Final = (NodeStatus.STALE, NodeStatus.OFFLINE)


class Observer:
    """Looks at the nodes, and keeps what it saw until the next tick."""

    def __init__(
        self,
        store: Store,
        executor: Executor,
        target: Callable[[Node], Target],
        freshness: Freshness,
        wake: Callable[[], None],
        instruments: Instruments | None = None,
        note_sign: Callable[[str], None] = lambda _: None,
        windows: Windows | None = None,
    ) -> None:
        self.windows = windows or Windows(store.order, store.monotonic, lambda _: 0.0)
        self._store = store
        self._note_sign = note_sign
        self._nodes = Nodes(store)
        self._executor = executor
        self._target = target
        self._freshness = freshness
        self._wake = wake
        self._instruments = instruments or Instruments()
        self._lock = threading.Lock()
        self._found: dict[str, Observation] = {}
        self._begun: dict[str, int] = {}  # the number of the look that found it, by node
        self.noted: dict[str, int] = {}  # the number of the look at a node that was noted last
        self._back: set[str] = set()
        self._asked: set[str] = set()  # nodes whose stable windows have ended
        self._began: dict[str, float] = {}  # when each look began, by the monotonic clock

    def look(self, *, silent: bool | None = None) -> None:
        """Ask all nodes, those that were silent, or all but those; the next tick notes the answers.

        Who is silent takes seconds to be found so. Asked apart, they do not hold the look at nodes
        that answer: those would seem silent themselves if it took too long.
        """
        self._look_at([one for one in self._nodes.list() if silent in (None, bool(one.error))])

    def ask(self, nodes: Iterable[str]) -> None:
        """Have the next `look_asked` include these nodes."""
        with self._lock:
            self._asked |= set(nodes)

    def look_asked(self) -> None:
        """Look at the nodes that were asked for, and at no other."""
        with self._lock:
            asked, self._asked = self._asked, set()
        self._look_at([one for one in self._nodes.list() if one.name in asked])

    def _look_at(self, known: Sequence[Node]) -> None:
        if not known:
            return
        began, number = self._store.clock(), self._store.order.number()
        monotonic = self._store.monotonic()
        found = self._executor.observe([self._target(one) for one in known])
        asked = [node for node in known if node.name in found]
        with self._lock:
            self._nodes.seen([self._life(node, found[node.name]) for node in asked])
            # From its begin: what changed while it looked may not be seen in it.
            self._found |= {node.name: replace(found[node.name], at=began) for node in asked}
            self._begun |= {node.name: number for node in asked}
            self._began |= {node.name: monotonic for node in asked}
        self._wake()

    def heard_again(self, node: str) -> None:
        """A node that was silent spoke of itself: calls that wait for it are made now."""
        with self._lock:
            self._back.add(node)
        self._wake()

    def take_back(self) -> frozenset[str]:
        """Nodes that answer again, each told once."""
        with self._lock:
            back, self._back = frozenset(self._back), set()
        return back

    def note_findings(self) -> None:
        """Write health and drift of placements that nothing is at work on."""
        with self._lock:
            found, self._found = self._found, {}
            begun, began = dict(self._begun), dict(self._began)
        answered = {name: one for name, one in found.items() if one.status is Status.OK}
        if not answered:
            return
        self.noted |= {name: begun[name] for name in answered}
        with self._store.read() as tx:
            busy = {(one.deployment, one.node) for one in operations.unfinished(tx)}
            standing = [one for one in placements.newest(tx) if one.node in answered]
        order = self._store.order
        resting = [
            one
            for one in standing
            if (one.deployment, one.node) not in busy
            # Seen before the last operation ended, it tells of a time that is over.
            and begun[one.node] > order.last_change(one.key)
        ]
        changes = [
            (one, {**_change(one, answered[one.node]), **self._proof(one, answered, began)})
            for one in resting
        ]
        changes = [(one, change) for one, change in changes if change]
        if changes:
            with self._store.write() as tx:
                for one, change in changes:
                    current = placements.find(tx, one.deployment, one.node)
                    if current == one:
                        shown = change.keys() - proven(one).keys()
                        write = transitions.note if shown else transitions.record
                        write(tx, one, **change)
                        if change.get("drift") and not one.drift:
                            self._instruments.count(DRIFT)

    def _proof(
        self, one: Placement, answered: Mapping[str, Observation], began: Mapping[str, float]
    ) -> Mapping[str, Any]:
        """Return what a look changes of a release that is not proven yet."""
        workload = _workload(answered[one.node], one.deployment) if is_open(one) else None
        if workload is None:
            return {}
        try:
            verdict = self.windows.judge(one, workload, began[one.node])
        except Exception:  # noqa: BLE001 - logged; it holds no other placement
            _log.exception("%s: its report of %s cannot be read", one.node, one.deployment)
            return {}
        return proven(one) if verdict is Verdict.PROVEN else {}

    def _life(self, node: Node, observation: Observation) -> Sign:
        if observation.status not in (Status.OK, Status.FAILED):
            return Sign(node.name, None, self._freshness(node), observation.message)
        # A module that failed has answered: the node is there.
        lacks = usability.reason(node.capabilities)
        if self._freshness(node) in _SILENT or (node.error and not lacks):
            self._back.add(node.name)
        self._note_sign(node.name)
        self._hear_of_claim(node.name, observation)
        error = lacks if observation.status is Status.OK else lacks or observation.message
        return Sign(node.name, observation.at, usability.status(node.capabilities), error)

    def _hear_of_claim(self, node: str, observation: Observation) -> None:
        mark = observation.data.get("fence")
        if not mark:
            return
        with self._store.read() as tx:
            own, known = site.identity_of(tx), site.site_state(tx).known_epoch
        why = claims.objection(node, mark, own)
        epoch = mark.get("epoch")
        if why or (isinstance(epoch, int) and epoch > known):
            with self._store.write() as tx:
                if isinstance(epoch, int):
                    site.hear_of_epoch(tx, epoch)
                # Read again: a take-over may have come in between.
                if claims.objection(node, mark, site.identity_of(tx)):
                    stand_down(tx, why)


def _change(one: Placement, observation: Observation) -> Mapping[str, Any]:
    """Return what an observation changes; nothing where a node reports what nobody can read."""
    try:
        return seen_change(one, observation)
    except Exception:  # noqa: BLE001 - logged; it holds no other placement
        _log.exception("%s: its report of %s cannot be read", one.node, one.deployment)
        return {}


def seen_change(one: Placement, observation: Observation) -> Mapping[str, Any]:
    """What an observation changes of a placement; nothing of one that is at work or gone."""
    if one.state in WORKING or one.state not in (State.INSTALLED, State.FAILED):
        return {}
    workload = _workload(observation, one.deployment)
    if workload is None:
        gone = ["nothing of it is on the node"] if one.release else []
        return _changed(one, {"health": "degraded", "drift": gone})
    return _changed(
        one,
        {
            "health": str(workload.get("health") or "unknown"),
            "drift": drift_of(one, workload),
            "components": list(workload.get("components") or one.components),
            "keeps_data": bool(workload.get("volumes")),
        },
    )


def drift_of(one: Placement, workload: Mapping[str, Any]) -> list[str]:
    """What differs from what should run, as sentences."""
    drift = [_as_text(entry) for entry in workload.get("drift") or ()]
    runs = workload.get("revision")
    if one.state is State.INSTALLED and runs and one.revision and runs != one.revision:
        drift.append(f"another revision runs: {runs}")
    return drift


def _workload(observation: Observation, deployment: str) -> Mapping[str, Any] | None:
    found: Sequence[Mapping[str, Any]] = observation.data.get("workloads") or ()
    return next((one for one in found if one.get("deployment") == deployment), None)


def _changed(one: Placement, values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in values.items()
        if (list(getattr(one, name)) if isinstance(value, list) else getattr(one, name)) != value
    }


def _as_text(entry: object) -> str:
    if isinstance(entry, Mapping):
        return " ".join(str(value) for value in entry.values())
    return str(entry)
