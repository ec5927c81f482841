"""Hostile packages get nothing on a node beyond their own objects; ordinary ones keep running."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import Engine, Lab, kubernetes
from tests.escape import archives, by_module, catalogue
from tests.escape.__main__ import run
from tests.escape.admitted import Controller, controller, judge_admission
from tests.escape.by_push import pusher
from tests.escape.catalogue import Expectation, Package
from tests.escape.ground import Ground

HOSTILE = [*catalogue.hostile_compose(), *catalogue.hostile_charts()]
ORDINARY = [*catalogue.ordinary_compose(), *catalogue.ordinary_charts()]
# One of each row of the table of known escapes, and what only a node can refuse.
SOME = {
    "archive_through_symlink",
    "logging_k8s_file_relative",
    "network_external_of_another_deployment",
    "package_symlink",
    "secret_file_of_the_node",
    "volume_tmpfs_bind_root",
    "volumes_from_another_deployment",
    "file_secret",
    "mounted_file",
}  # fmt: skip
PUSHED = ("include_absolute", "privileged", "volume_tmpfs_bind_root")


def _kind_and_name(package: Package) -> str:
    return f"{package.kind}-{package.name}"


@pytest.fixture(scope="module")
def admission(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Controller]:
    """A controller whose catalogue holds the Compose packages."""
    packages = [package for package in HOSTILE + ORDINARY if package.kind == "compose"]
    with controller(tmp_path_factory.mktemp("compose"), packages) as checking:
        yield checking


@pytest.fixture(scope="module")
def admission_of_charts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Controller]:
    """A controller whose catalogue holds the charts."""
    packages = [package for package in HOSTILE + ORDINARY if package.kind == "helm"]
    with controller(tmp_path_factory.mktemp("charts"), packages) as checking:
        yield checking


@pytest.fixture
def ground(lab: Lab, tmp_path: Path) -> Iterator[Ground]:
    """A node with podman and a neighbour that no package may touch."""
    opened = Ground(lab, "depot-1", Engine.PODMAN, tmp_path)
    opened.open()
    yield opened
    opened.close()


def _for_podman(ground: Ground) -> list[Package]:
    names = ground.names
    every = catalogue.hostile_compose(names) + catalogue.ordinary_compose(names)
    return [package for package in every + archives.packages() if Engine.PODMAN in package.engines]


def test_there_are_enough_packages() -> None:
    """Sixty hostile packages for each engine at the least, and twenty ordinary ones."""
    for engine in ("podman", "docker", "kubernetes"):
        assert sum(engine in package.engines for package in HOSTILE) >= 60
    assert len(catalogue.ordinary_compose()) >= 20


@pytest.mark.parametrize(
    "package",
    [package for package in HOSTILE + ORDINARY if package.kind == "compose"],
    ids=_kind_and_name,
)
def test_the_controller_lets_in_what_is_ordinary_alone(
    admission: Controller, package: Package
) -> None:
    """A hostile Compose package is refused before it is in Git; an ordinary one has no finding."""
    assert judge_admission(admission, package, "any").findings == ()


@pytest.mark.parametrize(
    "package",
    [package for package in HOSTILE + ORDINARY if package.kind == "helm"],
    ids=_kind_and_name,
)
def test_the_controller_lets_ordinary_charts_in(
    admission_of_charts: Controller, package: Package
) -> None:
    """An ordinary chart has no finding; a hostile one is the node's to refuse at the latest."""
    assert judge_admission(admission_of_charts, package, "any").findings == ()


@pytest.mark.lab
def test_a_node_refuses_what_a_playbook_hands_it(ground: Ground) -> None:
    """The module alone refuses hostile packages and runs ordinary ones; nothing else differs."""
    packages = [package for package in _for_podman(ground) if package.name in SOME]
    assert len(packages) == len(SOME)
    assert [
        str(verdict) for verdict in by_module.attempt_all(ground, packages) if verdict.findings
    ] == []


@pytest.mark.lab
def test_a_node_refuses_what_is_pushed_past_the_controller(ground: Ground) -> None:
    """A package that a person pushes to Git fails as config, and nothing of it is started."""
    packages = [package for package in _for_podman(ground) if package.name in PUSHED]
    assert len(packages) == len(PUSHED)
    with pusher(ground) as pushing:
        assert [str(verdict) for verdict in pushing.attempt_all(packages) if verdict.findings] == []


@pytest.mark.full
@pytest.mark.lab
def test_the_listing_sees_what_gets_through(ground: Ground) -> None:
    """A package that the policy allows to reach out shows as differences: the suite can fail."""
    opened = [
        Package(
            name="opened",
            kind="compose",
            tries="Reaches out where the site allows it.",
            changes="/root/escape-opened appears.",
            expect=Expectation.RUNS,
            engines=("podman",),
            files={"compose.yaml": OPENED.encode()},
            policy={"host_paths": ["/root"], "host_namespaces": "allow"},
        )
    ]
    findings = "\n".join(next(by_module.attempt_all(ground, opened)).findings)
    assert "files: /root/escape-opened: appeared" in findings
    assert "shares the pid namespace of the node" in findings
    assert "has /root (" in findings


@pytest.mark.full
@pytest.mark.lab
def test_the_listing_sees_what_a_pod_gets(lab: Lab, tmp_path: Path) -> None:
    """A chart that the policy gives everything shows as differences on Kubernetes too."""
    lab.up(["kube-1"], engine=Engine.KUBERNETES)
    kubernetes.install(lab, "kube-1")
    ground = Ground(lab, "kube-1", Engine.KUBERNETES, tmp_path)
    ground.open()
    opened = Package(
        name="opened",
        kind="helm",
        tries="Reaches out where the site allows it.",
        changes="/root/escape-opened appears.",
        expect=Expectation.RUNS,
        engines=("kubernetes",),
        files={
            "Chart.yaml": b"apiVersion: v2\nname: opened\nversion: 1.0.0\n",
            "templates/all.yaml": OPENED_CHART.encode(),
        },
        policy={"host_paths": ["/root"], "host_namespaces": "allow", "privileged": "allow"},
    )
    try:
        findings = "\n".join(next(by_module.attempt_all(ground, [opened])).findings)
    finally:
        ground.close()
    assert "files: /root/escape-opened: appeared" in findings
    assert "opened: shares the pid namespace of the node" in findings
    assert "opened: has /root (" in findings
    assert "objects: " not in findings


OPENED_CHART = f"""
apiVersion: v1
kind: Pod
metadata: {{name: opened}}
spec:
  hostPID: true
  terminationGracePeriodSeconds: 1
  containers:
    - name: web
      image: {catalogue.IDLE}
      command: [sh, -c, "touch /host/escape-opened; exec /bin/idle"]
      volumeMounts: [{{name: root, mountPath: /host}}]
  volumes: [{{name: root, hostPath: {{path: /root}}}}]
"""
OPENED = f"""
services:
  web:
    image: {catalogue.IDLE}
    command: [sh, -c, "touch /host/escape-opened; exec /bin/idle"]
    pid: host
    volumes: ["/root:/host"]
"""


@pytest.mark.lab
@pytest.mark.full
@pytest.mark.parametrize("engine", [Engine.PODMAN, Engine.DOCKER, Engine.KUBERNETES])
def test_no_package_gets_out_on_any_route(lab: Lab, tmp_path: Path, engine: Engine) -> None:
    """Every package on every route to every engine: refused, or contained, or running."""
    verdicts = list(run(lab, engine, tmp_path, ("admission", "module", "push"), ""))
    assert [str(verdict) for verdict in verdicts if verdict.findings] == []
