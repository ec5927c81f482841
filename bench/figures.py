"""How a measurement is summed up, shown and kept."""

from __future__ import annotations

import json
import platform
import statistics
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[1]


def summary(seconds: Sequence[float]) -> dict[str, float]:
    """Median, fastest and slowest of some runs."""
    return {
        "median": round(statistics.median(seconds), 3),
        "min": round(min(seconds), 3),
        "max": round(max(seconds), 3),
        "runs": len(seconds),
    }


def keep(name: str, figures: dict[str, Any]) -> Path:
    """Print the figures and store them under var/bench."""
    folder = ROOT / "var/bench"
    folder.mkdir(parents=True, exist_ok=True)
    stamped = {
        "bench": name,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, {platform.system()} {platform.release()}",
        **figures,
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps(stamped, indent=2) + "\n")
    print(json.dumps(stamped, indent=2))
    return path
