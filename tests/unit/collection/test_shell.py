"""A call asked twice is done once, and an error is always in the answer."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils import basic
from ansible_collections.margrave.edge.plugins.module_utils import (
    _delete,
    _fence,
    _forget,
    _module,
    _shell,
)
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._errors import (
    EngineError,
    HealthError,
)
from ansible_collections.margrave.edge.plugins.module_utils._files import point
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._release import Release
from ansible_collections.margrave.edge.plugins.module_utils._shell import _sentence, operate

ID = "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f"
RUNNER = "aaaaaaaa-0000-0000-0000-000000000000"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A node's folders."""
    return Layout(str(tmp_path / "state"), str(tmp_path / "run"))


def _params(seq: int | None, **more: Any) -> dict[str, Any]:
    fence = None if seq is None else {"runner": RUNNER, "epoch": 1, "seq": seq}
    return {"deployment": ID, "fence": fence, **more}


def _told(answer: dict[str, Any]) -> dict[str, Any]:
    """What is answered; what ran before is for the diff of the call that did the work."""
    return {key: value for key, value in answer.items() if key != "before"}


class Work:
    """Work that counts how often it was done."""

    def __init__(self, error: Exception | None = None) -> None:
        self.done = 0
        self.error = error

    def __call__(self, call: Call) -> None:
        self.done += 1
        call.begin("switch")
        if self.error:
            raise self.error
        call.result.state, call.result.changed = "INSTALLED", True


def test_same_call_gets_the_same_answer(layout: Layout) -> None:
    """The second of two equal calls answers what the first did, and does nothing."""
    work = Work()

    first = operate("install", _params(1), False, work, layout)
    second = operate("install", _params(1), False, work, layout)

    assert work.done == 1
    assert _told(first) == _told(second)


def test_for_whom_a_call_is_made_stands_in_journal_and_answer(layout: Layout) -> None:
    """Whoever has the id of a request finds on the node what came of it, also of what was refused,
    and of what is gone by the answer that is kept."""
    told = operate("install", _params(2, trace="ticket-7"), False, Work(), layout)
    journal = json.loads(Path(layout.deployment(ID).journal).read_text())
    older = operate("install", _params(1, trace="ticket-8"), False, Work(), layout)
    nobody = operate("install", _params(3), False, Work(), layout)

    assert (told["trace"], journal["trace"]) == ("ticket-7", "ticket-7")
    assert (older["error"]["code"], older["trace"]) == ("fence-passed", "ticket-8")
    assert nobody["trace"] is None
    assert json.loads(Path(layout.record_of(ID)).read_text())["result"]["trace"] is None


def test_a_failed_call_is_recorded_too(layout: Layout) -> None:
    """A failure is an answer like any other: repeated, not tried again under the same fence."""
    work = Work(HealthError("not-healthy", "web is unhealthy", "look"))

    first = operate("install", _params(1), False, work, layout)
    second = operate("install", _params(1), False, work, layout)

    assert work.done == 1
    assert (first["state"], first["error"]["class"]) == ("FAILED", "health")
    assert _told(first) == _told(second)


def test_an_older_call_does_nothing(layout: Layout) -> None:
    """A call that a newer one has passed is refused and leaves the record alone."""
    work = Work()
    operate("install", _params(5), False, work, layout)

    answer = operate("install", _params(4), False, work, layout)

    assert work.done == 1
    assert (answer["error"]["class"], answer["error"]["code"]) == ("conflict", "fence-passed")


def test_a_call_that_a_full_disk_stops_tells_what_runs(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was changed: what ran runs on, and is not told as gone."""
    folder = layout.deployment(ID)
    runs = Release("a" * 64, "sha256:" + "b" * 64, "1.0.0", "shop", "shop", {}, [])
    Path(folder.release(runs.release)).mkdir(parents=True)
    runs.store(folder)
    point(folder.path, {"current": f"releases/{runs.release}"})

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_fence, "enter", full)
    answer = operate("update", _params(1), False, Work(), layout)

    assert answer["error"]["class"] == "disk"
    assert (answer["release"], answer["version"]) == (runs.release, "1.0.0")


def test_check_mode_writes_nothing(layout: Layout, tmp_path: Path) -> None:
    """Check mode asks no fence, takes no lock and leaves no file."""
    operate("install", _params(1), True, lambda call: None, layout)

    assert list(tmp_path.iterdir()) == []


def test_force_is_written_to_the_journal(layout: Layout) -> None:
    """A person who insists is on record."""
    operate("install", _params(1), False, Work(), layout)
    work = Work(HealthError("not-healthy", "x"))

    refused = operate("install", _params(None), False, work, layout)
    operate("install", _params(None, force=True), False, work, layout)
    notes = json.loads(Path(layout.deployment(ID).journal).read_text())

    assert refused["error"]["code"] == "claimed"
    assert notes["force"] is True
    assert notes["phase"] == "done"


def test_full_disk_is_told_as_such(layout: Layout) -> None:
    """An operating system's error becomes one of ours."""
    work = Work(OSError(errno.ENOSPC, "No space left on device"))

    answer = operate("install", _params(1), False, work, layout)

    assert answer["error"]["class"] == "disk"


def test_wrong_parameters_are_answered(layout: Layout) -> None:
    """A wrong parameter is of class config, and nothing was begun."""
    work = Work()

    answer = operate("install", {"deployment": "x"}, False, work, layout)

    assert work.done == 0
    assert answer["error"]["class"] == "config"


def test_a_failure_that_went_back_says_what_runs() -> None:
    """The sentence that a person reads names what runs again, and what would help."""
    error = {"message": "web is unhealthy", "cure": "look"}
    answer = {"error": error, "rolled_back": True, "version": "1.1.0", "revision": "sha256:x"}

    assert _sentence(answer) == "web is unhealthy; 1.1.0 runs again (look)"
    assert _sentence({**answer, "rolled_back": False}) == "web is unhealthy (look)"


@pytest.mark.parametrize(
    ("room", "code", "kind", "told"),
    [
        (0, "down-failed", "disk", "disk-full"),
        (0, "engine-refused", "disk", "disk-full"),
        (0, "name-taken", "engine", "name-taken"),
        (2**30, "down-failed", "engine", "down-failed"),
    ],
    ids=["an end", "a request", "what is another's trouble", "room enough"],
)
def test_an_engine_that_fails_on_a_full_disk_is_not_to_blame(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, room: int, code: str, kind: str, told: str
) -> None:
    """Whatever its words: it cannot write its own records. They are told all the same."""
    monkeypatch.setattr(_shell, "is_full", lambda _: room == 0)

    answer = operate("delete", _params(1), False, Work(EngineError(code, "disk I/O error")), layout)

    error = answer["error"]
    assert (error["class"], error["code"]) == (kind, told)
    assert "disk I/O error" in error["message"]


def test_a_delete_succeeds_although_old_records_cannot_be_tidied(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure to tidy becomes a warning, and the next delete tries again."""

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(_forget, "forget_old", refuse)
    monkeypatch.setattr(_delete, "_drivers", lambda _: [])
    Path(layout.deployment(ID).releases).mkdir(parents=True)

    answer = operate("delete", _params(1), False, _delete.delete, layout)

    assert (answer["error"], answer["state"], answer["changed"]) == (None, "DELETED", True)
    assert "Permission denied" in answer["warnings"][0]
    assert not Path(layout.deployment(ID).path).exists()


def test_a_module_hands_its_warnings_to_ansible(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Part of the answer they would be deprecated, with a second warning."""
    given = {"ANSIBLE_MODULE_ARGS": {"deployment": ID}}
    answer = {"changed": False, "error": None, "warnings": ["look at this"]}
    monkeypatch.setattr(basic, "_ANSIBLE_ARGS", json.dumps(given).encode())
    monkeypatch.setattr(basic, "_ANSIBLE_PROFILE", "legacy")
    # Other tests load parts of ansible-playbook, after which Ansible prints warnings itself.
    monkeypatch.setattr("ansible.module_utils._internal.is_controller", False)
    monkeypatch.setattr(_shell, "answer", lambda *_: answer)

    with pytest.raises(SystemExit):
        _module.run("delete", lambda _: None)

    printed = json.loads(capsys.readouterr().out)
    [warning] = printed["warnings"]
    assert "look at this" in json.dumps(warning)
    assert "deprecations" not in printed
