"""Machines that cannot carry a lab."""

from __future__ import annotations

import pytest

from lab import limits, preflight
from lab.errors import NotPossibleHere


def test_without_root_it_is_said_before_anything_is_touched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What for, and the way out."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(NotPossibleHere, match=r"needs root.*sudo"):
        preflight.check()


def test_another_system_than_linux_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is tried there."""
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(NotPossibleHere, match="needs Linux"):
        preflight.check()


def test_all_missing_packages_are_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the names apt knows, each once, with the command that installs them."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("shutil.which", lambda name, path: None if name in {"ip", "tc"} else name)
    with pytest.raises(NotPossibleHere, match="apt-get install iproute2") as caught:
        preflight.check()
    assert caught.value.message.endswith("missing: iproute2")


def test_twenty_nodes_need_more_than_the_kernels_usual_limit() -> None:
    """A small lab changes nothing on the machine, a big one has to."""
    assert limits.needed(5) <= 128 < limits.needed(20)
