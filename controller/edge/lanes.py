"""Thread pools with fair queues, so that one kind of request or one client delays only itself."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LOG = logging.getLogger(__name__)

IDLE_THREAD: Final = 30.0  # seconds until a thread without work ends and gives its memory back
STALLED: Final = 120.0  # seconds with work waiting and nothing done: a restart is better

Keys = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LaneSize:
    """Capacity of a lane.

    `share` is how many threads one address or one credential may occupy at a time; `waiting` is how
    many requests may wait.
    """

    threads: int
    share: int
    waiting: int = 1000


@dataclass(frozen=True, slots=True)
class LaneState:
    """Figures of a lane at one moment."""

    running: int
    waiting: int
    refused: int


class Lane:
    """A thread pool whose queue serves clients in turn."""

    def __init__(self, name: str, size: LaneSize) -> None:
        self._name = name
        self._size = size
        self._changed = threading.Condition()
        self._queues: OrderedDict[Keys, deque[Callable[[], object]]] = OrderedDict()
        self._running: Counter[str] = Counter()
        self._waiting = 0
        self._threads = 0
        self._resting = 0
        self._refused = 0
        self._progress = time.monotonic()
        self._closed = False

    def offer(self, task: Callable[[], object], keys: Keys) -> bool:
        """Queue a task for the client named by `keys`; False when the queue is full."""
        with self._changed:
            if self._waiting >= self._size.waiting or self._closed:
                self._refused += 1
                return False
            if not self._waiting:
                self._progress = time.monotonic()
            self._queues.setdefault(keys, deque()).append(task)
            self._waiting += 1
            if self._resting < self._waiting and self._threads < self._size.threads:
                self._start_thread()
            self._changed.notify()
        return True

    def state(self) -> LaneState:
        """Return the present figures."""
        with self._changed:
            running = self._threads - self._resting
            return LaneState(running, self._waiting, self._refused)

    def stalled(self) -> bool:
        """Return True when work has waited for minutes while no task ended."""
        with self._changed:
            return self._waiting > 0 and time.monotonic() - self._progress > STALLED

    def close(self) -> None:
        """Take no more tasks; threads end with the task they are at."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _start_thread(self) -> None:
        self._threads += 1
        name = f"http-{self._name}-{self._threads}"
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def _work(self) -> None:
        while (taken := self._take()) is not None:
            keys, task = taken
            try:
                task()
            except Exception:  # one request's failure must not take a thread from all others
                LOG.exception("a request of the lane %s failed", self._name)
            finally:
                del task
                self._give_back(keys)

    def _take(self) -> tuple[Keys, Callable[[], object]] | None:
        """Wait for the next task; None when this thread is not needed any longer."""
        with self._changed:
            self._resting += 1
            try:
                while (found := self._next()) is None:
                    if self._closed or not self._changed.wait(IDLE_THREAD):
                        self._threads -= 1
                        return None
                return found
            finally:
                self._resting -= 1

    def _next(self) -> tuple[Keys, Callable[[], object]] | None:
        """Take the first task of the first client that has not its full share of threads."""
        for keys, queue in self._queues.items():
            if any(self._running[key] >= self._size.share for key in keys):
                continue
            task = queue.popleft()
            if queue:
                self._queues.move_to_end(keys)
            else:
                del self._queues[keys]
            self._waiting -= 1
            self._running.update(keys)
            return keys, task
        return None

    def _give_back(self, keys: Keys) -> None:
        with self._changed:
            self._progress = time.monotonic()
            for key in keys:
                self._running[key] -= 1
                if not self._running[key]:
                    del self._running[key]
            self._changed.notify()


class Lanes:
    """All lanes of a server, by name."""

    def __init__(self, sizes: Mapping[str, LaneSize]) -> None:
        self._lanes = {name: Lane(name, size) for name, size in sizes.items()}

    def offer(self, lane: str, task: Callable[[], object], keys: Keys) -> bool:
        """Queue a task in a lane; False when it is full."""
        return self._lanes[lane].offer(task, keys)

    def states(self) -> dict[str, LaneState]:
        """Return the figures of each lane."""
        return {name: lane.state() for name, lane in self._lanes.items()}

    def stalled(self) -> list[str]:
        """Return the names of lanes whose threads make no progress."""
        return [name for name, lane in self._lanes.items() if lane.stalled()]

    def shutdown(self, *, wait: bool) -> None:
        """Take no more tasks; the name and argument are those of concurrent.futures."""
        del wait
        for lane in self._lanes.values():
            lane.close()
