"""Tokens that are refused or replaced, and configurations that everybody can read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from margrave import settings_file
from margrave.errors import MargraveError, Unreachable
from margrave.secret import Secret
from runner import settings
from runner.app.credentials import Credentials
from runner.source import Access, Clone


class _Refusing(BaseHTTPRequestHandler):
    """A server that takes no login."""

    def do_GET(self) -> None:
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="Margrave"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Refusing)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/git/deployments.git", "the controller refused this token"),
        ("/ops/deployments.git", "it refused this login"),
    ],
)
def test_a_login_that_git_cannot_use_is_named(
    tmp_path: Path, url: str, path: str, words: str
) -> None:
    """Not by Git's words about a terminal; the configuration's present password is used next."""
    access = Access(
        f"{url}{path}",
        username="harbor",
        password=Secret("old"),
        current_password=lambda: Secret("new"),
    )
    clone = Clone(tmp_path / "clone.git", access)

    with pytest.raises(Unreachable, match=words) as refused:
        clone.remote_head()

    assert "terminal" not in str(refused.value)
    assert "git.password" in refused.value.cure
    assert clone._access.password == Secret("new")
    clone.close()


def _written(path: Path, token: str) -> Path:
    path.write_text(
        f'[site]\nname = "harbor"\n[git]\nremote = "/srv/git"\npassword = "p-{token}"\n'
        f'[controller]\nurl = "http://127.0.0.1:9"\ntoken = "{token}"\n'
    )
    return path


def test_credentials_are_read_again(tmp_path: Path) -> None:
    """A token that was replaced in the file; while the file has a mistake the last one holds."""
    path = _written(tmp_path / "margrave.toml", "old")
    credentials = Credentials(settings.load(path, {}), lambda: settings.load(path, {}))
    assert credentials.token() == Secret("old")

    _written(path, "new")
    assert (credentials.token(), credentials.password()) == (Secret("new"), Secret("p-new"))

    path.write_text("[site")
    with pytest.raises(MargraveError):
        settings.load(path, {})
    assert credentials.token() == Secret("new")


@pytest.mark.parametrize(
    ("mode", "text", "warns"),
    [
        (0o644, 'token = "t"', True),
        (0o604, 'password = "p"', True),
        (0o640, 'token = "t"', False),
        (0o600, 'token = "t"', False),
        (0o644, 'token_file = "/run/token"', False),
    ],
)
def test_a_configuration_that_everybody_can_read_is_warned_of(
    tmp_path: Path, mode: int, text: str, warns: bool
) -> None:
    """Only where secrets stand in it."""
    path = tmp_path / "margrave.toml"
    path.write_text(f"[controller]\n{text}\n")
    path.chmod(mode)

    assert ("chmod 600" in settings_file.exposed(path)) is warns
