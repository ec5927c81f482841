"""The folder of secrets: what it holds, what it lacks, and what cannot be told now."""

from __future__ import annotations

from pathlib import Path

import pytest

from margrave.errors import MargraveError, SecretsUnread
from runner.reconcile.sensitive import Secrets


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "secrets"
    made.mkdir()
    return made


def secrets(tmp_path: Path, **in_git: str) -> Secrets:
    """The site's secrets after a start: the folder, and what is in Git."""
    return Secrets(tmp_path / "secrets", tmp_path / "key", lambda: in_git)


def test_an_empty_folder_hides_no_secret_that_only_git_had(tmp_path: Path, folder: Path) -> None:
    """A folder may be configured for later; one that nobody has is waited for."""
    assert secrets(tmp_path, token="git").value("token") == "git"
    with pytest.raises(SecretsUnread, match="is empty"):
        secrets(tmp_path).value("token")


def test_a_secret_of_the_folder_is_not_replaced_by_gits_while_it_is_away(
    tmp_path: Path, folder: Path
) -> None:
    """Also over a restart: the names that were read from the folder are remembered, no values."""
    (folder / "token").write_text("folder\n")
    assert secrets(tmp_path, token="git").value("token") == "folder"
    (folder / "token").unlink()
    with pytest.raises(SecretsUnread, match="is empty"):
        secrets(tmp_path, token="git").value("token")
    assert (tmp_path / "secrets.names").read_text() == '["token"]'
    (folder / "other").write_text("x")
    assert secrets(tmp_path, token="git").value("token") == "git"


def test_bytes_that_are_no_text_are_a_finding(tmp_path: Path, folder: Path) -> None:
    """They are there and will not become text by waiting."""
    (folder / "token").write_bytes(b"\xff\xfe")
    with pytest.raises(MargraveError, match="is no text") as raised:
        secrets(tmp_path).value("token")
    assert not isinstance(raised.value, SecretsUnread)


def test_the_sites_own_key_is_read_once(tmp_path: Path, folder: Path) -> None:
    """A disk that fails later changes no release; one that fails at first is waited for."""
    kept = secrets(tmp_path)
    key = kept._key()
    (tmp_path / "key").unlink()
    assert kept._key() == key
    (tmp_path / "key").mkdir()
    with pytest.raises(SecretsUnread, match="the key of the site's secrets cannot be read now"):
        secrets(tmp_path)._key()
