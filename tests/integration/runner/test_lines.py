"""Connections to nodes: how many are opened at once, over which one a call goes, and their end."""

from __future__ import annotations

import os
import queue
import signal
import socket
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lab import Lab
from margrave.lifecycle import Kind
from runner.execute import AnsibleExecutor
from runner.ports import Call, Jump, Observation, Result, Status, Target
from tests.support.errands import mentioning, of_lab
from tests.support.waiting import eventually

GATE, BEHIND = "harbor-1", "harbor-2"
PORTS = range(2201, 2215)  # sshd listens on sixteen at most
CONFIG = "/etc/ssh/sshd_config.d/00-test.conf"
# systemd would not start it more than five times in ten seconds.
RESTART = "systemctl reset-failed ssh; systemctl restart ssh"


@pytest.fixture(scope="module")
def behind(lab: Lab) -> Iterator[list[Target]]:
    """Many nodes, as it seems: each a port of one, behind a jump host that lets three knock."""
    gate, node = of_lab(lab, GATE), of_lab(lab, BEHIND)
    jump = Jump(gate.address, 22, "root", gate.host_key)
    ports = "\\n".join(f"Port {port}" for port in (22, *PORTS))
    lab.ssh(GATE, f"echo 'MaxStartups 3' > {CONFIG}; {RESTART}")
    lab.ssh(BEHIND, f"printf '{ports}\\nAddressFamily inet\nMaxStartups 200' > {CONFIG}; {RESTART}")
    yield [replace(node, name=f"node-{port}", port=port, jump=jump) for port in PORTS]
    for name in (GATE, BEHIND):
        lab.ssh(name, f"rm -f {CONFIG}; {RESTART}")


@pytest.fixture
def executor(tmp_path: Path) -> Iterator[AnsibleExecutor]:
    made = AnsibleExecutor(tmp_path / "execute", connect_timeout=30, warm=False, handshakes=3)
    made.open()
    yield made
    made.stop()
    assert mentioning(tmp_path) == []


@pytest.mark.lab
def test_no_more_knock_at_a_jump_host_than_it_lets_in(
    executor: AnsibleExecutor, behind: list[Target]
) -> None:
    """After a power cut all connections are new: each of the nodes behind one door answers."""
    seen = executor.observe(behind)
    assert {name: one.message for name, one in seen.items()} == {one.name: "" for one in behind}
    assert {one.status for one in seen.values()} == {Status.OK}


@pytest.mark.lab
def test_runs_that_overlap_share_the_door(executor: AnsibleExecutor, behind: list[Target]) -> None:
    """Two runs of Ansible and a look, begun at the same time, all for nodes not reached before."""
    answers: queue.SimpleQueue[dict[str, Observation]] = queue.SimpleQueue()
    threads = [
        threading.Thread(target=lambda ask=ask, some=some: answers.put(ask(some)))
        for ask, some in (
            (executor.inspect, behind[:4]),
            (executor.inspect, behind[4:8]),
            (executor.observe, behind[8:]),
        )
    ]
    for thread in threads:
        thread.start()
    told = {name: one for _ in threads for name, one in answers.get().items()}
    wrong = {name: one.message for name, one in told.items() if one.status is not Status.OK}
    assert (wrong, len(told)) == ({}, len(behind))


@pytest.mark.lab
def test_a_call_apart_reaches_its_node_while_the_shared_connection_hangs(
    lab: Lab, executor: AnsibleExecutor
) -> None:
    """What stops a call that is at work must not queue behind it."""
    node, ended = of_lab(lab, "depot-1"), queue.SimpleQueue[Result]()
    assert executor.observe([node])["depot-1"].status is Status.OK
    words = ["pgrep", "-f", f"^ssh: {executor._folders.control}/"]
    masters = subprocess.run(words, capture_output=True, text=True, check=True)
    shared = [int(pid) for pid in masters.stdout.split()]
    arguments = {"deployment": str(uuid.uuid4()), "force": True}
    call = Call("off", Kind.DELETE, node, arguments, 60, apart=True)
    for pid in shared:
        os.kill(pid, signal.SIGSTOP)
    try:
        executor.start([call], lambda _: None, ended.put)
        assert ended.get(timeout=60).status is Status.OK
    finally:
        for pid in shared:
            os.kill(pid, signal.SIGCONT)


@pytest.fixture
def silent() -> Iterator[int]:
    """A port where somebody listens and never says a word, as a machine that hangs."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        yield int(listener.getsockname()[1])


@pytest.mark.parametrize("ask", ["observe", "inspect"])
def test_the_end_is_not_held_by_dead_nodes(
    executor: AnsibleExecutor, silent: int, tmp_path: Path, ask: str
) -> None:
    """However many are still to be asked: nothing begins after the end, and nothing is left."""
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG5xLh6Av0QCP3dVSMwtjGvgA3fW0HTgELOhnSDiDrgj"
    (tmp_path / "id").touch(mode=0o600)
    nodes = [
        Target(f"node-{number}", "127.0.0.1", silent, f"user{number}", str(tmp_path / "id"), key)
        for number in range(60)
    ]
    seen: queue.SimpleQueue[dict[str, Observation]] = queue.SimpleQueue()
    look = threading.Thread(target=lambda: seen.put(getattr(executor, ask)(nodes)))
    look.start()
    eventually(lambda: len(mentioning(tmp_path)) >= 20, message="no ssh is seen")
    began = time.monotonic()
    executor.stop()
    assert time.monotonic() - began < 15  # ssh itself would wait for thirty seconds
    told = seen.get(timeout=60)
    look.join(60)
    assert mentioning(tmp_path) == []
    assert {one.data["error"]["code"] for one in told.values()} == {"stopped"}
    assert len(told) == len(nodes)
