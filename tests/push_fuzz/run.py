"""One run: changes are pushed one after the other, and after each the other site must go on."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.push_fuzz.ground import SITE, Ground
from tests.push_fuzz.mutations import Change, Mutations

WITHIN: Final = 5.0  # seconds until a request for another site is published and shown
PAUSE_EVERY: Final = 10  # pushes after which the other site is paused and resumed, too


@dataclass
class Figures:
    """The figures of a run; `violations` is empty when it passed."""

    accepted: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    pushes: list[float] = field(default_factory=list)
    shown: list[float] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)
    findings: int = 0  # the most that were shown at once
    violations: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """The figures as they are kept."""
        return {
            "pushes": len(self.pushes),
            "accepted": dict(sorted(self.accepted.items())),
            "refused": dict(sorted(self.refused.items())),
            "most findings": self.findings,
            "push, s": _spread(self.pushes),
            "published and shown, s": _spread(self.shown),
            "paused and resumed, s": _spread(self.pauses),
            "violations": self.violations,
        }


def run(
    ground: Ground,
    seed: int,
    count: int,
    keep: Path,
    progress: Callable[[int, Figures], object] = lambda *_: None,
) -> Figures:
    """Push `count` changes; files of a change that broke something are kept below `keep`."""
    figures = Figures()
    mutations = Mutations(seed, SITE, ground.document, ground.component, ground.deployment)
    for number in range(count):
        change = mutations.next()
        try:
            _step(ground, change, figures, number)
        except KeyboardInterrupt:
            break  # the figures so far are reported
        except AssertionError as error:
            _keep(keep / f"{seed}-{number}", change)
            figures.violations.append(f"{number} ({change.kind}): {error}")
        progress(number + 1, figures)
    return figures


def _step(ground: Ground, change: Change, figures: Figures, number: int) -> None:
    began = time.monotonic()
    accepted = ground.push(change)
    figures.pushes.append(time.monotonic() - began)
    (figures.accepted if accepted else figures.refused)[change.kind] += 1
    figures.shown.append(ground.change_other(WITHIN))
    figures.findings = max(figures.findings, ground.look())
    if number % PAUSE_EVERY == 0:
        figures.pauses.append(ground.pause_other(WITHIN))


def _keep(folder: Path, change: Change) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, (path, data) in enumerate(change.files.items()):
        (folder / f"{number}.path").write_text(path, encoding="utf-8", errors="surrogateescape")
        (folder / f"{number}.data").write_bytes(data or b"")
    told = f"{change.author}\n{change.date}\n{change.message}"
    (folder / "commit").write_text(told, encoding="utf-8", errors="surrogateescape")


def _spread(seconds: list[float]) -> dict[str, float]:
    if not seconds:
        return {}
    ordered = sorted(seconds)
    return {
        "median": round(statistics.median(ordered), 3),
        "p99": round(ordered[int(len(ordered) * 0.99)], 3),
        "max": round(ordered[-1], 3),
    }
