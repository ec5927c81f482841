# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Wait until a chart's objects are ready, and no longer than it takes to know better."""

from __future__ import annotations

import time

from ansible_collections.margrave.edge.plugins.module_utils import _objects
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._errors import EdgeError, HealthError
from ansible_collections.margrave.edge.plugins.module_utils._health import CRASH_LOOP
from ansible_collections.margrave.edge.plugins.module_utils._kubernetes import Cluster
from ansible_collections.margrave.edge.plugins.module_utils._release import Release

# Between two looks at the cluster: each starts two programs.
PAUSE = 0.5


def wait(
    cluster: Cluster,
    call: Call,
    stated: list[dict],
    before: dict,
    until: float,
    release: Release,
    limit: float,
) -> list[dict]:
    """The objects once all are there and ready; the error that ends the wait otherwise."""
    doubt = _Doubt()
    prove, begun = call.proving, time.time()
    most, grace, since = CRASH_LOOP, float(release.health.get("grace", 5)), None
    if prove:
        most, grace, since = 1, prove, begun
    while True:
        asked = time.time()  # the answers are of later: how long something ran is never overrated
        found = cluster.live(stated)
        pods = _objects.pods_of(found, cluster.items("pods", release.namespace))
        failure = _objects.failure(found, pods, before, most)
        doubt.weigh(failure, time.monotonic())
        waiting = [one for one in map(_objects.waiting_for, found) if one]
        waiting += _objects.settling(pods, asked, grace, since)
        if prove and (failure or asked - begun < prove):
            # A container that ended is not running, and the API server may hear late of its end.
            waiting.append(f"{prove:.0f} s without a restart have not passed")
        if not waiting and len(found) == len(stated):
            return found
        if time.monotonic() > until:
            lacking = "; ".join(waiting) or "objects are missing"
            raise _not_ready(pods, f"not ready after {limit:.0f} s: {lacking}")
        call.safe_point()
        time.sleep(PAUSE)


class _Doubt:
    """A failure counts once it has stood for a while.

    A pod of the release before may be seen on its way out, and the kubelet looks again for what a
    container lacks only now and then.
    """

    def __init__(self) -> None:
        self._since: float | None = None

    def weigh(self, error: EdgeError | None, now: float) -> None:
        """Raise an error that has been there long enough."""
        if error is None:
            self._since = None
            return
        self._since = self._since or now
        if now - self._since >= CERTAIN.get(error.kind, 5.0):
            raise error


# Seconds by the error's class; what a container lacks may have come a moment ago.
CERTAIN = {"config": 25.0}


def _not_ready(pods: list[dict], sentence: str) -> EdgeError:
    """The registry's error when pods wait for images, else that of health."""
    return _objects.pull_trouble(pods) or HealthError("not-healthy", sentence, _objects.CURE)
