"""Whatever breaks at whatever step: the end is right, told truthfully, and nothing is left over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import Lab
from tests.faults import matrix
from tests.faults.ground import Ground
from tests.faults.lives import lead

pytestmark = pytest.mark.lab

NODE = "harbor-2"


@pytest.fixture(scope="module")
def ground(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """One node and its runner, for all lives one after the other."""
    made = Ground(lab, NODE, tmp_path_factory.mktemp("ground"))
    made.open()
    yield made
    made.close()


@pytest.fixture
def clocked(lab: Lab, tmp_path: Path) -> Iterator[Ground]:
    """One node, and a runner whose wall clock can be set."""
    made = Ground(lab, NODE, tmp_path, clocked=True)
    made.open()
    yield made
    made.close()


def _name(life: matrix.Life) -> str:
    return ", ".join(str(case) for case in life)


@pytest.mark.parametrize("life", matrix.some(), ids=_name)
def test_a_life_with_a_fault_in_each_operation(ground: Ground, life: matrix.Life) -> None:
    """Install, update, a release that fails, delete: each is struck once and ends as it should."""
    assert [str(one) for one in lead(ground, life) if one.findings] == []


@pytest.mark.parametrize("life", matrix.some_clock(), ids=_name)
def test_a_life_with_the_clock_set_in_each_operation(clocked: Ground, life: matrix.Life) -> None:
    """Six hours back, six ahead, a day ahead, and right again: each ends as without."""
    assert [str(one) for one in lead(clocked, life) if one.findings] == []


@pytest.mark.full
@pytest.mark.parametrize("life", matrix.rotated(), ids=_name)
def test_every_step_with_the_module_killed_and_with_another_fault(
    ground: Ground, life: matrix.Life
) -> None:
    """No step of no operation leaves anything that the next call does not put right."""
    assert [str(one) for one in lead(ground, life) if one.findings] == []
