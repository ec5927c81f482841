"""Each engine does what all of them promise: one story, told to every one of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lab import Lab, kubernetes
from tests.support import charts
from tests.support.charts import ChartShop
from tests.support.shop import Shop, Step, clean

pytestmark = pytest.mark.lab

CHECK_ACT_AGAIN = [True, True, False, False]
# Kubernetes takes a quarter of an hour to build: where it was, its tests are quick enough.
BUILT = [] if kubernetes.programs() else [pytest.mark.full]


@dataclass
class Engined(Shop):
    """The storefront on a node with this container engine."""

    engine: str = "podman"

    def damage(self) -> None:
        """Remove what answers, as a person with a shell might."""
        self.ssh(f"{self.engine} rm -f $({self.engine} ps -qf name=web)")

    def stranger(self) -> str:
        """What runs here and is not the deployment's."""
        return self.ssh(f"{self.engine} ps -a --format '{{{{.Names}}}}'")

    def add_stranger(self) -> None:
        """Let something run here that is not the deployment's."""
        self.ssh(f"{self.engine} run -d --name foreign registry.margrave.lab:5000/idle:1")

    def clean(self) -> None:
        """Leave the node as it was."""
        clean(self.lab, self.node, self.engine)


@dataclass
class Charted(ChartShop):
    """The storefront on a node with Kubernetes."""

    values: dict[str, object] = field(default_factory=lambda: {"web.replicas": 1})

    def damage(self) -> None:
        """Remove what answers."""
        self.kubectl("delete deployment web --wait=true")

    def stranger(self) -> str:
        """What was deployed here by others."""
        return self.kubectl("get configmap -o name -l foreign")

    def add_stranger(self) -> None:
        """Let something be here that is not the deployment's."""
        self.ssh(f"{charts.KUBECTL} create namespace {charts.NAMESPACE}")
        self.kubectl("create configmap foreign")
        self.kubectl("label configmap foreign foreign=yes")


@pytest.fixture
def subject(
    request: pytest.FixtureRequest, lab: Lab, packages: dict[str, Path], tmp_path: Path
) -> Iterator[Engined | Charted]:
    """The storefront, not there yet, on a node with the engine."""
    made: Engined | Charted
    if request.param == "helm":
        node = request.getfixturevalue("kubernetes_node")
        made = Charted(lab, tmp_path, request.getfixturevalue("chart_folders"), node)
    elif request.param == "docker":
        node = request.getfixturevalue("docker_node")
        made = Engined(lab, tmp_path, packages, node, engine="docker")
    else:
        made = Engined(lab, tmp_path, packages)
    made.clean()
    yield made
    made.clean()


ENGINES = [
    # What it promises is shown for podman by all other tests of this folder too.
    pytest.param("podman", marks=pytest.mark.full),
    "docker",
    pytest.param("helm", marks=BUILT),
]


@pytest.mark.parametrize("subject", ENGINES, indirect=True)
def test_an_engine_keeps_the_promises(subject: Engined | Charted) -> None:
    """Installed once, updated once, a bad release goes back, drift is mended, delete is whole."""
    install, update = subject.install("1.0.0"), subject.update("1.1.0")
    bad = Step("workload_update", subject.content("1.2.0", timeout=6))
    look = Step("workload_info", {"deployment": subject.deployment})
    subject.add_stranger()

    installed = subject.call(*_four(install))
    first = subject.page()
    updated = subject.call(*_four(update), bad, look)
    second = subject.page()
    subject.damage()
    drifted, mended, again, back = subject.call(look, update, update, subject.rollback())
    third = subject.page()
    deleted = subject.call(*_four(subject.delete(volumes="remove")), look)

    assert [one["changed"] for one in installed] == CHECK_ACT_AGAIN
    assert first == {"version": "1.0.0", "greeting": "hello"}
    assert [one["changed"] for one in updated[:4]] == CHECK_ACT_AGAIN
    failed, after = updated[4:]
    assert (failed["state"], failed["rolled_back"]) == ("FAILED", True)
    assert (failed["error"]["class"], failed["version"]) == ("health", "1.1.0")
    assert (after["workloads"][0]["version"], after["workloads"][0]["drift"]) == ("1.1.0", [])
    assert second["version"] == "1.1.0"
    assert [one["what"] for one in drifted["workloads"][0]["drift"]] == ["missing"]
    assert [one["changed"] for one in (mended, again, back)] == [True, False, True]
    assert third["version"] == "1.0.0"
    assert [one["changed"] for one in deleted[:4]] == CHECK_ACT_AGAIN
    assert deleted[4]["workloads"] == []
    assert "foreign" in subject.stranger()
    assert subject.ssh("find /var/lib/margrave /run/margrave -mindepth 1") == ""


def _four(step: Step) -> tuple[Step, ...]:
    check = Step(step.module, step.arguments, check=True)
    return (check, step, step, check)
