"""What a lab remembers, on disk and beside others."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import pytest

from lab import seed
from lab.engines import Engine
from lab.errors import LabError
from lab.locks import held
from lab.record import Record, load, save
from lab.subnet import Subnet

if TYPE_CHECKING:
    from pathlib import Path


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    """A base is set once per engine: disks are layered over it."""
    record = Record(Subnet(3)).with_base(Engine.PODMAN, "/one").with_base(Engine.PODMAN, "/two")
    record = record.with_base(Engine.DOCKER, "/three").with_nodes(["a"])
    record = record.with_nodes(["a", "b"], Engine.DOCKER)
    save(tmp_path / "x" / "lab.json", record)
    assert load(tmp_path / "x" / "lab.json") == record
    assert record.bases == {Engine.PODMAN: "/one", Engine.DOCKER: "/three"}
    assert (record.engine("a"), record.engine("b")) == (Engine.PODMAN, Engine.DOCKER)


def test_a_lab_from_before_there_were_two_engines_has_podman(tmp_path: Path) -> None:
    """Whoever updates Margrave can still use and remove the lab that stands."""
    path = tmp_path / "lab.json"
    path.write_text('{"subnet": 3, "base": "/one", "nodes": {"a": 11}}')
    record = load(path)
    assert record is not None
    assert record.bases == {Engine.PODMAN: "/one"}
    assert record.engine("a") is Engine.PODMAN


def test_a_lab_that_is_not_there_has_no_record(tmp_path: Path) -> None:
    """Absent is not broken; broken is told with path and cure."""
    assert load(tmp_path / "lab.json") is None
    (tmp_path / "lab.json").write_text("{}")
    with pytest.raises(LabError, match=r"lab\.json.*margrave lab down"):
        load(tmp_path / "lab.json")


def test_a_lock_is_held_by_one_and_leaves_no_file(tmp_path: Path) -> None:
    """Whoever waited gets it afterwards, although the file was removed meanwhile."""
    path, order = tmp_path / "locks" / "x", []

    def second() -> None:
        with held(path):
            order.append("second")

    with held(path):
        waiting = threading.Thread(target=second)
        waiting.start()
        waiting.join(timeout=0.1)
        order.append("first")
    waiting.join(timeout=60)
    assert order == ["first", "second"]
    assert not path.exists()


def test_the_registry_has_a_name_on_every_node() -> None:
    """Image names are the same on this machine and on nodes, addresses are not."""
    assert "10.231.4.1 registry.margrave.lab\n" in seed.hosts("a", "10.231.4.1")


def test_layers_let_ssh_in_whatever_the_umask(tmp_path: Path) -> None:
    """The seed lies over the base, so its folders' modes are the node's."""
    before = os.umask(0o077)
    try:
        seed.write(tmp_path / "seed", "a", "10.231.4.1", "ssh-ed25519 AAAA lab\n")
    finally:
        os.umask(before)
    modes = {
        name: oct((tmp_path / "seed" / name).stat().st_mode & 0o777)
        for name in ("", "etc", "etc/hosts", "root", "root/.ssh/authorized_keys", seed.HOST_KEY)
    }
    assert modes == {
        "": "0o755",
        "etc": "0o755",
        "etc/hosts": "0o644",
        "root": "0o700",
        "root/.ssh/authorized_keys": "0o600",
        seed.HOST_KEY: "0o600",
    }
