# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a call answers, the same keys whether it went well or not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from ansible_collections.margrave.edge.plugins.module_utils._record import as_dict, changing, field


@changing
class Result:
    """A call's answer, filled while it works."""

    changed: bool = False
    state: str = "FAILED"
    revision: str | None = None
    version: str | None = None
    release: str | None = None
    previous_revision: str | None = None
    next_revision: str | None = None
    rolled_back: bool = False
    phase: str = "validate"
    components: list = field(factory=list)
    health: str = "unknown"
    images: list = field(factory=list)
    volumes_kept: list = field(factory=list)
    durations: dict = field(factory=lambda: {"prefetch": 0.0, "switch": 0.0, "health": 0.0})
    error: dict | None = None
    # What the operator should know of a call that went well.
    warnings: list = field(factory=list)
    trace: str | None = None

    def as_dict(self) -> dict:
        """As Ansible returns it."""
        return as_dict(self)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Add what a step takes to its duration."""
        start = time.monotonic()
        try:
            yield
        finally:
            self.durations[step] = round(self.durations[step] + time.monotonic() - start, 3)

    def warn(self, text: str) -> None:
        """Tell the operator, once."""
        if text not in self.warnings:
            self.warnings.append(text)

    def component(self, name: str, state: str, error: dict | None = None) -> None:
        """Say how a component stands now."""
        self.components = [one for one in self.components if one["name"] != name]
        self.components.append({"name": name, "state": state, "error": error})
