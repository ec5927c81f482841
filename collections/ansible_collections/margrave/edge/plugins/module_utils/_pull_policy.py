# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pull decisions, from a service's `pull_policy` and the kind of its image reference. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

KEEP = "keep"  # use the local image without a request to the registry
MUST = "must"  # pull, or fail
MAY = "may"  # pull; if that fails, warn and use the local image
REFUSE = "refuse"  # there is no local image, and pulling is forbidden

PERIODS = {"daily": 86400.0, "weekly": 7 * 86400.0}
EVERY = re.compile(r"every_((?:\d+[wdhms])+)")
UNITS = {"w": 7 * 86400.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
# Policies that never pull again once there is a local image.
PATIENT = ("never", "missing", "if_not_present")


def is_exact(reference: str) -> bool:
    """Return whether a reference names its image by digest."""
    return "@sha256:" in reference


def period(policy: str) -> float | None:
    """Return the pull interval of the policy in seconds, or None."""
    every = EVERY.fullmatch(policy)
    if every:
        return sum(int(n) * UNITS[unit] for n, unit in re.findall(r"(\d+)([wdhms])", every[1]))
    return PERIODS.get(policy)


def is_due(image: Mapping, now: float) -> bool:
    """Return whether an image of a running release has to be pulled again now."""
    policy = image.get("policy") or ""
    if not policy or is_exact(image["reference"]):
        return False
    if policy == "always":
        return True
    seconds = period(policy)
    # A timestamp in the future means that the clock was set back since.
    age = now - float(image.get("pulled") or 0)
    return seconds is not None and not 0 <= age < seconds


def decide(image: Mapping, is_here: bool, is_new: bool, now: float) -> str:
    """Return the action for an image; `is_new` if the release has not recorded an id yet."""
    policy = image.get("policy") or ""
    if not is_here:
        return REFUSE if policy == "never" else MUST
    if is_exact(image["reference"]) or policy in PATIENT:
        return KEEP
    if policy == "always":
        return MUST
    if period(policy) is not None:
        return MAY if is_due(image, now) else KEEP
    return MAY if is_new else KEEP
