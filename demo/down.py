"""`margrave demo down`: nothing of the demo is left."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from demo import parts
from demo.places import LAB, RUNNER_PORTS
from lab import Lab

if TYPE_CHECKING:
    from demo.places import Places
    from demo.progress import Progress


def down(places: Places, progress: Progress) -> None:
    """Runners first, so that none takes the vanishing nodes for trouble."""
    with progress.step("runners and controller"):
        for site in RUNNER_PORTS:
            parts.runner(places, site).stop()
        parts.controller(places).stop()
    with progress.step("edge nodes and registry"):
        Lab(LAB).down()
    with progress.step(f"{places.base.relative_to(places.checkout)}"):
        shutil.rmtree(places.base, ignore_errors=True)
