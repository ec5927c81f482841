"""The private folder of a run."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from margrave.errors import Refused
from margrave.lifecycle import Kind
from runner.execute.errand import Errand
from runner.execute.knownhosts import KnownHosts
from runner.execute.rundir import RunFolder
from runner.ports import Call, Target


def target(name: str = "harbor-1", **changes: object) -> Target:
    values = {
        "address": "10.0.0.9",
        "port": 22,
        "user": "margrave",
        "key": "/state/ssh/id_ed25519",
        "host_key": "ssh-ed25519 AAAA",
    }
    return Target(name, **{**values, **changes})  # type: ignore[arg-type]


def errand(**changes: object) -> Errand:
    call = Call("op-1", Kind.INSTALL, target(**changes), {"name": "{{ storefront }}"}, 60)
    return Errand.of(call)


def test_arguments_are_kept_in_memory_alone(tmp_path) -> None:
    """Every file is 0600 in a folder of 0700, and none holds an argument; another process reads
    them by a path while the run lasts."""
    folder = RunFolder(tmp_path / "run")
    folder.write("margrave.edge.workload_install", [errand(), errand()])
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in folder.path.iterdir()} == {0o600}
    assert holding(tmp_path, "storefront") == []
    [play] = json.loads(folder.play.read_text())
    path = play["tasks"][0]["args"]["arguments_from"]
    done = subprocess.run([sys.executable, "-c", READ, path, "errand-1"], capture_output=True)
    assert json.loads(done.stdout) == {"name": "{{ storefront }}"}
    folder.remove()
    assert not folder.path.exists()
    assert not Path(path).exists()


def test_a_runner_that_is_killed_leaves_no_argument(tmp_path) -> None:
    """Not in the folder of the run, and not in memory, whenever the next one starts."""
    program = [sys.executable, "-c", HOLD, str(tmp_path / "run")]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        path = process.stdout.readline().strip()
        found = holding(tmp_path, "s3cr3t-v4lue")
        mode = Path(path).stat().st_mode
        process.kill()
    assert (found, mode & 0o077) == ([], 0)
    assert holding(tmp_path, "s3cr3t-v4lue") == []
    assert not Path(path).exists()


# As the action reads it, in a worker of Ansible.
READ = """
import json, sys
from pathlib import Path
from ansible_collections.margrave.edge.plugins.plugin_utils import arguments_file
print(json.dumps(arguments_file.load(Path(sys.argv[1]), sys.argv[2])))
"""
HOLD = """
import json, sys, time
from pathlib import Path
from runner.execute.errand import Errand
from runner.execute.rundir import RunFolder
from runner.ports import Target
node = Target("harbor-1", "10.0.0.9", 22, "root", "/key", "ssh-ed25519 AAAA")
folder = RunFolder(Path(sys.argv[1]))
errand = Errand("a", node, "margrave.edge.workload_install", {"password": "s3cr3t-v4lue"}, 60)
folder.write(errand.module, [errand])
print(json.loads(folder.play.read_text())[0]["tasks"][0]["args"]["arguments_from"], flush=True)
time.sleep(60)
"""


def holding(folder: Path, text: str) -> list[Path]:
    """Return the files below a folder that hold a text."""
    return [one for one in folder.rglob("*") if one.is_file() and text in one.read_text()]


@pytest.mark.parametrize("asked", [{}, {"deployment": "3f2a9c01"}])
def test_what_only_looks_is_given_its_arguments_by_the_play(asked, tmp_path) -> None:
    """Its modules are Ansible's to call, and nobody reads a file for them."""
    folder = RunFolder(tmp_path / "run")
    look = replace(errand(), module="margrave.edge.node_info", arguments=asked)
    folder.write(look.module, [look])
    [play] = json.loads(folder.play.read_text())
    assert play["tasks"][0]["args"] == asked
    assert {file.name for file in folder.path.iterdir()} == {"inventory.yml", "play.yml"}


def test_one_node_may_stand_in_a_run_twice(tmp_path) -> None:
    """Two deployments on one node are two hosts to Ansible."""
    folder = RunFolder(tmp_path / "run")
    folder.write("margrave.edge.workload_install", [errand(), errand()])
    hosts = json.loads(folder.inventory.read_text())["all"]["hosts"]
    assert {one["ansible_host"] for one in hosts.values()} == {"10.0.0.9"}
    assert len(hosts) == 2


def test_root_needs_no_sudo(tmp_path) -> None:
    """Modules run with become, but for root."""
    folder = RunFolder(tmp_path / "run")
    folder.write("margrave.edge.workload_install", [errand(), errand(user="root")])
    hosts = json.loads(folder.inventory.read_text())["all"]["hosts"]
    assert [one["ansible_become"] for one in hosts.values()] == [True, False]


def test_a_limit_that_all_share_is_no_template(tmp_path) -> None:
    """A template is worked out for each host anew; several limits need one."""
    alike, mixed = RunFolder(tmp_path / "alike"), RunFolder(tmp_path / "mixed")
    alike.write("m", [errand(), errand()])
    mixed.write("m", [errand(), replace(errand(), deadline=90)])

    plays = [json.loads(one.play.read_text()) for one in (alike, mixed)]
    hosts = json.loads(mixed.inventory.read_text())["all"]["hosts"]

    assert [one[0]["tasks"][0]["timeout"] for one in plays] == [60, "{{ margrave_deadline }}"]
    assert [one["margrave_deadline"] for one in hosts.values()] == [60, 90]


@pytest.mark.parametrize("value", ["{{ lookup('pipe', 'id') }}", "{% if %}", "a{#b"])
def test_what_ansible_could_take_for_a_template_is_refused(value, tmp_path) -> None:
    """Inventory values are templates to Ansible, so none may begin one."""
    with pytest.raises(Refused):
        RunFolder(tmp_path / "run").write("m", [errand(address=value)])


def test_known_hosts_hold_the_pinned_keys_by_address(tmp_path) -> None:
    """A port other than 22 is named, a new key replaces the old one, no key means no line."""
    known = KnownHosts(tmp_path / "known_hosts")
    known.know([target(), target("b", port=2222), target("c", address="10.0.0.1", host_key="")])
    known.know([target(host_key="ssh-ed25519 BBBB")])
    assert (tmp_path / "known_hosts").read_text() == (
        "10.0.0.9 ssh-ed25519 BBBB\n[10.0.0.9]:2222 ssh-ed25519 AAAA\n"
    )


def test_each_call_names_the_connection_that_it_goes_over(tmp_path) -> None:
    """Behind a jump host too, and the one apart where the call may have to stop another."""
    folder = RunFolder(
        tmp_path / "run",
        lambda _: "ssh -o ControlPath=none -W [%h]:%p gate",
        lambda one: "/c/apart" if one.apart else "/c/shared",
    )
    folder.write("margrave.edge.workload_delete", [errand(), replace(errand(), apart=True)])
    hosts = json.loads(folder.inventory.read_text())["all"]["hosts"]
    words = [shlex.split(one["ansible_ssh_common_args"]) for one in hosts.values()]
    proxy = "ProxyCommand=ssh -o ControlPath=none -W [%h]:%p gate"
    assert words == [["-o", f"ControlPath=/c/{name}", "-o", proxy] for name in ("shared", "apart")]
