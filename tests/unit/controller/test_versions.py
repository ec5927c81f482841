"""Which version is newer."""

from __future__ import annotations

from controller.versions import newest, order


def test_semver_order() -> None:
    """Numbers count as numbers, pre-releases come before their release."""
    expected = [
        "odd",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0",
        "1.2.0",
        "1.10.0",
    ]
    assert sorted(set(expected), key=order) == expected


def test_newest_prefers_releases() -> None:
    """The newest release, a pre-release only when there is nothing else, and nothing of nothing."""
    assert newest(["1.0.0", "2.0.0-rc.1"]) == "1.0.0"
    assert newest(["2.0.0-rc.1", "2.0.0-rc.2"]) == "2.0.0-rc.2"
    assert newest([]) is None
