"""One demo for all tests of the whole path: up at the first, down after the last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.demo import ROOT, Demo, margrave

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def demo() -> Iterator[Demo]:
    """The demo as `make demo` leaves it."""
    if (ROOT / "var/demo/demo.env").exists():
        pytest.fail("a demo is up on this machine: run `make demo-down` before the tests")
    up = margrave("demo", "up", timeout=600)
    try:
        assert up.code == 0, f"margrave demo up: {up.code}\n{up.out}\n{up.err}"
        (ROOT / "var/test").mkdir(parents=True, exist_ok=True)
        (ROOT / "var/test/demo-up.txt").write_text(up.out)
        yield Demo()
    finally:
        down = margrave("demo", "down", "--yes", timeout=300)
        assert down.code == 0, f"margrave demo down: {down.code}\n{down.out}\n{down.err}"
