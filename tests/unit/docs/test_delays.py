"""docs/delays.md has the delays that the truth test allows."""

from __future__ import annotations

import re

from tests.faults.truth.delays import DELAYS, DOCUMENT, Pace

DEFAULTS = Pace(heartbeat=10, drift=60, connect_timeout=10)
ROW = re.compile(r"^\| `([a-z-]+)` \|.*\| (\d+) s \|$", re.MULTILINE)


def test_the_table_is_the_one_that_claims_are_judged_by() -> None:
    """Each delay has its row, with its seconds at the default settings."""
    documented = {name: float(seconds) for name, seconds in ROW.findall(DOCUMENT.read_text())}

    assert documented == {one.name: one.limit(DEFAULTS) for one in DELAYS}
