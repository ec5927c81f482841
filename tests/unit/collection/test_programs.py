"""A program ends with the call that started it, and with all that it has started itself."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _request
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._errors import LinkError
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._programs import Programs

from tests.support.waiting import eventually

ID = "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f"
PATHS = {"PATH": os.defpath}
# As docker does with its plugin: a child of its own, in the same group.
HOST = 'sleep 300 & echo $! >"$1"; wait'


def _gone(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def test_a_program_whose_time_is_over_ends_with_its_children(tmp_path: Path) -> None:
    """What it has started does not go on while what ran before is made to run again."""
    noted = tmp_path / "child"

    for seconds in (0.5, 4, 30):  # on a busy machine the child takes its time to be there
        ran = Programs().run(["/bin/sh", "-c", HOST, "sh", str(noted)], seconds, PATHS)
        assert ran.code is None
        if noted.exists() and noted.read_text():
            break

    eventually(lambda: _gone(int(noted.read_text())), 60, "the child is gone")


def test_a_program_needs_no_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no temporary file can be made, programs run, and going back goes on."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "full"))

    ran = Programs().run(["/bin/cat"], 10, {}, given=b"given")

    assert (ran.code, ran.out) == (0, "given")


def test_a_call_ends_at_its_deadline(tmp_path: Path) -> None:
    """While it waits for a program too; going back and deleting are not cut."""
    request = _request.read({"deployment": ID, "deadline": 1})
    call = Call(request, "update", Layout(str(tmp_path), str(tmp_path / "run")), check=False)

    with pytest.raises(LinkError) as over:
        call.programs.run(["/bin/sleep", "300"], 300, {})
    call.stoppable = False
    call.safe_point()

    assert (over.value.kind, over.value.code, over.value.ends) == ("link", "deadline", False)
    assert call.left() <= 0


@pytest.mark.parametrize("told", [True, False], ids=["by the kernel", "by looking"])
def test_a_program_is_waited_for_and_looked_up_from(
    told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its end is seen at once, and so is a newer call while it works, also on an old kernel."""
    if not told:
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    looks: list[float] = []
    begin = time.monotonic()
    ran = Programs(None, lambda: looks.append(0.0)).run(["/bin/sleep", "0.6"], 60, PATHS)

    # The program's own time, and less than the next look would have been away.
    assert ran.code == 0
    assert time.monotonic() - begin < 30
    assert len(looks) >= 2

    def newer() -> None:
        raise LinkError("superseded", "a newer call took over", "")

    with pytest.raises(LinkError, match="took over"):
        Programs(None, newer).run(["/bin/sleep", "300"], 400, PATHS)
