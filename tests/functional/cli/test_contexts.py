"""Several controllers, names at the press of Tab, and words that are nearly right."""

from __future__ import annotations

import io
import socket
import sys
import threading
from contextlib import suppress
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


@pytest.mark.parametrize(
    ("name", "near"), [("shp", 'did you mean "shop"?'), ("yard", "plant, shop")]
)
def test_an_unknown_context_names_the_nearest(signed_in: Run, name: str, near: str) -> None:
    """Exit code 3; where none is near, all of them."""
    ran = signed_in("--context", name, "site", "list")

    assert ran.code == 3
    assert near in ran.err


def test_login_keeps_the_token_for_its_owner_alone(
    run: Run, controller: FakeController, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """After login no variable is needed; the file has mode 0600."""
    controller.on("POST", "/api/v1/login", 201, {"id": "t", "token": "kept"})
    controller.on("GET", "/api/v1/meta/capabilities", 200, {})
    controller.lists("/api/v1/sites")
    monkeypatch.setattr(sys, "stdin", io.StringIO("password\n"))
    assert run("login", controller.url, "--user", "ann").code == 0
    monkeypatch.delenv("MARGRAVE_URL")
    monkeypatch.delenv("MARGRAVE_TOKEN")

    assert run("site", "list").code == 0
    assert controller.calls[-1].headers["Authorization"] == "Bearer kept"
    assert (tmp_path / "config/margrave/contexts.json").stat().st_mode & 0o777 == 0o600


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


def test_plain_http_to_a_port_with_tls_names_https(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server of TLS ends a connection that does not begin as TLS does."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def end_each() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    connection.recv(65536)
                    connection.close()

        threading.Thread(target=end_each, daemon=True).start()
        monkeypatch.setattr(sys, "stdin", io.StringIO("word\n"))
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        ran = run("login", url, "--user", "ann")

    assert ran.code == 6
    assert "its address begins with https://" in ran.err
