"""Each exit code of each command that can end with it, from tables; a new command needs its line.

`tests/functional/walk/commands.py` asks the same of a controller that serves.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

import httpx
import pytest

from margrave.cli import waiting
from tests.functional.cli import fleet
from tests.functional.cli.test_golden import CASES
from tests.support.served import MARGRAVE
from tests.unit.cli.test_help import VERBS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.functional.cli.conftest import FakeController, Run


# What the controller says to whatever it is asked, and the code that was promised for it.
STATUSES: Final = {
    400: 1, 401: 5, 403: 5, 404: 3, 409: 5, 412: 5, 413: 1, 422: 1, 429: 6, 500: 6, 503: 6,
}  # fmt: skip
# How each command of the runner's machine is called; it speaks to the runner through its socket.
AT_THE_RUNNER: Final = {
    "node add": "press-1 192.0.2.1 --site harbor --identity {key} --yes --config {config}",
    "node remove": "press-1 --site harbor --forget --yes --config {config}",
    "runner accept": "--commit 3f9c2d41e5a0 --yes --config {config}",
    "runner beacon": "press-1 --config {config}",
    "runner lock": "--reason stocktaking --config {config}",
    "runner once": "--config {config}",
    "runner status": "--config {config}",
    "runner takeover": "--yes --config {config}",
    "runner unlock": "--config {config}",
}
# What needs nobody else: how each can end here, with what is typed for it.
ALONE: Final[dict[str, tuple[tuple[int, str], ...]]] = {
    "app digest": ((0, "empty"), (1, "package"), (3, "nowhere"), (2, "")),
    "app lint": ((1, "package"), (3, "nowhere"), (2, "")),
    "completion": ((0, "bash"), (2, "cmd")),
    "context list": ((0, ""),),
    "context remove": ((3, "nowhere --yes"), (2, "")),
    "context use": ((3, "nowhere"), (2, "")),
    "controller accept": (
        (1, "--commit 3f9c2d41e5a0 --yes --config broken.toml"),
        (2, "--commit 3f9c2d41e5a0 --config made/margrave.toml"),
        (2, ""),
    ),
    "controller add-admin": (
        (0, "grace --config made/margrave.toml"),
        (5, "admin --config made/margrave.toml"),
        (0, "admin --reset --config made/margrave.toml"),
        (1, "No.Name --config made/margrave.toml"),
    ),
    "controller backup": (
        (0, "kept.tar.gz --config made/margrave.toml"),
        (5, "broken.toml --config made/margrave.toml"),
        (3, "nowhere/kept.tar.gz --config made/margrave.toml"),
        (1, "kept.tar.gz --config broken.toml"),
        (1, "kept.tar.gz --config binary.toml"),
        (5, "package --config made/margrave.toml"),
        (2, ""),
    ),
    "controller migrate": ((0, "--config made/margrave.toml"), (1, "")),
    "controller rebuild": ((1, "--yes"), (2, "--config made/margrave.toml")),
    "controller restore": (
        (3, "nowhere --yes --config made/margrave.toml"),
        (5, "broken.toml --yes --config made/margrave.toml"),
        (2, "broken.toml --config made/margrave.toml"),
    ),
    "controller serve": ((1, "--config broken.toml"), (1, "")),
    "demo down": ((2, "--nodes 3"),),
    "demo status": ((0, ""),),
    "demo up": ((2, "--nodes 0"),),
    "doctor": ((2, "--config nowhere"),),
    "init": ((0, "another"), (5, "made"), (1, "broken.toml/below")),
    "lab down": ((0, "--name nothing-of-the-kind --yes"), (2, "--nodes 3")),
    "lab fail": ((3, "nowhere --kill"), (2, "nowhere")),
    "lab heal": ((3, "nowhere"), (2, "")),
    "lab list": ((0, ""),),
    "lab ssh": ((3, "nowhere"), (2, "")),
    "lab up": ((2, "--nodes 0"),),
    "lint": ((0, "fine"), (1, "package"), (1, "empty"), (3, "nowhere"), (2, "")),
    "login": ((6, "http://127.0.0.1:1 --user ann"), (2, "")),
    "runner serve": ((1, "--config broken.toml"), (1, "")),
    "version": ((0, ""), (2, "more")),
}
# Told by `test_show.py`, where its stream ends: it answers nothing that could be refused later.
STREAMS: Final = {"deployment watch"}
# A question that is not put: what is removed is nothing that is there.
UNASKED: Final = {"context remove", "demo down", "lab down"}


def _with(option: str) -> list[str]:
    return sorted(
        verb
        for verb, command in VERBS.items()
        if any(one.name == option for one in command.params) and verb not in UNASKED
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a controller, a package that is none, and files that are not what they seem."""
    folder = tmp_path_factory.mktemp("made")
    subprocess.run([MARGRAVE, "init", "made"], cwd=folder, check=True, capture_output=True)
    (folder / "empty").mkdir()
    (folder / "fine/deployments").mkdir(parents=True)
    (folder / "package").mkdir()
    (folder / "package/margo.yaml").write_text("id: [\n")
    (folder / "broken.toml").write_text("[http\n")
    (folder / "binary.toml").write_bytes(b"\x7fELF\xd0")
    return folder


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in which one stands."""
    folder = shutil.copytree(made, tmp_path / "here")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def asks(run: Run, runner: FakeController, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Any command of the tables, asked as a script would: with all that it needs."""
    (tmp_path / "key").write_text("PRIVATE")
    with (tmp_path / "margrave.toml").open("a") as config:
        config.write('[git]\nremote = "https://git.example/deployments.git"\n')

    def ask(verb: str, *more: str, said: str = "a long password\n") -> Any:
        monkeypatch.setattr(sys, "stdin", io.StringIO(said))
        words = AT_THE_RUNNER.get(verb) or CASES[verb][0]
        return run(
            *verb.split(), *words.format(key=tmp_path / "key", config=runner.url).split(), *more
        )

    return ask


def test_each_command_stands_in_one_table() -> None:
    """One that is new needs its line."""
    tables: list[set[str]] = [set(CASES), set(AT_THE_RUNNER), set(ALONE), STREAMS]
    assert set().union(*tables) == set(VERBS)
    assert sum(len(one) for one in tables) == len(VERBS)


@pytest.mark.parametrize("verb", sorted({*CASES, *AT_THE_RUNNER}))
def test_what_is_answered_decides(
    asks: Any,
    controller: FakeController,
    runner: FakeController,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
) -> None:
    """Whatever is asked first: each refusal ends each command with the code promised for it."""
    for status, code in STATUSES.items():
        problem = {"title": "no", "status": status, "detail": f"because of {status}"}
        for one in (controller, runner):
            monkeypatch.setattr(one, "answer", lambda _, s=status, p=problem: (s, p))
        ran = asks(verb)
        assert (status, ran.code, ran.out) == (status, code, "")
        assert f"because of {status}" in ran.err


@pytest.mark.parametrize("verb", sorted({*CASES, *AT_THE_RUNNER}))
def test_nobody_there_is_6(
    asks: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """No controller listens, or no runner."""
    monkeypatch.setenv("MARGRAVE_URL", "http://127.0.0.1:1")
    (tmp_path / "state/runner.sock").unlink()

    ran = asks(verb)

    assert (ran.code, ran.out) == (6, "")
    assert ran.err.startswith("margrave: ")


@pytest.mark.parametrize("verb", sorted(CASES))
def test_an_interruption_is_130(asks: Any, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    """Ctrl-C while it waits for the answer."""

    def press(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(httpx.Client, "send", press)

    ran = asks(verb)

    assert (ran.code, ran.out) == (130, "")


@pytest.mark.parametrize("verb", _with("wait"))
def test_a_wait_that_is_over_is_124(
    asks: Any, controller: FakeController, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """The request never gets published: what was still missing is told."""
    fleet.told(controller)
    asked = {"id": fleet.REQUEST, "state": "queued", "position": 1}
    controller.on("GET", f"{fleet.API}/requests/{fleet.REQUEST}", 200, asked)
    for one in (fleet.STOREFRONT, fleet.KIOSK):
        waits = {**one, "outcome": "pending", "state": "PENDING"}
        controller.on("GET", f"{fleet.API}/deployments/{one['id']}", 200, waits)
    monkeypatch.setattr(waiting, "PERIOD", 0.1)

    ran = asks(verb, "--wait", "--timeout", "1s")

    assert ran.code == 124, ran.err


@pytest.mark.parametrize("verb", [one for one in _with("yes") if not one.startswith("controller")])
def test_a_question_answered_no_is_1_and_by_nobody_2(
    asks: Any,
    controller: FakeController,
    runner: FakeController,
    run: Run,
    verb: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Nothing is changed either way."""
    fleet.told(controller)
    runner.on("POST", "/nodes/probe", 200, {"host_key": "SHA256:abc"})
    words = AT_THE_RUNNER.get(verb) or CASES[verb][0]
    typed = words.format(key=tmp_path / "key", config=runner.url).split()
    for said, code in (("n\n", 1), ("", 2)):
        monkeypatch.setattr(sys, "stdin", io.StringIO(said))
        ran = run(*verb.split(), *(word for word in typed if word != "--yes"))
        assert (said, ran.code) == (said, code), ran.err
    changed = [one for one in (*controller.calls, *runner.calls) if one.method != "GET"]
    assert {one.path for one in changed} <= {"/nodes/probe", f"{fleet.API}/plans"}


@pytest.mark.parametrize(
    ("verb", "code", "words"),
    [(verb, code, words) for verb, ends in ALONE.items() for code, words in ends],
)
@pytest.mark.usefixtures("here")
def test_what_needs_nobody_else(run: Run, verb: str, code: int, words: str) -> None:
    """Files, folders, nodes and contexts that are there or not: told in lines, never as a crash."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.StringIO("a long password\n" if verb == "login" else ""))
        ran = run(*verb.split(), *words.split())

    assert ran.code == code, ran.out + ran.err
    if code and not ran.out:
        assert ran.err.startswith(("margrave: ", "Usage: ")), ran.err
