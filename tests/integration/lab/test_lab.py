"""A lab of its own, from nothing to nothing, on this machine."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from lab import Engine, Lab, State
from lab.layout import Layout
from lab.plain_http import ask
from lab.record import load
from lab.subnet import Subnet
from margrave.errors import NotFound, Refused
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.lab

COMPOSE = """\
services:
  web:
    image: registry.margrave.lab:5000/storefront-web:${VERSION}
    environment: {GREETING: "${GREETING}"}
    ports: ["8000:8000"]
    depends_on: {cache: {condition: service_healthy}}
    healthcheck: {test: [CMD, /bin/health], interval: 1s, timeout: 3s, retries: 3}
  cache:
    image: registry.margrave.lab:5000/storefront-cache:1.0.0
    healthcheck: {test: [CMD, /bin/health], interval: 1s, timeout: 3s, retries: 3}
"""
ENGINE = "DOCKER_HOST=unix:///run/podman/podman.sock"
# Names that no other lab of this machine has, so that they alone say which lab is meant.
ONE, TWO, DOCK = (f"{name}-{uuid4().hex[:6]}" for name in ("one", "two", "dock"))
GREETING = 'say "hi" \\ é😀'


@pytest.fixture(scope="module")
def trial(needs_lab: None) -> Iterator[Lab]:
    """Two nodes in a lab that nobody else knows."""
    made = Lab(f"t{uuid4().hex[:8]}")
    try:
        made.up([ONE, TWO])
        yield made
    finally:
        made.down()


def compose(lab: Lab, words: str, version: str) -> subprocess.CompletedProcess[str]:
    """docker-compose in the folder of the storefront on node one."""
    variables = f"{ENGINE} VERSION={version} GREETING={shlex.quote(GREETING)}"
    return lab.ssh(ONE, f"cd /root/s && {variables} docker-compose {words}", check=False)


def answers(lab: Lab, node: str) -> bool:
    return lab.ssh(node, "true", check=False, timeout=20).returncode == 0


def command(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("margrave")
    return subprocess.run(
        [program, "lab", *words], input=stdin, capture_output=True, text=True, check=False
    )


def test_nodes_are_booted_systems_with_names_addresses_and_an_engine(trial: Lab) -> None:
    """Every node is a machine of its own: init system, host name, address, disk, engine socket."""
    for node in trial.nodes():
        assert node.state is State.RUNNING
        said = trial.ssh(
            node.name,
            "cat /proc/1/comm /etc/hostname; systemctl is-active podman.socket;"
            " systemctl is-system-running; stat -c %a /var/lib/margrave; command -v sudo",
        ).stdout.split()
        assert said == ["systemd", node.name, "active", "running", "700", "/usr/bin/sudo"]
    assert len({node.address for node in trial.nodes()}) == 2
    assert trial.host_key(ONE).startswith("SHA256:")


def test_up_again_changes_nothing(trial: Lab) -> None:
    """What runs stays: a second `up` starts no node again."""
    before = trial.ssh(ONE, "cat /proc/sys/kernel/random/boot_id; uptime -s; cat /etc/machine-id")
    trial.up([ONE, TWO])
    after = trial.ssh(ONE, "cat /proc/sys/kernel/random/boot_id; uptime -s; cat /etc/machine-id")
    assert after.stdout == before.stdout


def test_the_registry_serves_a_storefront_that_gets_healthy_and_a_bad_one(trial: Lab) -> None:
    """Nodes pull from the lab's registry; 1.0.0 answers its JSON, 1.2.0 never gets healthy."""
    trial.ssh(ONE, "mkdir -p /root/s && cat > /root/s/compose.yaml", input=COMPOSE)
    good = compose(trial, "up -d --wait --wait-timeout 30", "1.0.0")
    assert good.returncode == 0, good.stderr
    fetch = "seq 40 | xargs -P 20 -n 1 sh -c 'curl -fsS -w \"%{content_type}\\n\" localhost:8000'"
    lines = trial.ssh(ONE, fetch).stdout.splitlines()
    assert lines.count("application/json") == 40
    assert json.loads(lines[0]) == {"version": "1.0.0", "greeting": GREETING}
    bad = compose(trial, "up -d --wait --wait-timeout 20", "1.2.0")
    assert bad.returncode != 0
    assert json.loads(trial.ssh(ONE, "curl -fsS localhost:8000").stdout)["version"] == "1.2.0"
    gone = compose(trial, "down --timeout 20", "1.2.0")
    assert gone.returncode == 0, gone.stderr


def test_a_killed_node_comes_back_with_its_disk(trial: Lab) -> None:
    """A power cut ends everything at once; heal starts the node with its disk, key and address."""
    address, key = trial.node(TWO).address, trial.host_key(TWO)
    trial.ssh(TWO, "echo kept > /root/kept && sync")
    trial.fail(TWO, kill=True)
    assert trial.node(TWO).state is State.STOPPED
    assert not answers(trial, TWO)
    trial.heal(TWO)
    assert trial.ssh(TWO, "cat /root/kept").stdout == "kept\n"
    assert (trial.node(TWO).address, trial.host_key(TWO)) == (address, key)


def test_what_died_is_started_by_up(trial: Lab) -> None:
    """`up` finds the node and the registry that died and starts them again."""
    trial.fail(TWO, kill=True)
    trial.up()
    assert [node.state for node in trial.nodes()] == [State.RUNNING] * 2
    assert ask("GET", f"http://{trial.registry_address}/v2/").status == 200


def test_a_partitioned_node_is_silent_until_healed(trial: Lab) -> None:
    """The cable is cut and put back; the node itself does not notice more than that."""
    trial.fail(TWO, partition=True)
    assert trial.ssh(TWO, "true", check=False, timeout=20).returncode == 255
    assert trial.node(TWO).state is State.RUNNING
    trial.heal(TWO)
    eventually(lambda: answers(trial, TWO), 20, "the node answers after heal")


def test_a_slow_link_is_slow_until_healed(trial: Lab) -> None:
    """The link carries about a megabit; heal gives it back its speed and loses no packet more."""
    load_time = "bash -c 'TIMEFORMAT=%R; time head -c 200000 /dev/zero'"
    trial.fail(TWO, slow=True)
    trial.fail(TWO, slow=True)
    ends = trial.ssh(TWO, "tc qdisc show dev eth0").stdout
    assert "tbf" in ends or "netem" in ends
    assert len(trial.ssh(TWO, load_time, timeout=60).stdout) == 200000
    trial.heal(TWO)
    ends = trial.ssh(TWO, "tc qdisc show dev eth0; iptables -S 2>/dev/null").stdout
    assert "tbf" not in ends
    assert "statistic" not in ends


def test_a_full_disk_takes_nothing_until_healed(trial: Lab) -> None:
    """Neither files nor images fit; the disk is full after a restart too, and empty after heal."""
    write = "head -c 100000 /dev/zero > /root/file && sync"
    trial.fail(TWO, disk_full=True)
    assert "No space left" in trial.ssh(TWO, write, check=False).stderr
    pull = trial.ssh(TWO, "podman pull -q registry.margrave.lab:5000/idle:1", check=False)
    assert "no space left" in pull.stderr
    trial.fail(TWO, kill=True)
    trial.up()
    assert trial.ssh(TWO, write, check=False).returncode != 0
    trial.heal(TWO)
    assert trial.ssh(TWO, write).returncode == 0


def test_a_registry_out_of_reach_is_out_of_reach_for_that_node_alone(trial: Lab) -> None:
    """One node's packets to the registry are dropped; others, and its SSH, are not touched."""
    look = "curl -fsS -m 2 http://registry.margrave.lab:5000/v2/"
    trial.fail(TWO, registry=True)
    assert trial.ssh(TWO, look, check=False).returncode == 28
    assert trial.ssh(ONE, look).stdout == "{}"
    trial.heal(TWO)
    assert trial.ssh(TWO, look).stdout == "{}"


def test_a_fault_on_a_node_that_is_off_is_refused(trial: Lab) -> None:
    """Only the power can be talked about while it is off; unknown nodes are not found."""
    trial.fail(TWO, kill=True)
    with pytest.raises(Refused, match="is off"):
        trial.fail(TWO, disk_full=True)
    trial.heal(TWO)
    with pytest.raises(NotFound, match="three"):
        trial.fail("three", kill=True)


@pytest.mark.full
def test_nodes_with_docker_stand_beside_nodes_with_podman(trial: Lab) -> None:
    """One lab has both; a node keeps its engine and its containers' disk over a power cut."""
    trial.up({ONE: Engine.PODMAN, DOCK: Engine.DOCKER})
    with pytest.raises(Refused, match="has docker, not podman"):
        trial.up([DOCK], engine=Engine.PODMAN)
    trial.ssh(DOCK, "docker pull -q registry.margrave.lab:5000/idle:1", timeout=60)
    trial.fail(DOCK, kill=True)
    trial.up()
    said = trial.ssh(DOCK, "docker image ls -q | wc -l; systemctl is-system-running; ls /run")
    assert said.stdout.split()[:2] == ["1", "running"]
    assert "docker.sock" in said.stdout
    assert "podman" not in said.stdout
    assert [node.engine for node in trial.nodes()] == ["podman", "podman", "docker"]


def test_the_command_lists_and_reaches_nodes(trial: Lab) -> None:
    """`lab list -o json` names them; `lab ssh` hands through words, input, output and status."""
    listed = json.loads(command("list", "--name", trial.name, "-o", "json").stdout)
    # The full suite has added a third node before.
    assert [(one["name"], one["state"]) for one in listed[:2]] == [
        (ONE, "running"),
        (TWO, "running"),
    ]
    said = command("ssh", ONE, "--", "sh", "-c", "echo 'a  b'; exit 7")
    assert (said.stdout, said.returncode) == ("a  b\n", 7), said.stderr
    assert command("ssh", ONE, "cat | wc -c", stdin="four").stdout == "4\n"
    nobody = command("ssh", "nobody", "--", "true")
    assert (nobody.returncode, nobody.stdout) == (3, "")
    assert "margrave lab list" in nobody.stderr


def test_down_leaves_nothing_and_leftovers_are_cleaned(needs_lab: None) -> None:
    """After `down`, also of a lab whose making was killed, nothing of it is on the machine."""
    name = f"t{uuid4().hex[:8]}"
    places = Layout(name)
    code = f"from lab import Lab; Lab({name!r}).up(['left', 'over'])"
    making = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[3])
    eventually(lambda: bool(list(places.run.glob("nodes/*/console.log"))), 60, "a node is booting")
    making.kill()
    making.wait()
    record = load(places.record)
    assert record is not None
    again = Lab(name)
    try:
        again.up()
        assert again.ssh("left", "hostname").stdout == "left\n"
    finally:
        assert again.down() is True
    assert again.down() is False
    eventually(lambda: not remains(name, record.subnet), 10, "nothing of the lab remains")


def remains(name: str, subnet: Subnet) -> list[str]:
    """Every trace a lab could leave: interfaces, namespaces, processes, mounts, groups, files."""
    links = [one.name for one in Path("/sys/class/net").iterdir()]
    spaces = [one.name for one in Path("/run/netns").glob("*")]
    found = [
        one
        for one in links + spaces
        if one == subnet.bridge or one.startswith((f"{subnet.bridge}n", f"{subnet.bridge}-"))
    ]
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    words = (f"margrave-lab/{name}/", f"--machine={subnet.bridge}n")
    lines = (listed.stdout + Path("/proc/mounts").read_text()).splitlines()
    found += [line for line in lines if any(word in line for word in words)]
    loops = Path("/sys/block").glob("loop*/loop/backing_file")
    found += [text for one in loops if f"/{name}/" in (text := one.read_text())]
    places = Layout(name)
    groups = Path("/sys/fs/cgroup").glob(f"*/margrave-lab/{name}.lab")
    found += [str(one) for one in (places.run, places.kept, *groups) if one.exists()]
    return found
