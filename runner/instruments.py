"""What is counted while the runner works, and how Prometheus reads it. No framework, no I/O.

Labels are words from closed lists (a kind, a result, an error class): never a name, an id or a
commit, so that a site of any size has the same few series.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

PREFIX: Final = "margrave_runner_"
SECONDS: Final = (0.01, 0.1, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 1800.0)

Labels = tuple[str, ...]


@dataclass(frozen=True)
class Family:
    """A name with its help, its kind and the names of its labels."""

    name: str
    text: str
    labels: tuple[str, ...] = ()
    histogram: bool = False


OPERATIONS: Final = Family(
    "operations_total", "Attempts that ended.", ("kind", "result", "error_class")
)
OPERATION_SECONDS: Final = Family(
    "operation_duration_seconds", "From begin to end of an attempt.", ("kind",), histogram=True
)
GIT: Final = Family("git_requests_total", "Looks at the repository.", ("op", "result"))
GIT_SECONDS: Final = Family(
    "git_request_duration_seconds", "One look at the repository.", ("op",), histogram=True
)
WEBHOOKS: Final = Family(
    "webhook_requests_total", "Deliveries at the door, by forge.", ("provider", "result")
)
BEATS: Final = Family("beacon_requests_total", "Beats of beacons.", ("result",))
TICKS: Final = Family(
    "reconcile_duration_seconds", "One walk through the steps of a tick.", histogram=True
)
DRIFT: Final = Family("drift_detected_total", "Placements found to differ from what should run.")
ROLLBACKS: Final = Family("rollbacks_total", "Releases that went back, by cause.", ("reason",))
FAMILIES: Final = (
    OPERATIONS, OPERATION_SECONDS, GIT, GIT_SECONDS, WEBHOOKS, BEATS, TICKS, DRIFT, ROLLBACKS,
)  # fmt: skip


@dataclass
class _Histogram:
    counts: list[int] = field(default_factory=lambda: [0] * len(SECONDS))
    total: float = 0.0
    number: int = 0


class Instruments:
    """Counts since the start of the process; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[tuple[str, Labels], int] = defaultdict(int)
        self._histograms: dict[tuple[str, Labels], _Histogram] = defaultdict(_Histogram)

    def count(self, family: Family, *labels: str) -> None:
        """One more."""
        with self._lock:
            self._counters[(family.name, labels)] += 1

    def observe(self, family: Family, seconds: float, *labels: str) -> None:
        """It took so long."""
        with self._lock:
            found = self._histograms[(family.name, labels)]
            found.total += seconds
            found.number += 1
            for place, limit in enumerate(SECONDS):
                found.counts[place] += seconds <= limit

    @contextmanager
    def timed(self, family: Family, *labels: str) -> Iterator[None]:
        """Observe how long the block takes, also when it fails."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.observe(family, time.monotonic() - began, *labels)

    def lines(self) -> Iterator[str]:
        """In Prometheus' text format."""
        with self._lock:
            counters, histograms = dict(self._counters), dict(self._histograms)
            for family in FAMILIES:
                yield from head(family.name, family.text, _kind(family))
                if family.histogram:
                    for (name, labels), one in sorted(histograms.items()):
                        if name == family.name:
                            yield from _histogram(family, labels, one)
                    continue
                found = {key[1]: value for key, value in counters.items() if key[0] == family.name}
                if not family.labels:
                    found.setdefault((), 0)  # a rate needs the zero that came before the first
                for labels, value in sorted(found.items()):
                    yield f"{PREFIX}{family.name}{_words(family.labels, labels)} {value}"


def head(name: str, text: str, kind: str = "gauge") -> Iterator[str]:
    """The two lines above a family."""
    yield f"# HELP {PREFIX}{name} {text}"
    yield f"# TYPE {PREFIX}{name} {kind}"


def _kind(family: Family) -> str:
    return "histogram" if family.histogram else "counter"


def _histogram(family: Family, labels: Labels, one: _Histogram) -> Iterator[str]:
    limits = [*(f"{limit:g}" for limit in SECONDS), "+Inf"]
    for limit, count in zip(limits, [*one.counts, one.number], strict=True):
        words = _words((*family.labels, "le"), (*labels, limit))
        yield f"{PREFIX}{family.name}_bucket{words} {count}"
    plain = _words(family.labels, labels)
    yield f"{PREFIX}{family.name}_sum{plain} {one.total:.6f}"
    yield f"{PREFIX}{family.name}_count{plain} {one.number}"


def _words(names: Sequence[str], values: Sequence[str]) -> str:
    pairs = ",".join(f'{name}="{value}"' for name, value in zip(names, values, strict=True))
    return f"{{{pairs}}}" if pairs else ""
