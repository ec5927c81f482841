"""The parts of onboarding that need no node."""

from __future__ import annotations

import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from margrave.errors import Refused
from runner.nodes import Owner, checks, freshness, own_key, requests, scripts
from runner.nodes.hostkeys import HostKey
from runner.nodes.keys import public_line
from runner.ports import NodeRequest, NodeStatus

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
OWN = Owner("11111111-1111-4111-8111-111111111111", 1, "harbor")
PERIOD = timedelta(seconds=60)
LINE = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG5xLh6Av0QCP3dVSMwtjGvgA3fW0HTgELOhnSDiDrgj"


@pytest.mark.parametrize(
    ("silent", "status"),
    [
        (0, NodeStatus.ACTIVE),
        (179, NodeStatus.ACTIVE),
        (180, NodeStatus.STALE),
        (539, NodeStatus.STALE),
        (540, NodeStatus.OFFLINE),
    ],
)
def test_silence_is_judged_in_periods(silent, status) -> None:
    """Active below three periods, stale below nine, else offline."""
    assert freshness(timedelta(seconds=silent), PERIOD) is status


def test_a_node_never_seen_is_offline() -> None:
    """Without a sign of life there is nothing to be stale."""
    assert freshness(None, PERIOD) is NodeStatus.OFFLINE


def test_the_runners_key_is_made_once(tmp_path) -> None:
    """The pair is private, stays the same, and its public half is what ssh-keygen says."""
    path = own_key(tmp_path / "ssh")
    first = path.read_bytes()
    assert own_key(tmp_path / "ssh") == path
    assert path.read_bytes() == first
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    told = subprocess.run(["ssh-keygen", "-yf", path], capture_output=True, text=True, check=True)
    assert told.stdout.split()[:2] == public_line(path).split()[:2]
    assert (tmp_path / "ssh/id_ed25519.pub").read_text() == public_line(path) + "\n"


def test_nodes_that_are_added_at_once_get_the_same_key(tmp_path) -> None:
    """Many ask a new runner for its key at the same moment: one pair, no trouble, nothing left."""
    together = threading.Barrier(8)

    def ask(_: int) -> bytes:
        together.wait(10)
        return own_key(tmp_path / "ssh").read_bytes()

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(ask, range(8)))
    assert found == {(tmp_path / "ssh/id_ed25519").read_bytes()}
    names = sorted(one.name for one in (tmp_path / "ssh").iterdir())
    assert names == ["id_ed25519", "id_ed25519.pub"]


def test_a_key_that_cannot_be_read_says_what_is_needed(tmp_path) -> None:
    """A file that is no key, or is not there, is refused with the cure."""
    (tmp_path / "key").write_text("no key")
    for name in ("key", "absent"):
        with pytest.raises(Refused, match="without a passphrase"):
            public_line(tmp_path / name)


def test_fingerprints_are_what_people_compare() -> None:
    """The fingerprint of a pinned line is ssh-keygen's; of no key it is empty."""
    assert HostKey(LINE).fingerprint == "SHA256:8O1vlgroBbM40gNNARl+UfdLVLfQtdP8+RxZj2RL4FE"
    assert HostKey("").fingerprint == ""
    assert HostKey("ssh-ed25519 %%%").fingerprint == ""


@pytest.mark.parametrize(
    "change",
    [
        {"name": "Harbor 1"},
        {"address": "-oProxyCommand=id"},
        {"address": "root@10.0.0.9"},
        {"address": "{{ x }}"},
        {"address": ""},
        {"port": 0},
        {"port": 70000},
        {"user": "-root"},
        {"user": "root; id"},
        {"host_key": "MD5:aa"},
    ],
)
def test_names_and_addresses_that_ssh_could_misread_are_refused(change) -> None:
    """What is no name, address, port, user or fingerprint is turned away before any connection."""
    values = {"name": "harbor-1", "address": "10.0.0.9", **change}
    with pytest.raises(Refused):
        requests.check(NodeRequest(**values))


@pytest.mark.parametrize("address", ["10.0.0.9", "harbor-1.example", "fd00::17", "::1", "n"])
def test_host_names_and_addresses_are_taken(address) -> None:
    """Names, IPv4 and IPv6."""
    requests.check(NodeRequest("harbor-1", address, host_key=HostKey(LINE).fingerprint))


GOOD = {
    "python": "3.13.5",
    "podman": "5.4.2",
    "podman_socket": "yes",
    "docker": "",
    "compose": "2.26.1-4",
    "free": str(80 * 1024 * 1024),
    "clock": str(int(NOW.timestamp())),
}


def test_a_node_that_has_everything_passes_every_check() -> None:
    """No check of a good node asks for anything."""
    judged = checks.judge(GOOD, NOW)
    assert [one.name for one in judged] == ["python", "engine", "compose", "disk", "clock"]
    assert all(one.ok and not one.cure for one in judged)


@pytest.mark.parametrize(
    ("change", "failed", "cure"),
    [
        ({"python": "3.8.10"}, "python", "Python 3.9"),
        ({"python": ""}, "python", "Python 3.9"),
        ({"podman": ""}, "engine", "install podman"),
        ({"podman_socket": ""}, "engine", "podman.socket"),
        ({"compose": ""}, "compose", "docker-compose"),
        ({"compose": "1.29.2", "system": "debian 12"}, "compose", "edge_node_compose"),
        ({"compose": "", "system": "debian 12"}, "compose", "github.com/docker/compose/releases"),
        ({"compose": "", "system": "debian 13"}, "compose", "apt-get install docker-compose)"),
        ({"compose": "", "system": "ubuntu 24.04"}, "compose", "docker-compose-v2"),
        ({"compose": "", "system": "rocky 9.4"}, "compose", "/usr/local/bin/docker-compose"),
        ({"podman": "", "system": "fedora 42"}, "engine", "dnf install podman"),
        ({"python": "", "system": "alpine 3.21.3"}, "python", "apk add python3"),
        ({"free": "1000"}, "disk", "1 GiB"),
        ({"free": "?"}, "disk", "1 GiB"),
        ({"clock": str(int(NOW.timestamp()) - 31)}, "clock", "time synchronisation"),
        ({"clock": ""}, "clock", "date"),
    ],
)
def test_what_is_missing_is_named_with_its_cure(change, failed, cure) -> None:
    """One thing missing fails one check, and says what helps."""
    bad = [one for one in checks.judge({**GOOD, **change}, NOW) if not one.ok]
    assert [one.name for one in bad] == [failed]
    assert cure in bad[0].cure


def test_docker_counts_as_engine() -> None:
    """With a Docker socket podman is not asked for."""
    judged = checks.judge({**GOOD, "podman": "", "docker": "26.1.5"}, NOW)
    assert judged[1].detail == "docker 26.1.5"
    assert judged[1].ok


def test_a_node_with_kubernetes_alone_lacks_no_compose() -> None:
    """It runs charts; what it needs for them is named. Beside podman it is one engine more."""
    alone = {
        **GOOD,
        "podman": "",
        "podman_socket": "",
        "compose": "",
        "kubeconfig": "/etc/k3s.yaml",
    }
    whole = {**alone, "kubectl": "/usr/bin/kubectl", "helm": "/usr/bin/helm"}

    assert [one.name for one in checks.judge(whole, NOW)] == ["python", "engine", "disk", "clock"]
    assert all(one.ok for one in checks.judge(whole, NOW))
    lacking = [one for one in checks.judge(alone, NOW) if not one.ok]
    assert [(one.name, one.cure) for one in lacking] == [
        ("engine", "install kubectl and helm (Helm 3.13 or newer)")
    ]
    beside = checks.judge({**GOOD, "kubeconfig": "/etc/k3s.yaml"}, NOW)
    assert {one.name for one in beside} >= {"engine", "compose"}


def test_what_a_node_prints_beside_our_lines_is_passed_over() -> None:
    """Banners and warnings don't disturb; values may hold the equals sign."""
    assert checks.read("motd\npython=3.11.2\n\nclock=a=b\n") == {"python": "3.11.2", "clock": "a=b"}


@pytest.mark.parametrize(
    "script",
    [
        scripts.LOOK,
        scripts.CLAIMS,
        scripts.prepare("margrave", "ssh-ed25519 AAAA c", OWN),
        scripts.remove("m", "k", OWN),
    ],
)
def test_what_runs_on_nodes_is_posix_shell(script) -> None:
    """Every script parses, and no place to fill in is left."""
    subprocess.run(["sh", "-n"], input=script, text=True, check=True)
    assert "@" not in script.replace("$@", "")
