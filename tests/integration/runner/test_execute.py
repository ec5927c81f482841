"""Operations reach real nodes: the same tests by the warm process and by the plain way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from lab import Lab
from margrave.lifecycle import Kind
from runner.execute import AnsibleExecutor, processes
from runner.ports import Call, Status, Target
from tests.support.errands import carry, install, mentioning, of_lab
from tests.support.waiting import eventually

pytestmark = pytest.mark.lab


TEMPLATE = "{{ lookup('pipe', 'touch /tmp/margrave-was-here') }}"
OTHER_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG5xLh6Av0QCP3dVSMwtjGvgA3fW0HTgELOhnSDiDrgj"


@pytest.fixture(params=["warm", "plain"])
def executor(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AnsibleExecutor]:
    made = AnsibleExecutor(tmp_path / "execute", connect_timeout=5, warm=request.param == "warm")
    made.open()
    if request.param == "warm":
        eventually((tmp_path / "execute/c/warm").exists, 60, "the warm process does not come up")
    yield made
    made.stop()
    assert mentioning(tmp_path) == []
    assert not (tmp_path / "execute/runs").exists()


@pytest.fixture
def root(lab: Lab) -> Callable[[str], Target]:
    return partial(of_lab, lab)


@pytest.fixture
def deployment(lab: Lab) -> Iterator[str]:
    """An id of a deployment; what runs under it is gone afterwards, and nobody starts it anew."""
    ident = str(uuid.uuid4())
    yield ident
    for name in ("harbor-1", "depot-1"):
        # A call that was given up here is still at work there, and would take its port back.
        lab.ssh(name, "pkill -9 -f '[m]argrave-code'; pkill -9 docker-compose", check=False)
        find = f"podman ps -aq --filter label=margrave.deployment={ident}"
        lab.ssh(name, f"{find} | xargs -r podman rm -f -t 0", check=False)
        lab.ssh(name, f"rm -rf /var/lib/margrave/deployments/{ident}", check=False)


def test_an_application_is_installed_and_deleted(lab, executor, root, deployment) -> None:
    """The module's return value arrives; a parameter is text, whatever Ansible would make of it."""
    node = root("harbor-1")
    results = carry(executor, [install(node, deployment, greeting=TEMPLATE)])
    [result] = results.wait().values()
    assert (result.status, result.message) == (Status.OK, "")
    assert result.data["state"] == "INSTALLED"
    assert result.started < result.ended
    assert [line.operation for line in results.lines][:1] == ["install-1.0.0"]
    with urllib.request.urlopen(f"http://{node.address}:8000/", timeout=5) as answer:
        assert json.load(answer) == {"version": "1.0.0", "greeting": TEMPLATE}
    assert not Path("/tmp/margrave-was-here").exists()
    seen = executor.observe([node], [deployment])["harbor-1"]
    assert [one["deployment"] for one in seen.data["workloads"]] == [deployment]
    delete = Call("d", Kind.DELETE, node, {"deployment": deployment, "force": True}, 60)
    assert carry(executor, [delete]).wait()["d"].data["deleted"] is True
    assert executor.active == frozenset()


def test_what_is_fetched_ahead_runs_nothing(lab, executor, root, deployment) -> None:
    """The images are on the node afterwards, the release is ready, and nothing was started."""
    call = replace(install(root("harbor-1"), deployment), ahead=True)
    [result] = carry(executor, [call]).wait().values()
    assert (result.status, result.data["state"]) == (Status.OK, "PREFETCHED")
    for image in result.data["images"]:
        lab.ssh("harbor-1", f"podman image exists {image}")
    found = lab.ssh("harbor-1", f"podman ps -aq --filter label=margrave.deployment={deployment}")
    assert not found.stdout.strip()
    [again] = carry(executor, [call]).wait().values()
    assert again.data["changed"] is False


def test_a_look_tells_what_the_module_tells(lab, executor, root, deployment, monkeypatch) -> None:
    """Without Ansible and with it: the same answer, drift included."""
    node = root("harbor-1")
    carry(executor, [install(node, deployment)]).wait()
    lab.ssh("harbor-1", "podman rm -f -t 0 $(podman ps -qf name=cache)")
    quick = executor.observe([node], [deployment])["harbor-1"]
    monkeypatch.setattr("runner.execute.looks.Looks.look", lambda *_: None)
    slow = executor.observe([node], [deployment])["harbor-1"]
    assert quick.status is slow.status is Status.OK
    passed = [one.data["workloads"][0]["stability"].pop("seconds") for one in (quick, slow)]
    assert 0 < passed[0] < passed[1]
    assert quick.data == slow.data
    assert quick.data["workloads"][0]["drift"]


def test_each_node_has_its_own_end(executor, root, deployment) -> None:
    """In one run: an absent node, a changed host key, a refused key, a failing module; one node
    that is reached. Each is told apart, and each failure has a class and a cure."""
    node = root("harbor-1")
    away = replace(node, name="away", port=2200)
    changed = replace(root("harbor-2"), name="changed", host_key=OTHER_KEY)
    unpinned = replace(root("depot-1"), name="unpinned", host_key="")
    refused = replace(node, name="refused", user="nobody")
    seen = executor.observe([node, away, changed, unpinned, refused])
    ends = {name: (one.status, one.data.get("error", {}).get("code")) for name, one in seen.items()}
    assert ends == {
        "harbor-1": (Status.OK, None),
        "away": (Status.UNREACHABLE, "unreachable"),
        "changed": (Status.UNREACHABLE, "host-key-changed"),
        "unpinned": (Status.UNREACHABLE, "host-key-changed"),
        "refused": (Status.UNREACHABLE, "login-refused"),
    }
    wrong = install(node, deployment, component={"digest": "sha256:" + "0" * 64})
    [result] = carry(executor, [wrong]).wait().values()
    assert result.status is Status.FAILED
    assert result.data["error"]["class"] in {"config", "image"}
    assert result.data["error"]["cure"]


def test_capabilities_come_with_checks(executor, root) -> None:
    """inspect tells what a node can do."""
    seen = executor.inspect([root("depot-1")])["depot-1"]
    assert seen.status is Status.OK
    assert seen.data["capabilities"]["deployment_types"] == ["compose"]


def test_runs_overlap(executor, root, deployment) -> None:
    """A look at a node is answered while an operation on it goes on."""
    node = root("depot-1")
    results = carry(executor, [install(node, deployment, "1.2.0", timeout=30)])
    eventually(lambda: results.lines, 60, "the operation does not begin")
    assert executor.observe([node])["depot-1"].status is Status.OK
    assert results.by_operation == {}
    assert executor.active == {"install-1.2.0"}
    executor.cancel("unknown")
    executor.cancel("install-1.2.0")
    assert results.wait(2)["install-1.2.0"].status is Status.LOST
    assert executor.active == frozenset()


def test_one_call_of_a_shared_run_is_cancelled_and_the_other_goes_on(
    lab, executor, root, deployment
) -> None:
    """Steps are told while the module works. What is cancelled is settled at once; the call that
    takes it off stops it on the node, whose ssh ends, while the other call stays at work."""
    mine, other = str(uuid.uuid4()), deployment
    fences = {"runner": str(uuid.uuid4()), "epoch": 2**30}

    def call(name: str, ident: str, seq: int) -> Call:
        made = install(root(name), ident, "1.2.0", timeout=25)
        fence = {"fence": {**fences, "seq": seq}, "request_id": ident}
        return replace(made, operation=ident, arguments={**made.arguments, **fence})

    def switching() -> set[str]:
        return {one.operation for one in results.lines if one.phase == "switch"}

    results = carry(executor, [call("harbor-1", mine, 1), call("depot-1", other, 1)])
    try:
        eventually(lambda: switching() == {mine, other}, 60, "no phase is told")
        executor.cancel(mine)
        eventually(lambda: mine in results.by_operation, 5)
        assert results.by_operation[mine].status is Status.LOST
        arguments = {"deployment": mine, "fence": {**fences, "seq": 2}, "volumes": "remove"}
        delete = Call("off", Kind.DELETE, root("harbor-1"), arguments, 60)
        assert carry(executor, [delete]).wait()["off"].data["deleted"] is True
        assert mine not in executor.active
        assert lab.ssh("harbor-1", "pgrep -f workload_install", check=False).returncode == 1
        ended = results.wait(90)[other]  # on a quick machine it has come to its own end already
        assert (ended.status, ended.data["error"]["class"]) == (Status.FAILED, "health")
    finally:
        for name in ("harbor-1", "depot-1"):
            lab.ssh(name, "rm -rf /var/lib/margrave/fence.json /var/lib/margrave/fences")


def test_a_deadline_ends_the_waiting(executor, root, deployment) -> None:
    """An operation without a result in time is lost, not failed."""
    late = install(root("depot-1"), deployment, "1.2.0", timeout=30, deadline=3)
    [result] = carry(executor, [late]).wait(20).values()
    assert (result.status, result.data["error"]["code"]) == (Status.LOST, "deadline")


def test_stop_leaves_nothing(executor, root, deployment, tmp_path) -> None:
    """What runs is settled as lost, at once, and no process or file of it remains."""
    results = carry(executor, [install(root("depot-1"), deployment, "1.2.0", timeout=30)])
    eventually(lambda: results.lines, 60, "the operation does not begin")
    executor.stop()
    assert results.wait(0.1)["install-1.2.0"].data["error"]["code"] == "stopped"
    assert mentioning(tmp_path) == []


KILLED = """
import sys, json, signal, os
from pathlib import Path
from margrave.lifecycle import Kind
from runner.execute import AnsibleExecutor, processes
from runner.ports import Call, Target
path, warm, target, arguments = json.load(sys.stdin)
executor = AnsibleExecutor(Path(path), warm=warm)
executor.open()
if warm:
    while not (Path(path) / "c/warm").exists():
        signal.sigtimedwait([], 0.05)
call = Call("op", Kind.INSTALL, Target(**target), arguments, 60)
executor.start([call], lambda line: os.kill(os.getpid(), signal.SIGKILL), print)
signal.pause()
"""


@pytest.mark.parametrize("warm", [True, False])
def test_a_killed_runner_is_swept_up_after(warm, root, deployment, tmp_path) -> None:
    """After kill -9 the next start ends what the dead one had begun on this machine."""
    call = install(root("depot-1"), deployment, "1.2.0", timeout=30)
    target = {name: getattr(call.node, name) for name in Target.__slots__}
    words = json.dumps([str(tmp_path / "execute"), warm, target, call.arguments])
    killed = subprocess.run(
        [sys.executable, "-c", KILLED], input=words, text=True, check=False, timeout=60
    )
    assert killed.returncode == -9
    assert list((tmp_path / "execute/runs").iterdir())
    executor = AnsibleExecutor(tmp_path / "execute", warm=False)
    executor.open()
    assert mentioning(tmp_path) == []
    assert not (tmp_path / "execute/runs").exists()
    executor.stop()


def test_without_the_warm_process_it_goes_the_plain_way(root, tmp_path) -> None:
    """When the warm process dies a run is slower, and nothing else."""
    executor = AnsibleExecutor(tmp_path / "execute")
    executor.open()
    socket = tmp_path / "execute/c/warm"
    eventually(socket.exists, 60, "the warm process does not come up")
    processes.kill_naming(str(socket))
    assert executor.inspect([root("depot-1")])["depot-1"].status is Status.OK
    executor.stop()
    stopped = executor.inspect([root("depot-1")])["depot-1"]
    assert stopped.data["error"]["code"] == "stopped"


def test_without_a_terminal_or_home_it_works_too(root, tmp_path, monkeypatch) -> None:
    """A service manager gives neither."""
    for name in list(os.environ):
        monkeypatch.delenv(name)
    executor = AnsibleExecutor(tmp_path / "execute", warm=False)
    executor.open()
    assert executor.inspect([root("depot-1")])["depot-1"].status is Status.OK
    executor.stop()
