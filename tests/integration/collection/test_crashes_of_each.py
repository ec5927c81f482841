"""Each module, killed at each of its steps on each engine, is finished by the same call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.support.engined import Charted, Engined
from tests.support.shop import Shop, Step

pytestmark = pytest.mark.lab

STEPS = ("prefetch", "switch", "commit")
PHASES = {
    "prefetch": ("unpacked", "fetching"),
    "install": STEPS,
    "update": STEPS,
    "rollback": STEPS,
    "delete": ("delete",),
}
QUICK = {("podman", "update", "switch"), ("podman", "prefetch", "fetching")}


def _cases() -> Iterator[Any]:
    for engine in ("podman", "docker", "helm"):
        for module, phases in PHASES.items():
            for phase in phases:
                if (engine, phase) == ("helm", "fetching"):
                    continue  # its images are the kubelet's
                case = (engine, module, phase)
                marks = [] if case in QUICK else [pytest.mark.full]
                yield pytest.param(*case, id="-".join(case), marks=marks)


def _story(shop: Shop, module: str) -> tuple[list[Step], Step, tuple[str, str | None]]:
    """What is done before, the call that is killed, and the state and version that it leads to."""
    install = shop.install("1.0.0", **shop.fence(1))
    update = shop.update("1.1.0", **shop.fence(2))
    if module == "prefetch":
        return [], shop.prefetch("1.0.0", **shop.fence(1)), ("PREFETCHED", None)
    if module == "install":
        return [], install, ("INSTALLED", "1.0.0")
    if module == "update":
        return [install], update, ("INSTALLED", "1.1.0")
    if module == "rollback":
        return [install, update], shop.rollback(**shop.fence(3)), ("INSTALLED", "1.0.0")
    return [install], shop.delete(**shop.fence(2)), ("DELETED", None)


@pytest.mark.parametrize(("subject", "module", "phase"), list(_cases()), indirect=["subject"])
def test_a_module_killed_anywhere_is_finished(
    subject: Engined | Charted, module: str, phase: str
) -> None:
    """It ends as if nothing had happened, nothing is doubled, and there is nothing left to do."""
    before, step, end = _story(subject, module)
    for one in before:
        subject.one(one)
    if phase == "fetching":
        assert isinstance(subject, Engined)
        subject.forget_images()

    subject.kill_at(phase, step)
    newer = replace(step, arguments={**step.arguments, **subject.fence(9)})
    look = Step("workload_info", {"deployment": subject.deployment})
    finished, again, seen = subject.call(step, newer, look)

    assert (finished["state"], finished["version"]) == end, finished["error"]
    assert (again["state"], again["changed"]) == (end[0], False)
    found = [(one["state"], one["version"], one["drift"]) for one in seen["workloads"]]
    assert found == ([] if module == "delete" else [(*end, [])])
    if end[0] == "INSTALLED":
        assert subject.page()["version"] == end[1]
    assert subject.ssh("find /run/margrave -name '*.lock' -o -name '*.stop'") == ""
