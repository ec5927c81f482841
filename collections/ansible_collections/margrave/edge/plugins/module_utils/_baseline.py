# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Baseline of a release: when it was found healthy, and how often its containers had restarted.

It is kept in a folder that is lost when the machine restarts, as a restart of the machine explains
every restart of a container.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping

from ansible_collections.margrave.edge.plugins.module_utils._files import (
    make_folder,
    read_json,
    remove_file,
    write_json,
)
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._record import as_dict, record

# A container that has run for so long since its last disturbance has recovered.
RECOVERED = 60.0
# A start of a container within this time after the machine's is part of booting, not a crash.
BOOTING = 120.0


@record
class Baseline:
    """State of a release at the end of the call that found it healthy."""

    release: str
    at: float  # by the clock of the running machine, which nobody can set
    restarts: dict  # by container


@record
class Disturbance:
    """A container that did not stay healthy after the baseline."""

    component: str
    service: str
    container: str
    detail: str
    restarts: int
    exit_code: int
    oom_killed: bool
    health: str
    # Still going on, or not long ago.
    recent: bool
    # Seconds from the baseline to it, where that is known.
    after: float | None = None

    def as_dict(self) -> dict:
        """As results carry it."""
        return as_dict(self)


def store(layout: Layout, deployment: str, release: str, restarts: Mapping[str, int]) -> None:
    """Write the baseline of a release that is healthy now.

    Without a baseline nothing is lost but time: whoever watches the release begins anew.
    """
    baseline = Baseline(release, round(now(), 3), dict(restarts))
    with contextlib.suppress(OSError):
        make_folder(layout.baselines)
        write_json(layout.baseline(deployment), as_dict(baseline), at_once=False)


def load(layout: Layout, deployment: str, release: str) -> Baseline | None:
    """Return the baseline of a release, or None where there is none since the machine started."""
    stored = read_json(layout.baseline(deployment))
    try:
        baseline = Baseline(**stored) if stored else None
    except TypeError:
        return None  # of another version of this collection
    return baseline if baseline is not None and baseline.release == release else None


def forget(layout: Layout, deployment: str) -> None:
    """Remove the baseline of a deployment that is gone."""
    with contextlib.suppress(OSError):
        remove_file(layout.baseline(deployment))


def now() -> float:
    """Return the seconds since the machine started, also those that it slept."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def started(process: int) -> float | None:
    """Return when a process started, by the same clock; None where it has ended."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def machine_started() -> float:
    """Return when the machine's first process started: in a container later than the kernel."""
    return started(1) or 0.0
