"""The private folder of a run."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

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


def test_arguments_lie_in_files_that_only_we_can_read(tmp_path) -> None:
    """Every file is 0600 in a folder of 0700, and inventory and play hold no argument."""
    folder = RunFolder(tmp_path / "run")
    folder.write("margrave.edge.workload_install", [errand(), errand()])
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in folder.path.iterdir()} == {0o600}
    assert json.loads((folder.path / "errand-0.json").read_text()) == {"name": "{{ storefront }}"}
    assert "storefront" not in folder.inventory.read_text() + folder.play.read_text()
    [play] = json.loads(folder.play.read_text())
    assert play["tasks"][0]["args"] == {"arguments_from": str(folder.path)}
    folder.remove()
    assert not folder.path.exists()


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
    with pytest.raises(Refused):
        RunFolder(tmp_path / value).write("m", [errand()])


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
