"""The pull policy and the kind of reference decide when an image is pulled."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _pull_policy
from ansible_collections.margrave.edge.plugins.module_utils._pull_policy import (
    KEEP,
    MAY,
    MUST,
    REFUSE,
    decide,
    is_due,
)

TAG, EXACT = "registry.site/web:1", "registry.site/web@sha256:" + "0" * 64
HOUR = 3600.0
NOW = 1_000_000.0


def _image(reference: str, policy: str = "", pulled: float = 0.0) -> dict[str, Any]:
    return {"reference": reference, "policy": policy, "pulled": pulled}


@pytest.mark.parametrize(
    ("policy", "absent", "new", "known"),
    [
        ("", MUST, MAY, KEEP),
        ("build", MUST, MAY, KEEP),
        ("always", MUST, MUST, MUST),
        ("missing", MUST, KEEP, KEEP),
        ("if_not_present", MUST, KEEP, KEEP),
        ("never", REFUSE, KEEP, KEEP),
        ("daily", MUST, MAY, MAY),
    ],
)
def test_a_tag_is_pulled_as_the_policy_says(policy: str, absent: str, new: str, known: str) -> None:
    """By default a tag is pulled for a new release and kept afterwards."""
    image = _image(TAG, policy)

    assert decide(image, False, True, NOW) == absent
    assert decide(image, True, True, NOW) == new
    assert decide(image, True, False, NOW) == known


@pytest.mark.parametrize("policy", ["", "always", "daily"])
def test_a_digest_never_asks_for_what_is_here(policy: str) -> None:
    """An image named by digest is never pulled again."""
    assert decide(_image(EXACT, policy), True, True, NOW) == KEEP
    assert not is_due(_image(EXACT, policy), NOW)


@pytest.mark.parametrize(
    ("policy", "age", "due"),
    [
        ("", 1e9, False),
        ("missing", 1e9, False),
        ("always", 0, True),
        ("daily", 23 * HOUR, False),
        ("daily", 24 * HOUR, True),
        ("weekly", 6 * 24 * HOUR, False),
        ("weekly", 7 * 24 * HOUR, True),
        ("every_1h30m", 1.4 * HOUR, False),
        ("every_1h30m", 1.5 * HOUR, True),
        ("every_2w", 13 * 24 * HOUR, False),
        ("daily", -HOUR, True),  # the clock was set back
    ],
)
def test_a_release_that_runs_is_due_after_its_period(policy: str, age: float, due: bool) -> None:
    """Only `always` and expired intervals pull for a running release."""
    assert is_due(_image(TAG, policy, NOW - age), NOW) is due


def test_a_period_that_nobody_defined_is_none() -> None:
    """An unknown interval is no interval."""
    assert _pull_policy.period("every_") is None
    assert _pull_policy.period("every_day") is None
