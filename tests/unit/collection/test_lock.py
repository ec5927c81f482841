"""One call per deployment at a time, and a newer one gets its turn soon."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collections.margrave.edge.plugins.module_utils._errors import LinkError
from ansible_collections.margrave.edge.plugins.module_utils._fence import Fence
from ansible_collections.margrave.edge.plugins.module_utils._lock import Lock, payload_folder

RUNNER = "aaaaaaaa-0000-0000-0000-000000000000"


def _lock(folder: Path, seq: int | None) -> Lock:
    return Lock(str(folder), "one", Fence(RUNNER, 1, seq) if seq is not None else None)


def test_only_one_holds_it(tmp_path: Path) -> None:
    """A second call waits, and is told who is in the way when it has waited long enough."""
    first, second = _lock(tmp_path, 1), _lock(tmp_path, 1)
    first.acquire(ask_to_stop=False)

    with pytest.raises(LinkError) as refused:
        second.acquire(ask_to_stop=False, patience=0)
    first.release()
    second.acquire(ask_to_stop=False, patience=0)
    second.release()

    assert (refused.value.kind, refused.value.code) == ("link", "busy")
    assert list(tmp_path.iterdir()) == []


def test_the_next_holder_tidies_up_after_a_killed_one(tmp_path: Path) -> None:
    """A module that was killed leaves its lock file, and the folder that Ansible unpacked it to."""
    folder, payload = tmp_path / "locks", tmp_path / "ansible_x_payload_y"
    for one in (folder, payload):
        one.mkdir()
    (payload / "x.zip").touch()
    dead = subprocess.Popen(["/bin/true"])
    dead.wait()
    note = {"pid": dead.pid, "child": 0, "payload": str(payload)}
    (folder / "one.lock").write_text(json.dumps(note))

    lock = _lock(folder, 1)
    lock.acquire(ask_to_stop=False, patience=0)
    lock.release()

    assert not payload.exists()
    assert list(folder.iterdir()) == []


def test_a_module_knows_where_it_was_unpacked() -> None:
    """Only a folder that Ansible made is named: nothing else is ever removed."""
    inside = "ansible_collections/margrave/edge/plugins/module_utils/_lock.py"
    folder = "/tmp/ansible_margrave.edge.workload_install_payload_zth0tplg"
    assert payload_folder(f"{folder}/ansible_workload_install_payload.zip/{inside}") == folder
    assert payload_folder(f"/opt/product.zip/{inside}") == ""
    assert payload_folder(f"/usr/share/ansible/{inside}") == ""


def test_a_newer_call_asks_to_stop(tmp_path: Path) -> None:
    """The holder learns of a newer call, and of no older or equal one."""
    holder, newer = _lock(tmp_path, 5), _lock(tmp_path, 6)
    holder.acquire(ask_to_stop=False)
    before = holder.asked_to_stop()

    with pytest.raises(LinkError):
        newer.acquire(ask_to_stop=True, patience=0)

    assert before is None
    assert holder.asked_to_stop() == (1, 6)
    assert newer.asked_to_stop() is None
    holder.release()


def test_the_wish_to_stop_ends_with_who_had_it(tmp_path: Path) -> None:
    """After the newer call had its turn nobody is asked to stop any more."""
    holder, newer = _lock(tmp_path, 5), _lock(tmp_path, 6)
    holder.acquire(ask_to_stop=False)
    with pytest.raises(LinkError):
        newer.acquire(ask_to_stop=True, patience=0)
    holder.release()

    newer.acquire(ask_to_stop=True, patience=0)
    newer.release()

    assert list(tmp_path.iterdir()) == []


def test_an_orphan_of_a_killed_call_is_ended(tmp_path: Path) -> None:
    """A program that outlives its killed module holds the lock until the next call ends it."""
    killed = (
        "import os, subprocess, sys\n"
        "from ansible_collections.margrave.edge.plugins.module_utils._lock import Lock\n"
        "lock = Lock(sys.argv[1], 'one', None)\n"
        "lock.acquire(ask_to_stop=False)\n"
        "child = subprocess.Popen(['sleep', '300'], pass_fds=(lock.handle,),\n"
        "                         start_new_session=True)\n"
        "lock.adopt(child.pid)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    collections = Path(__file__).resolve().parents[3] / "collections"
    subprocess.run(
        [sys.executable, "-c", killed, str(tmp_path)],
        check=False,
        env={**os.environ, "PYTHONPATH": str(collections)},
    )

    lock = _lock(tmp_path, 1)
    lock.acquire(ask_to_stop=True, patience=10)
    lock.release()

    assert list(tmp_path.iterdir()) == []


def test_a_full_run_folder_keeps_nobody_from_going_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is noted in the lock helps those who wait; the lock is held without it, too."""
    lock = _lock(tmp_path, 1)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    lock.acquire(ask_to_stop=False, patience=0)
    lock.adopt(1)
    with pytest.raises(LinkError):
        _lock(tmp_path, 2).acquire(ask_to_stop=False, patience=0)
    lock.release()

    assert list(tmp_path.iterdir()) == []
