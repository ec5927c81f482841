"""Several controllers, names at the press of Tab, and words that are nearly right."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from margrave import __version__

if TYPE_CHECKING:
    from tests.functional.cli.conftest import FakeController, Run

CLI = Path(sys.executable).with_name("margrave")


@pytest.fixture
def signed_in(run: Run, controller: FakeController, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Two contexts: `shop` with the token one, and `plant`, in use, with the token two."""
    controller.on("GET", "/api/v1/meta/capabilities", 200, {})
    controller.lists("/api/v1/sites")
    for name, token in (("shop", "one"), ("plant", "two")):
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{token}\n"))
        assert run("login", controller.url, "--token-stdin", "--name", name).code == 0
    monkeypatch.delenv("MARGRAVE_URL")
    monkeypatch.delenv("MARGRAVE_TOKEN")
    return run


def sent(controller: FakeController) -> str:
    """The token of the last call."""
    return controller.calls[-1].headers["Authorization"].removeprefix("Bearer ")


def test_one_context_is_in_use(signed_in: Run, controller: FakeController) -> None:
    """The last one signed in at, until another one is chosen."""
    signed_in("site", "list")
    assert sent(controller) == "two"

    assert signed_in("context", "use", "shop").code == 0
    signed_in("site", "list")

    assert sent(controller) == "one"
    listed = signed_in("context", "list")
    assert "shop" in listed.out
    assert "one" not in listed.out


def test_another_one_for_once(
    signed_in: Run, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--context or MARGRAVE_CONTEXT; the one in use stays."""
    signed_in("--context", "shop", "site", "list")
    assert sent(controller) == "one"
    monkeypatch.setenv("MARGRAVE_CONTEXT", "shop")
    signed_in("site", "list")
    assert sent(controller) == "one"
    monkeypatch.delenv("MARGRAVE_CONTEXT")
    signed_in("site", "list")
    assert sent(controller) == "two"


def test_the_environment_wins(
    signed_in: Run, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script's variables are not overruled by what somebody chose."""
    monkeypatch.setenv("MARGRAVE_TOKEN", "script")

    signed_in("site", "list")

    assert sent(controller) == "script"


def test_an_unknown_context_names_those_there_are(signed_in: Run) -> None:
    """Exit code 3."""
    ran = signed_in("--context", "shp", "site", "list")

    assert ran.code == 3
    assert "plant, shop" in ran.err


def test_a_context_is_forgotten(signed_in: Run) -> None:
    """Its token is gone from this machine."""
    assert signed_in("context", "remove", "plant", "--yes").code == 0
    assert "plant" not in signed_in("context", "list").out


def test_without_a_token_the_cure_is_to_sign_in(
    run: Run, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The controller names a header; here somebody can type."""
    monkeypatch.delenv("MARGRAVE_TOKEN")
    controller.problem("GET", "/api/v1/sites", 401, "no token")

    ran = run("site", "list")

    assert (ran.code, f"margrave login {controller.url}" in ran.err) == (5, True)


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (["deploymet"], "deployment"),
        (["site", "lst"], "list"),
        (["site", "list", "--wach"], "--watch"),
        (["site", "list", "-o", "jsn"], "json"),
    ],
)
def test_a_word_that_is_nearly_right(run: Run, words: list[str], near: str) -> None:
    """The nearest right one is offered; exit code 2."""
    ran = run(*words)

    assert ran.code == 2
    assert near in ran.err


def test_names_for_pipes(run: Run, controller: FakeController) -> None:
    """-o name is what the next command takes."""
    controller.lists("/api/v1/nodes", {"site": "harbor", "name": "harbor-1"})

    assert run("node", "list", "-o", "name").out == "harbor/harbor-1\n"


def test_version_is_an_option_too(run: Run) -> None:
    """Where people look first."""
    assert run("--version").out == run("version").out == f"margrave {__version__}\n"


def completed(controller: FakeController, line: str) -> list[str]:
    """What a real bash with our completion offers for the line."""
    script = subprocess.run(
        [CLI, "completion", "bash"], capture_output=True, text=True, check=True
    ).stdout
    words = shlex.split(line) + ([""] if line.endswith(" ") else [])
    drive = f"""
{script}
COMP_WORDS=({" ".join(shlex.quote(word) for word in words)})
COMP_CWORD={len(words) - 1}
_margrave_completion {shlex.quote(str(CLI))}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    environment = {**os.environ, "MARGRAVE_URL": controller.url, "MARGRAVE_TOKEN": "secret"}
    ran = subprocess.run(
        ["bash", "-c", drive], env=environment, capture_output=True, text=True, check=True
    )
    return ran.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("margrave depl", {"deploy", "deployment"}),
        ("margrave deploy sto", {"storefront"}),
        ("margrave deploy storefront@", {"storefront@1.0.0", "storefront@1.1.0"}),
        ("margrave deploy storefront --site ", {"harbor", "depot"}),
        ("margrave node show harbor/", {"harbor/harbor-1"}),
        ("margrave deployment show ", {"shopfloor"}),
    ],
)
def test_bash_completes_words_and_names(
    controller: FakeController, line: str, offered: set[str]
) -> None:
    """In a real bash, with the controller's own names."""
    controller.lists("/api/v1/apps", {"id": "storefront", "name": "Storefront"})
    versions = {"versions": ["1.0.0", "1.1.0"]}
    controller.on("GET", "/api/v1/apps/storefront", 200, versions)
    controller.lists("/api/v1/sites", {"name": "harbor"}, {"name": "depot"})
    controller.lists("/api/v1/nodes", {"site": "harbor", "name": "harbor-1"})
    controller.lists("/api/v1/deployments", {"name": "shopfloor", "app": "storefront"})

    assert set(completed(controller, line)) == offered


def test_completion_is_silent_without_a_controller(controller: FakeController) -> None:
    """No controller, no names, and no error in the middle of a line."""
    controller.url = "http://127.0.0.1:9"

    assert completed(controller, "margrave site show ") == []
