"""Threads that keep a site right: one ticks, one asks Git, one looks at the nodes.

Triggers are only hints. Nothing here sleeps for a fixed time: each wait ends when it is woken, but
for the moment in which ticks that would follow close on each other become one.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Final

from margrave.errors import MargraveError
from runner.instruments import TICKS, Instruments
from runner.ports import Clock, monotonic_of
from runner.reconcile.outcomes import Again, Outcome, Waiting
from runner.reconcile.steps import STEPS, Parts, Tick

_log = logging.getLogger(__name__)

# A tick without cause is cheap, and an oversight is healed by it.
_LONGEST_REST: Final = 30.0
# What ends within this time of a tick shares the next one: of twenty nodes at once each would be a
# walk over all of them, which took as much of a processor as their SSH.
_GATHER: Final = 0.2
# What is due at this moment is due in the next tick too: without a pause it would spin.
_SHORTEST_REST: Final = 0.02
_AFTER_A_DEFECT: Final = 5.0
_ROUNDS_OF_ONCE: Final = 200
# A turn is a few queries and a plan: after so many seconds it is not slow, it hangs.
_HANGS: Final = 180.0
_LONGEST_WORDS: Final = 200


class Reconciler:
    """Ticks when something happened, or when something becomes due."""

    def __init__(
        self,
        parts: Parts,
        clock: Clock,
        woken: threading.Event,
        instruments: Instruments | None = None,
    ) -> None:
        self._parts = parts
        self._instruments = instruments or Instruments()
        self._pulse = time.monotonic()
        self._clock = clock
        self._woken = woken
        self._stopping = threading.Event()
        self.turn = threading.RLock()  # commands and ticks take turns
        self._monotonic = monotonic_of(clock)
        self._ticked: float | None = None  # when the last one came to its end, by that clock
        self.last_tick: datetime | None = None  # and by the wall clock
        self.trouble = ""  # why the last one did not

    def wake(self) -> None:
        """Something happened: tick now."""
        self._woken.set()

    def tick(self) -> tuple[Tick, float]:
        """Walk the steps once; what was found, and after how many seconds to look again."""
        with self.turn, self._instruments.timed(TICKS):
            tick = Tick(self._parts)
            rest = _LONGEST_REST
            try:
                for step in STEPS:
                    rest = min(rest, _rest(step(tick), self._clock()))
            except Exception as error:
                self.trouble = _in_a_line(error)
                raise
            self.last_tick, self.trouble = self._clock(), ""
            self._ticked = self._monotonic()
            return tick, max(rest, _SHORTEST_REST)

    def once(self, timeout: float) -> dict[str, object]:
        """Fetch, and tick until nothing is due and nothing is at work, or the time is over.

        It answers how many operations were begun, and how many have not ended: they wait for
        their nodes, or were at work still when the time was over.
        """
        end = time.monotonic() + timeout
        looked = self._parts.watch.look(hinted=True)
        self._parts.observer.look()
        started = 0
        for _ in range(_ROUNDS_OF_ONCE):
            left = end - time.monotonic()
            if left <= 0:
                break
            self._woken.clear()
            # What ends while it ticks may be what others waited for: one more tick sees that.
            before = self._at_work()
            tick, rest = self.tick()
            started += tick.started
            if not (before or tick.started or self._at_work()):
                break
            self._woken.wait(min(rest, left))
        # The thread that ticks was robbed of its waking meanwhile.
        self._woken.set()
        waiting = self._parts.operations.unfinished()
        return {"fetch": type(looked).__name__.lower(), "started": started, "waiting": waiting}

    def _at_work(self) -> bool:
        return self._parts.operations.running() or self._parts.ahead.fetching()

    def run(self) -> None:
        """Until stopped."""
        rest = ended = 0.0
        while not self._stopping.is_set():
            self._woken.wait(rest)
            self._stopping.wait(ended + _GATHER - time.monotonic())
            self._woken.clear()
            self._pulse = time.monotonic()
            if self._stopping.is_set():
                return
            try:
                _, rest = self.tick()
            except Exception:  # noqa: BLE001
                # A defect must not end the site's care: it is told, and the next tick tries again.
                _log.exception("a tick failed; the next one follows in %s s", _AFTER_A_DEFECT)
                rest = _AFTER_A_DEFECT
            ended = time.monotonic()

    def alive(self) -> bool:
        """Whether the loop still turns: it rests for half a minute at most."""
        return time.monotonic() - self._pulse < _HANGS

    def tick_age(self) -> float:
        """Return how many seconds ago the last tick ended; 0 before the first one."""
        return 0.0 if self._ticked is None else self._monotonic() - self._ticked

    def stop(self) -> None:
        """End `run` at its next turn."""
        self._stopping.set()
        self._woken.set()


class Repeater:
    """Does something at the start, after each interval, and at once when it is hinted.

    Hints that come while it works and in the `gather` seconds after a hinted turn share the next
    turn. That one counts as unhinted: most likely they meant what is done already. While it fails
    intervals double, up to `slowest` times; a hint is followed at once all the same.
    """

    def __init__(
        self,
        name: str,
        interval: float,
        work: Callable[[bool], None],
        *,
        at_once: bool = True,
        gather: float = 0.0,
        slowest: int = 1,
    ) -> None:
        self._name = name
        self._interval = interval
        self._work = work
        self._at_once = at_once
        self._gather = gather
        self._slowest = slowest
        self._failures = 0
        self._hinted = threading.Event()
        self._stopping = threading.Event()

    def hint(self) -> None:
        """Do it now."""
        self._hinted.set()

    def run(self) -> None:
        """Until stopped. Intervals are jittered, so that sites do not ask in step."""
        hinted = self._at_once or self._rest()
        while not self._stopping.is_set():
            self._hinted.clear()
            self._turn(hinted=hinted)
            while hinted and self._gathered():
                self._hinted.clear()
                self._turn(hinted=False)
            hinted = self._rest()

    def stop(self) -> None:
        """End `run` at its next turn."""
        self._stopping.set()
        self._hinted.set()

    def _turn(self, *, hinted: bool) -> None:
        try:
            self._work(hinted)
            self._failures = 0
            return
        except MargraveError as error:
            _log.warning("%s: %s; it is tried again", self._name, error)
        except Exception:  # noqa: BLE001 - told; the next turn tries again
            _log.exception("%s failed; it is tried again", self._name)
        self._failures += 1

    def _gathered(self) -> bool:
        """Leave time for more hints; whether there were any."""
        if not self._gather or self._stopping.wait(self._gather):
            return False
        return self._hinted.is_set()

    def _rest(self) -> bool:
        """Wait for the next turn; whether it was hinted."""
        return self._hinted.wait(
            pause(self._interval, self._failures, self._slowest) * random.uniform(0.8, 1.2)  # noqa: S311
        )


def pause(interval: float, failures: int, slowest: int) -> float:
    """Seconds to the next turn after so many failures in a row."""
    return interval * min(1 << min(failures, 10), slowest)


def _in_a_line(error: Exception) -> str:
    """What failed, for whoever asks whether all is well: the log has the rest."""
    said = str(error).partition("\n")[0][:_LONGEST_WORDS]
    return said if isinstance(error, MargraveError) else f"{type(error).__name__}: {said}"


def _rest(outcome: Outcome, now: datetime) -> float:
    if isinstance(outcome, Again):
        return outcome.after
    if isinstance(outcome, Waiting) and outcome.until is not None:
        return max(0.0, (outcome.until - now).total_seconds())
    return _LONGEST_REST
