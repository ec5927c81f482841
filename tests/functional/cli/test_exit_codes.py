"""Each exit code of `margrave`, as scripts meet it."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import click
import pytest

from margrave.cli.api import Api
from margrave.terminal.options import Duration
from tests.unit.cli.test_help import VERBS

if TYPE_CHECKING:
    from tests.functional.cli.conftest import FakeController, Run

LIST = "/api/v1/deployments"


def test_done_is_0(run: Run, controller: FakeController) -> None:
    """What was asked was done."""
    controller.lists("/api/v1/sites")

    assert run("site", "list").code == 0


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, 1), (422, 1), (401, 5), (403, 5), (404, 3), (409, 5), (412, 5), (429, 6), (503, 6)],
)
def test_each_status_has_its_exit_code(
    run: Run, controller: FakeController, status: int, code: int
) -> None:
    """A refusal of the controller ends with the code fixed for its status, said in one line."""
    controller.problem("GET", "/api/v1/sites", status, "because of that")

    ran = run("site", "list")

    assert ran.code == code
    assert ran.err == "margrave: because of that\n"
    assert ran.out == ""


def test_findings_that_are_all_unknown_are_3(run: Run, controller: FakeController) -> None:
    """422 whose every finding is `unknown` means that something named does not exist."""
    finding = {"pointer": "/targets/sites/0", "code": "unknown", "detail": "no site nowhere"}
    controller.on("GET", "/api/v1/apps/storefront", 200, {"version": "1.0.0"})
    controller.lists(LIST)
    controller.problem("POST", LIST, 422, "refused", finding)

    ran = run("deploy", "storefront", "--site", "nowhere")

    assert ran.code == 3
    assert ran.err == "margrave: /targets/sites/0: no site nowhere\n"


def test_a_finding_is_told_with_path_and_words(run: Run, controller: FakeController) -> None:
    """A parameter outside its schema: path, finding, cure, exit code 1."""
    finding = {"pointer": "/parameters/greeting", "code": "invalid", "detail": "is longer than 40"}
    controller.on("GET", "/api/v1/apps/storefront", 200, {"version": "1.0.0"})
    controller.on("GET", "/api/v1/apps/storefront/versions/1.0.0", 200, {"parameters": []})
    controller.lists(LIST)
    controller.problem("POST", LIST, 422, "refused", finding)

    ran = run("deploy", "storefront", "--site", "harbor", "--set", f"greeting={'x' * 41}")

    assert ran.code == 1
    assert ran.err == "margrave: /parameters/greeting: is longer than 40\n"


@pytest.mark.parametrize("words", [["nonsense"], ["deploy"], ["site", "list", "-o", "xml"]])
def test_wrong_usage_is_2(run: Run, words: list[str]) -> None:
    """Words the command does not know."""
    assert run(*words).code == 2


def test_an_unknown_application_is_3(run: Run) -> None:
    """APP that is not in the catalogue."""
    ran = run("deploy", "nothing", "--site", "harbor")

    assert ran.code == 3
    assert "margrave app list" in ran.err


def test_an_unknown_name_is_answered_with_the_nearest(run: Run, controller: FakeController) -> None:
    """Deployments and nodes by those there are; the rest as the controller knows it."""
    known = {"id": "i", "name": "storefront", "site": "harbor", "state": "INSTALLED"}
    controller.lists(LIST, known)
    controller.lists("/api/v1/nodes", {"site": "harbor", "name": "harbor-1"})
    told = {"title": "Not Found", "detail": "there is no such thing", "cure": 'did you mean "x"?'}
    for path in ("apps/storfront", "sites/habor"):
        controller.on("GET", f"/api/v1/{path}", 404, told)
    for words, near in (
        ("deployment show stor", "storefront"),
        ("deployment retry storfront", "storefront"),
        ("node show habor-1", "harbor-1"),
        ("deploy storfront --site harbor", "x"),
        ("site show habor", "x"),
    ):
        ran = run(*words.split())
        assert (words, ran.code, f'did you mean "{near}"?' in ran.err) == (words, 3, True)


def test_what_was_deleted_is_not_called_unknown(run: Run, controller: FakeController) -> None:
    """Whoever wants to change it learns that it is gone, and where its story stands."""
    gone = {"id": "i", "name": "storefront", "site": "harbor", "state": "DELETED"}
    controller.lists(LIST, gone)

    ran = run("deployment", "rollback", "storefront")

    assert (ran.code, "was deleted (what became of it" in ran.err) == (3, True)


def test_no_connection_is_6(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens."""
    monkeypatch.setenv("MARGRAVE_URL", "http://127.0.0.1:1")

    ran = run("site", "list")

    assert ran.code == 6
    assert "http://127.0.0.1:1 does not answer" in ran.err


def test_with_json_the_problem_itself_is_told(run: Run, controller: FakeController) -> None:
    """Programs get the problem on stderr as JSON, and nothing on stdout."""
    controller.problem("GET", "/api/v1/sites", 403, "viewers may not")

    ran = run("site", "list", "-o", "json")

    assert ran.out == ""
    assert json.loads(ran.err)["detail"] == "viewers may not"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nonsense", "-o", "json"], 2, "nonsense"),
        (["site", "lst", "--output=json"], 2, "lst"),
        (["deploy", "-ojson"], 2, "APP"),
        (["site", "list", "--wach", "-o", "json"], 2, "--watch"),
        (["site", "remove", "harbor", "-o", "json"], 2, "nobody is there"),
        (["token", "create", "ci", "--expires", "banana", "-o", "json"], 2, "banana"),
    ],
)
def test_wrong_usage_is_told_as_json_too(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, said: str
) -> None:
    """Whoever reads JSON reads it also where the words make no sense."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))

    ran = run(*words)

    told = json.loads(ran.err)
    assert (ran.code, ran.out) == (code, "")
    assert said in told["detail"] + told["cure"]
    assert set(told) >= {"title", "detail", "cure"}


DURATIONS = [
    (verb, one.opts[0])
    for verb, command in VERBS.items()
    for one in command.params
    if isinstance(one.type, Duration)
]


def test_each_length_of_time_is_a_duration() -> None:
    """What is called so in any room's help is read by the same rule."""
    assert set(DURATIONS) >= {
        ("runner lock", "--for"), ("token create", "--expires"), ("deploy", "--timeout")
    }  # fmt: skip
    named = {"--for", "--expires", "--timeout"}
    plain = [
        (verb, one.opts)
        for verb, command in VERBS.items()
        for one in command.params
        if named & set(one.opts) and not isinstance(one.type, Duration)
    ]
    assert plain == []


@pytest.mark.parametrize(("verb", "option"), DURATIONS)
def test_what_is_no_duration_is_wrong_usage(
    run: Run, controller: FakeController, verb: str, option: str
) -> None:
    """Exit code 2 with how one is written, before anybody is asked anything."""
    needed = [
        word
        for one in VERBS[verb].params
        if one.required and one.opts[0] != option
        for word in ([one.opts[0], "x"] if one.opts[0].startswith("-") else ["x"])
    ]

    ran = run(*verb.split(), *needed, option, "banana")

    assert (ran.code, "is not a duration" in ran.err) == (2, True)
    assert controller.calls == []


def test_a_destructive_verb_asks(
    run: Run, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No is no (1); nobody there to ask is wrong usage (2); --yes does it."""
    controller.on("DELETE", "/api/v1/sites/harbor", 204, {})
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    assert run("site", "remove", "harbor").code == 1
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert run("site", "remove", "harbor").code == 2
    assert controller.calls == []

    assert run("site", "remove", "harbor", "--yes").code == 0
    assert len(controller.calls) == 1


def test_an_interruption_is_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends with the shell's number for it."""

    def press(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Api, "page", press)

    assert run("site", "list").code == 130


def test_a_room_that_cannot_be_loaded_harms_nobody_else(
    run: Run, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken room's own command says so; the others work, and help lists it."""
    from margrave.cli import main

    class Broken:
        name = "broken"

        def load(self) -> None:
            raise ImportError("no such thing")

    monkeypatch.setattr(main, "_rooms", lambda: {"broken": lambda: main._load(Broken())})
    controller.lists("/api/v1/sites")

    assert run("site", "list").code == 0
    assert "broken" in run("--help").out
    ran = run("broken", "up", "--nodes", "3")
    assert (ran.code, "no such thing" in ran.err) == (1, True)


@pytest.mark.parametrize(
    ("reason", "code"), [(KeyboardInterrupt(), 130), (EOFError(), 2), (None, 1)]
)
def test_a_rooms_own_question_ends_alike(
    run: Run, monkeypatch: pytest.MonkeyPatch, reason: BaseException | None, code: int
) -> None:
    """Ctrl-C is 130, nobody there is 2, "no" is 1, whichever way a room asks."""

    def ask(*_: object, **__: object) -> None:
        raise click.Abort from reason

    monkeypatch.setattr(Api, "page", ask)

    assert run("site", "list").code == code
