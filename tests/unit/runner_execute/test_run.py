"""A run settles each errand once, from the events that Ansible sends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from runner.execute import meaning
from runner.execute.errand import Errand, Outcome
from runner.execute.run import GRACE, Run
from runner.execute.rundir import RunFolder
from runner.ports import Status, Target

NODE = Target("harbor-1", "10.0.0.9", 22, "margrave", "/key", "ssh-ed25519 AAAA")


class Heard:
    """Outcomes and lines as a run tells them; fails on those it is told to."""

    def __init__(self, deaf_to: str = "", trouble: Exception | None = None) -> None:
        self.trouble = trouble
        self.outcomes: dict[str, Outcome] = {}
        self.lines: list[tuple[str, str]] = []
        self.deaf_to = deaf_to

    def take(self, outcome: Outcome) -> None:
        if outcome.key == self.deaf_to:
            raise RuntimeError("the database is locked")
        assert outcome.key not in self.outcomes
        self.outcomes[outcome.key] = outcome

    def line(self, key: str, line: str) -> None:
        if self.trouble is not None:
            raise self.trouble
        self.lines.append((key, line))

    @property
    def statuses(self) -> dict[str, Status]:
        return {key: one.status for key, one in self.outcomes.items()}


@pytest.fixture
def heard() -> Heard:
    return Heard()


def run_of(heard: Heard, folder: Path, *keys: str) -> Run:
    errands = [Errand(key, NODE, "margrave.edge.workload_install", {}, 60) for key in keys]
    return Run(RunFolder(folder / "run"), errands, heard.take, heard.line)


def event(kind: str, number: int, **res: Any) -> dict[str, Any]:
    return {"event": kind, "event_data": {"host": f"errand-{number}", "res": res}}


def test_each_event_settles_its_own_errand(heard, tmp_path) -> None:
    """Results come one by one, each once, whatever Ansible repeats."""
    run = run_of(heard, tmp_path, "a", "b", "c")
    assert run._event(event("runner_on_start", 0)) is False
    run._event(event("runner_on_ok", 0, state="INSTALLED", changed=True))
    assert heard.statuses == {"a": Status.OK}
    run._event(event("runner_on_unreachable", 1, msg="no route"))
    run._event(event("runner_on_failed", 1, msg="again"))
    run._event(event("runner_on_ok", 7))
    run._event({"event": "playbook_on_stats", "event_data": {}})
    run._event({"event": "EOF"})
    assert heard.statuses == {"a": Status.OK, "b": Status.UNREACHABLE}
    assert heard.lines[:2] == [
        ("a", "margrave.edge.workload_install on harbor-1"),
        ("a", "INSTALLED"),
    ]


def test_a_listener_that_fails_does_not_take_the_others_down(tmp_path, caplog) -> None:
    """The failure is logged with the operation, and the next result is taken in."""
    heard = Heard(deaf_to="a")
    run = run_of(heard, tmp_path, "a", "b")
    run._event(event("runner_on_ok", 0))
    run._event(event("runner_on_ok", 1))
    assert heard.statuses == {"b": Status.OK}
    assert "a: its result (ok) could not be taken in" in caplog.text


@pytest.mark.parametrize(
    "trouble", [OSError(28, "No space left on device"), OperationalError("insert", {}, Exception())]
)
def test_a_line_that_cannot_be_kept_takes_no_result_along(tmp_path, trouble) -> None:
    """On a full disk, or without a database, results are told all the same, each its own."""
    heard = Heard(trouble=trouble)
    run = run_of(heard, tmp_path, "a", "b")
    run._event(event("runner_on_start", 0))
    run._event({"event": "verbose", "stdout": "[WARNING]: careful"})
    run._event(event("runner_on_ok", 0, state="INSTALLED"))
    run._event(event("runner_on_failed", 1, msg="it broke"))
    assert heard.statuses == {"a": Status.OK, "b": Status.FAILED}


def test_what_ansible_says_to_nobody_goes_to_all_that_are_open(heard, tmp_path) -> None:
    """A warning stands in the log of each operation that still runs."""
    run = run_of(heard, tmp_path, "a", "b")
    run._event(event("runner_on_ok", 0))
    run._event({"event": "verbose", "stdout": "[WARNING]: careful"})
    run._event({"event": "verbose", "stdout": "  "})
    assert [line for line in heard.lines if "careful" in line[1]] == [("b", "[WARNING]: careful")]


def test_giving_up_settles_what_is_open_as_lost(heard, tmp_path) -> None:
    """One or all; what is settled stays as it is, and the run then has nothing to wait for."""
    run = run_of(heard, tmp_path, "a", "b", "c")
    run._event(event("runner_on_ok", 0))
    run.give_up("b")
    assert run._overdue() is False
    run.give_up()
    assert heard.statuses == {"a": Status.OK, "b": Status.LOST, "c": Status.LOST}
    assert run._overdue() is True


def test_an_errand_far_beyond_its_deadline_is_lost(heard, tmp_path) -> None:
    """Also where Ansible's own time-out did not come; errands that wait for a fork get theirs."""
    run = run_of(heard, tmp_path, "a")
    assert run._overdue() is False
    run._waves = 2
    run._clock -= 60 + GRACE + 1
    assert run._overdue() is False
    run._waves = 1
    assert run._overdue() is True
    assert heard.outcomes["a"].data["error"]["code"] == "deadline"


def test_a_run_that_cannot_begin_says_so_to_each_errand(heard, tmp_path) -> None:
    """A folder that cannot be made loses every errand, with the reason."""
    (tmp_path / "run").mkdir()
    run_of(heard, tmp_path, "a", "b").carry_out({}, tmp_path / "warm", 1)
    assert heard.statuses == {"a": Status.LOST, "b": Status.LOST}
    assert "File exists" in heard.outcomes["a"].message
    assert not (tmp_path / "run").exists()


def test_an_error_of_ansible_itself_repeats_no_secret(heard, tmp_path) -> None:
    """What Ansible says to nobody ends up in the error of each errand that has no result: quoted as
    Ansible quotes it, and of each errand in the run."""
    errands = [
        Errand(
            "a", NODE, "margrave.edge.workload_install", {}, 60, hidden=('it\'s "A" \n kettle',)
        ),
        Errand("b", NODE, "margrave.edge.workload_install", {}, 60, hidden=("other-password",)),
    ]
    run = Run(RunFolder(tmp_path / "run"), errands, heard.take, heard.line)
    run._event({"event": "verbose", "stdout": "[ERROR]: got 'it''s \"A\" \\n kettle'"})
    run._event({"event": "verbose", "stdout": '[ERROR]: got "it\'s \\"A\\" \\n kettle"'})
    run._event({"event": "verbose", "stdout": "[WARNING]: other-password is weak"})
    run.carry_out({}, tmp_path / "warm", 1, reach=refuse)
    said = repr([heard.outcomes, heard.lines])
    assert "kettle" not in said
    assert "password" not in said
    assert heard.statuses == {"a": Status.LOST, "b": Status.LOST}


def refuse(_: object) -> dict[str, str]:
    """Fail with what a defect may say, which is anything."""
    raise RuntimeError("cannot take other-password, nor 'it''s \"A\" \n kettle'")


def test_the_end_of_ansibles_output_holds_no_end_of_a_secret(heard, tmp_path) -> None:
    """Only the last of it is kept, and a secret that is cut in two is no less one."""
    errand = Errand("a", NODE, "m", {}, 60, hidden=("s" * 600 + "-tail",))
    run = Run(RunFolder(tmp_path / "run"), [errand], heard.take, heard.line)
    run._event({"event": "verbose", "stdout": "it was " + "s" * 600 + "-tail" + " " + "y" * 600})
    run._settle_rest(meaning.RUN_ENDED, run._said)
    message = heard.outcomes["a"].message
    assert "it was [redacted] yyy" in message
    assert "sss" not in message
