"""What this process counts and times itself; what the database knows is asked there."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Labels = tuple[str, ...]
Sample = tuple[dict[str, str], float]

BOUNDS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)  # seconds
LONG: Final = (1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)  # what nodes and people need


class Times:
    """How often something was done, by its labels, and how long it took."""

    def __init__(self, names: Labels = (), bounds: tuple[float, ...] = BOUNDS) -> None:
        self.names = names
        self._bounds = bounds
        self._lock = threading.Lock()
        self._found: dict[Labels, tuple[list[int], float]] = {}

    def add(self, labels: Labels, seconds: float) -> None:
        """Once more."""
        with self._lock:
            counts, total = self._found.get(labels, ([0] * (len(self._bounds) + 1), 0.0))
            counts[bisect_left(self._bounds, seconds)] += 1
            self._found[labels] = (counts, total + seconds)

    @contextmanager
    def of(self, *labels: str) -> Iterator[None]:
        """Time what is inside; the last label is whether it came to a good end: ok or failed."""
        begun, result = time.perf_counter(), "failed"
        try:
            yield
            result = "ok"
        finally:
            self.add((*labels, result), time.perf_counter() - begun)

    def counts(self) -> list[tuple[dict[str, str], float]]:
        """How often, by labels."""
        return [
            (dict(zip(self.names, labels, strict=True)), float(sum(counts)))
            for labels, (counts, _) in self._copy()
        ]

    def buckets(self) -> list[tuple[str, dict[str, str], float]]:
        """The histogram's samples: (suffix, labels, value)."""
        made = []
        for labels, (counts, total) in self._copy():
            named, so_far = dict(zip(self.names, labels, strict=True)), 0
            for bound, count in zip((*map(str, self._bounds), "+Inf"), counts, strict=True):
                so_far += count
                made.append(("_bucket", {**named, "le": bound}, float(so_far)))
            made += [("_sum", named, total), ("_count", named, float(so_far))]
        return made

    def _copy(self) -> list[tuple[Labels, tuple[list[int], float]]]:
        with self._lock:
            return [(labels, (list(counts), total)) for labels, (counts, total) in
                    sorted(self._found.items())]  # fmt: skip


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Measure work in a stage of publishing; an exception counts as a failure."""
    begun = time.perf_counter()
    try:
        yield
    except Exception:
        STAGE_FAILURES.add(name)
        raise
    finally:
        STAGE_TIME.add((name,), time.perf_counter() - begun)


class Counts:
    """How often something happened, by its labels."""

    def __init__(self, names: Labels) -> None:
        self.names = names
        self._lock = threading.Lock()
        self._found: Counter[Labels] = Counter()

    def add(self, *labels: str) -> None:
        """Once more."""
        with self._lock:
            self._found[labels] += 1

    def counts(self) -> list[tuple[dict[str, str], float]]:
        """How often, by labels."""
        with self._lock:
            found = sorted(self._found.items())
        return [(dict(zip(self.names, labels, strict=True)), float(n)) for labels, n in found]


class Reported:
    """Samples that another part of this process reports when they are wanted."""

    def __init__(self) -> None:
        self.report: Callable[[], list[Sample]] = list

    def __iter__(self) -> Iterator[Sample]:
        return iter(self.report())


HTTP_CONNECTIONS: Final = Reported()
HTTP_RUNNING: Final = Reported()
HTTP_WAITING: Final = Reported()
HTTP_REFUSED: Final = Reported()
GIT: Final = Times(("op", "result"))  # requests to the outside remote
OPERATIONS: Final = Times(("type",), LONG)  # calls on nodes, as their runners timed them
QUEUE: Final = Times((), LONG)  # from when a request was accepted until it was taken out
LAG: Final = Times((), LONG)  # from when something happened at a site until it was stored here
WEBHOOKS: Final = Counts(("provider", "result"))
# Stages of publishing: how long work waits for each, takes in it, and how often it fails there.
STAGE_WAIT: Final = Times(("stage",), LONG)
STAGE_TIME: Final = Times(("stage",))
STAGE_FAILURES: Final = Counts(("stage",))
