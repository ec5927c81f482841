"""Fetching ahead: what waits for its window is on its node before the window opens.

A window is meant for the switch; a download over a thin line would use it up. This is no operation:
what runs is not touched and no state changes, so nothing of it is stored. After a restart it is
asked for again, and a node that has it says so.
"""

from __future__ import annotations

import logging
import random
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

from margrave.errors import MargraveError
from margrave.lifecycle import Kind
from margrave.planning import SitePlan, Step
from runner.ports import Call, Executor, Node, Progress, Result, Status
from runner.reconcile.calls import Calls, not_made
from runner.reconcile.due import is_due
from runner.store import Store, site

_log = logging.getLogger(__name__)

# A window is hours away, mostly: what could not be fetched is tried again without haste.
_FIRST_RETRY: Final = 30.0
_LONGEST_RETRY: Final = 1800.0

_Key = tuple[str, str]  # deployment, node
_Fence = Mapping[str, object]


class _Stage(Enum):
    FETCHING = "it is being fetched"
    READY = "all of it is on the node"
    FAILED = "it is not fetched yet"


@dataclass(frozen=True, slots=True)
class _Fetch:
    release: str | None
    stage: _Stage
    call: str = ""
    tries: int = 1
    again_at: datetime | None = None
    trouble: str = ""

    @property
    def words(self) -> str:
        return f"{self.stage.value}: {self.trouble}" if self.trouble else self.stage.value


class Ahead:
    """Fetches for what waits for a window, one deployment at a time on each node."""

    def __init__(
        self,
        store: Store,
        executor: Executor,
        calls: Calls,
        wake: Callable[[], None],
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._store = store
        self._executor = executor
        self._calls = calls
        self._wake = wake
        self._jitter = jitter
        self._lock = threading.Lock()
        self._known: dict[_Key, _Fetch] = {}
        self._at_work: dict[str, _Key] = {}  # by call, also those that nobody waits for any more

    def tend(self, plan: SitePlan, nodes: Mapping[str, Node]) -> tuple[SitePlan, int]:
        """Fetch what is due; the plan, its waiting steps saying how far that has come, and how
        many fetches were begun."""
        waiting = {(one.deployment, one.node): one for one in plan.steps if _fetchable(one)}
        with self._lock:
            self._known = {
                key: one
                for key, one in self._known.items()
                if key in waiting and one.release == waiting[key].to_release
            }
            due = self._due(waiting)
        due = [step for step in due if step.node in nodes]
        made = (self._begin(step, nodes[step.node], fence) for step, fence in self._fenced(due))
        calls = [call for call in made if call is not None]
        if calls:
            self._executor.start(calls, _unheard, self._ended)
        with self._lock:
            steps = tuple(self._told(step) for step in plan.steps)
        return replace(plan, steps=steps), len(due)

    def fetching(self) -> bool:
        """Whether anything is on its way."""
        with self._lock:
            return bool(self._at_work)

    def next_try(self) -> datetime | None:
        """When what could not be fetched is tried again; what is due waits for its node's turn."""
        now = self._store.clock()
        with self._lock:
            times = [one.again_at for one in self._known.values() if one.again_at]
        return min((one for one in times if one > now), default=None)

    def _due(self, waiting: Mapping[_Key, Step]) -> list[Step]:
        now, found = self._store.clock(), []
        busy = {node for _, node in self._at_work.values()}
        for key, step in waiting.items():
            one = self._known.get(key)
            rests = one is not None and (one.again_at is None or not self._again(one.again_at, now))
            if not rests and step.node not in busy:
                busy.add(step.node)
                found.append(step)
        return found

    @staticmethod
    def _again(at: datetime, now: datetime) -> bool:
        return is_due(at, now, timedelta(seconds=_LONGEST_RETRY * 1.2))

    def _fenced(self, due: Sequence[Step]) -> list[tuple[Step, _Fence]]:
        """Each with its fence, before any is remembered: where the disk is full none has begun."""
        if not due:
            return []
        with self._store.write() as tx:
            who = site.identity_of(tx)
            own = {"runner": who.runner, "epoch": who.epoch}
            return [(step, {**own, "seq": site.take_fence_seq(tx)}) for step in due]

    def _begin(self, step: Step, node: Node, fence: _Fence) -> Call | None:
        """The call as it goes out; one that cannot be made is tried again, and holds no other."""
        key, call = (step.deployment, step.node), str(uuid.uuid4())
        with self._lock:
            before = self._known.get(key)
            tries = before.tries + 1 if before else 1
            fetch = _Fetch(step.to_release, _Stage.FETCHING, call, tries)
            self._known[key] = fetch
        try:
            made = self._calls.ahead(step.deployment, call, node, fence)
        except Exception as error:  # noqa: BLE001 - told; a defect holds no other call
            if not isinstance(error, MargraveError):
                _log.exception("%s on %s: its call could not be made", *key)
            self._failed(key, fetch, not_made(error))
            return None
        with self._lock:
            self._at_work[call] = key
        return made

    def _ended(self, result: Result) -> None:
        with self._lock:
            key = self._at_work.pop(result.operation)
            one = self._known.get(key)
        if one is not None and one.call == result.operation:
            if result.status is Status.OK:
                with self._lock:
                    self._known[key] = replace(one, stage=_Stage.READY)
            else:
                error = result.data.get("error") or {}
                self._failed(key, one, str(error.get("message") or result.message))
        self._wake()

    def _failed(self, key: _Key, one: _Fetch, trouble: str) -> None:
        wait = min(_FIRST_RETRY * 2 ** min(one.tries - 1, 10), _LONGEST_RETRY)
        again = self._store.clock() + timedelta(seconds=wait * (0.8 + 0.4 * self._jitter()))
        _log.warning("%s on %s could not be fetched ahead: %s", *key, trouble)
        with self._lock:
            self._known[key] = replace(one, stage=_Stage.FAILED, again_at=again, trouble=trouble)

    def _told(self, step: Step) -> Step:
        one = self._known.get((step.deployment, step.node))
        if one is None or step.waiting is None:
            return step
        detail = f"{step.waiting.detail}; {one.words}"
        return replace(step, waiting=replace(step.waiting, detail=detail))


def _fetchable(step: Step) -> bool:
    """Whether only a window stands between the step and its start."""
    waits = step.waiting is not None and step.waiting.reason == "window"
    return waits and step.kind in (Kind.INSTALL, Kind.UPDATE)


def _unheard(progress: Progress) -> None:
    """Lines of a fetch belong to no operation's log."""
