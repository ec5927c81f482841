"""Stable windows: for how long a release has to stay healthy until it counts as proven.

The node measures the time, from the end of the call that found the release healthy; it outlives a
restart of the runner. Where the node has lost its count, the window begins anew, by the runner's
monotonic clock. What is kept here may be lost: the next look at the node tells it again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from margrave.lifecycle import State
from runner.store import Placement
from runner.store.order import Key, Order

# The runner hears of the end of a call after the node has begun to count, never before.
_MARGIN: Final = 0.5


class Verdict(Enum):
    """Result of a look at a release in its window."""

    OPEN = "open"
    PROVEN = "proven"
    UNSTABLE = "unstable"


@dataclass
class _Window:
    """The window of a release on one node."""

    release: str | None
    change: int  # number of the placement's last change of state: a new call opens a new window
    end: float  # by the monotonic clock
    asked: bool = False  # the look at its end was asked for
    restarted: bool = False  # the node had lost its count
    trouble: str = ""


class Windows:
    """The open windows of the site; safe to use from many threads."""

    def __init__(
        self, order: Order, monotonic: Callable[[], float], stable_of: Callable[[str], float]
    ) -> None:
        self._order = order
        self._monotonic = monotonic
        self._stable_of = stable_of
        self._lock = threading.Lock()
        self._windows: dict[Key, _Window] = {}

    def judge(self, placement: Placement, workload: Mapping[str, Any], began: float) -> Verdict:
        """Judge an unproven placement by a look that began at that time."""
        if workload.get("release", placement.release) != placement.release:
            return Verdict.OPEN
        stable = self._stable_of(placement.deployment)
        stability = workload.get("stability") or {}
        seconds = stability.get("seconds")
        with self._lock:
            window = self._of(placement, stable)
            trouble = _trouble(stability.get("disturbances") or (), stable)
            window.trouble = window.trouble or trouble
            if window.trouble:
                return Verdict.UNSTABLE
            if seconds is None:
                return self._without_count(window, began, stable)
            if seconds >= stable:
                return Verdict.PROVEN
            window.end = self._monotonic() + stable - seconds + _MARGIN
            window.asked = False
            return Verdict.OPEN

    def _without_count(self, window: _Window, began: float, stable: float) -> Verdict:
        if window.restarted:
            return Verdict.PROVEN if began >= window.end else Verdict.OPEN
        window.restarted, window.asked = True, False
        window.end = self._monotonic() + stable
        return Verdict.PROVEN if stable == 0 else Verdict.OPEN

    def trouble(self, placement: Placement) -> str:
        """Return what disturbed an unproven release within its window; empty when nothing did."""
        if not is_open(placement):
            return ""
        with self._lock:
            window = self._windows.get(placement.key)
            return window.trouble if window and self._fits(window, placement) else ""

    def due(self, standing: Iterable[Placement]) -> tuple[frozenset[str], float | None]:
        """Return the nodes to look at now, each once, and the seconds until the next is due."""
        placements = [placement for placement in standing if is_open(placement)]
        now = self._monotonic()
        with self._lock:
            windows = {
                placement.key: self._of(placement, self._stable_of(placement.deployment))
                for placement in placements
            }
            self._windows = windows
            nodes = set()
            for (_deployment, node, _incarnation), window in windows.items():
                if not window.asked and window.end <= now:
                    window.asked = True
                    nodes.add(node)
            ends = [window.end for window in windows.values() if not window.asked]
        return frozenset(nodes), min(ends) - now if ends else None

    def _of(self, placement: Placement, stable: float) -> _Window:
        window = self._windows.get(placement.key)
        if window is None or not self._fits(window, placement):
            end = self._monotonic() + stable + _MARGIN
            window = _Window(placement.release, self._order.last_change(placement.key), end)
            self._windows[placement.key] = window
        return window

    def _fits(self, window: _Window, placement: Placement) -> bool:
        return (window.release, window.change) == (
            placement.release,
            self._order.last_change(placement.key),
        )


def is_open(placement: Placement) -> bool:
    """Return True while a placement's release was found healthy and is not proven yet."""
    return (
        placement.state is State.INSTALLED
        and bool(placement.release)
        and placement.release != placement.good_release
    )


def proven(placement: Placement) -> dict[str, Any]:
    """Return what a placement notes when its release is proven."""
    return {
        "good_release": placement.release,
        "good_revision": placement.revision,
        "good_version": placement.version,
    }


def _trouble(disturbances: Iterable[Mapping[str, Any]], stable: float) -> str:
    """Return what happened within the window, in words; what may have happened in it counts."""
    details = [
        str(each.get("detail") or "a container did not stay healthy")
        for each in disturbances
        if each.get("after") is None or each["after"] <= stable
    ]
    return "; ".join(details)
