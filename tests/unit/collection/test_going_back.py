"""Whatever breaks a switch, what ran before is made to run again, and the answer says why."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _apply, _module, _release
from ansible_collections.margrave.edge.plugins.module_utils._apply import switch_to
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConflictError, LinkError
from ansible_collections.margrave.edge.plugins.module_utils._files import point
from ansible_collections.margrave.edge.plugins.module_utils._journal import Journal
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder, Layout
from ansible_collections.margrave.edge.plugins.module_utils._shell import operate

ID = "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f"
RUNNER = "aaaaaaaa-0000-0000-0000-000000000000"
OLD, NEW = "sha256:" + "a" * 64, "sha256:" + "b" * 64


class Driver:
    """Makes releases run, but for the first time, when it breaks; notes which ran."""

    profile = "compose"

    def __init__(self, broken: Exception | None) -> None:
        self.broken = broken
        self.ran: list[str] = []

    def __getattr__(self, _name: str) -> Any:
        return lambda *_, **__: []

    def health(self, *_: Any) -> str:
        """What runs is healthy."""
        return "healthy"

    def run(self, release: _release.Release, *_: Any) -> None:
        """Run it."""
        broken, self.broken = self.broken, None
        if broken:
            raise broken
        self.ran.append(release.revision)


def _release_here(call: Call, revision: str) -> _release.Release:
    part = _release.Part("web", revision, "project")
    name = revision.partition(":")[2]
    release = _release.Release(name, revision, "1.0.0", "shop", "shop", {}, [part])
    Path(call.folder.release(name)).mkdir(parents=True, exist_ok=True)
    release.store(call.folder)
    return release


def _update(folder: Path, driver: Driver) -> tuple[dict[str, Any], dict[str, Any]]:
    """The answer of an update from the old release to the new one, and the journal after it."""
    layout = Layout(str(folder / "state"), str(folder / "run"))

    def work(call: Call) -> None:
        call.driver = driver
        old, new = _release_here(call, OLD), _release_here(call, NEW)
        point(call.folder.path, {"current": f"releases/{old.release}"})
        seen = call.observe()
        _apply.runs(call, seen)
        switch_to(call, seen, new)

    fence = {"runner": RUNNER, "epoch": 1, "seq": 1}
    params = {"deployment": ID, "fence": fence}
    answer = operate("update", params, False, work, layout)
    return answer, json.loads(Path(layout.deployment(ID).journal).read_text())


@pytest.mark.parametrize(
    ("broken", "kind"),
    [
        (OSError(errno.EAGAIN, "Resource temporarily unavailable"), "internal"),
        (FileNotFoundError(errno.ENOENT, "No usable temporary directory found"), "disk"),
        (OSError(errno.ENOSPC, "No space left on device"), "disk"),
        (ValueError("Expecting value: line 1"), "internal"),
        (IndexError("list index out of range"), "internal"),
    ],
    ids=["no new process", "no temporary file", "a full disk", "odd JSON", "an odd answer"],
)
def test_trouble_of_any_kind_goes_back(tmp_path: Path, broken: Exception, kind: str) -> None:
    """Containers are never left half switched under a journal that says it is done."""
    driver = Driver(broken)

    answer, journal = _update(tmp_path, driver)

    assert driver.ran == [OLD]
    assert (answer["rolled_back"], answer["revision"]) == (True, OLD)
    assert answer["error"]["class"] == kind
    assert str(broken) in answer["error"]["message"]
    assert answer["components"][0]["error"]["class"] == kind
    assert journal["phase"] == "done"


@pytest.mark.parametrize("stopped", [LinkError("deadline", "over"), ConflictError("newer", "x")])
def test_what_was_stopped_is_left_for_the_next_call(tmp_path: Path, stopped: Exception) -> None:
    """It is not gone back from: the journal says how far it came."""
    driver = Driver(stopped)

    answer, journal = _update(tmp_path, driver)

    assert driver.ran == []
    assert answer["rolled_back"] is False
    assert journal["phase"] == "switch"


def test_a_full_disk_does_not_keep_from_going_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the journal cannot be written that says so."""
    driver = Driver(OSError(errno.ENOSPC, "No space left on device"))
    begin = Call.begin

    def full(self: Call, phase: str, **more: Any) -> None:
        if phase == "goback":
            raise OSError(errno.ENOSPC, "No space left on device")
        begin(self, phase, **more)

    monkeypatch.setattr(Call, "begin", full)
    answer, _journal = _update(tmp_path, driver)

    assert driver.ran == [OLD]
    assert (answer["rolled_back"], answer["error"]["class"]) == (True, "disk")


def test_a_release_that_came_back_and_cannot_be_noted_is_reported_as_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk keeps what was noted of the release before, which runs again."""

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    class Filling(Driver):
        """A driver that finds the disk full while it makes a release run."""

        def run(self, release: _release.Release, *_: Any) -> None:
            """Run it, and leave no room on the disk."""
            monkeypatch.setattr(_release.Release, "store", full)
            super().run(release)

    driver = Filling(ValueError("broken"))
    answer, _journal = _update(tmp_path, driver)

    assert driver.ran == [OLD]
    assert (answer["rolled_back"], answer["revision"]) == (True, OLD)
    assert "going back failed" not in answer["error"]["message"]


def test_a_release_that_runs_and_cannot_be_noted_is_told_as_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full at the commit: the new one runs healthy, and the next call notes it."""
    driver = Driver(None)

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_apply, "point", full)
    answer, journal = _update(tmp_path, driver)

    assert driver.ran == [NEW]
    assert (answer["state"], answer["error"]["class"]) == ("FAILED", "disk")
    assert (answer["revision"], answer["rolled_back"]) == (NEW, False)
    assert journal["phase"] == "commit"


def test_a_defect_is_answered_like_any_error(tmp_path: Path) -> None:
    """With a class, and with the place where it was."""

    def work(_call: Call) -> None:
        raise KeyError("odd")

    layout = Layout(str(tmp_path / "state"), str(tmp_path / "run"))
    error = operate("install", {"deployment": ID}, False, work, layout)["error"]

    assert (error["class"], error["code"]) == ("internal", "defect")
    assert f"KeyError: 'odd' ({Path(__file__).name}:" in error["message"]


def test_who_insists_is_in_the_systems_log_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A deletion takes the journal with it."""
    said: list[str] = []
    module = _module.Module.__new__(_module.Module)
    module.params = {"deployment": ID, "request_id": None, "force": True}
    monkeypatch.setattr(_module.Module, "log", lambda _, text: said.append(text))

    module._log_invocation()
    module.params |= {"request_id": "call-1", "trace": "ticket-7", "force": False}
    module._log_invocation()
    module.params["trace"] = "two words"
    module._log_invocation()

    assert said == [
        f"deployment {ID} request - forced",
        f"deployment {ID} request call-1 for ticket-7",
        f"deployment {ID} request call-1",
    ]


def test_a_journal_that_cannot_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk with a bad spot gets an answer with its error, like everything else."""

    def bad(_folder: Folder) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Journal, "stored", bad)
    layout = Layout(str(tmp_path / "state"), str(tmp_path / "run"))
    answer = operate("update", {"deployment": ID}, False, lambda call: call.begin("x"), layout)

    assert answer["state"] == "FAILED"
    assert "Input/output error" in answer["error"]["message"]
