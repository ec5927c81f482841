"""`margrave controller accept`: what a person does on the controller's machine about a rewritten
main, with the exit codes that scripts rely on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.publish.trunk import Halted
from controller.store import audit
from margrave.cli.main import main
from tests.support.works import ADA, Works, git


@pytest.fixture
def followed(tmp_path: Path, forge: Path) -> Iterator[Works]:
    """A controller that has published two commits to the forge."""
    made = Works(tmp_path / "state", None, git={"remote": str(forge)})
    for site in ("harbor", "depot"):
        made.sites.create({"name": site}, ADA)
    (tmp_path / "margrave.toml").write_text(f'[git]\nremote = "{forge}"\n')
    yield made
    made.store.close()


def accept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path, commit: str
) -> tuple[int, str]:
    """Its exit code, and all that it says."""
    config = str(folder / "margrave.toml")
    words = ["margrave", "controller", "accept", "--commit", commit, "--yes", "--config", config]
    monkeypatch.setattr(sys, "argv", words)
    capsys.readouterr()
    code = int(main())
    said = capsys.readouterr()
    return code, said.out + said.err


def test_accepting_by_command(
    followed: Works,
    forge: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing to accept is 3, another commit than main's is 5; the right one is followed, audited
    under who did it."""
    lost = git(forge, "rev-parse", "main").strip()
    code, said = accept(monkeypatch, capsys, tmp_path, lost)
    assert (code, "nothing to accept" in said) == (3, True), said
    stands = git(forge, "rev-parse", "main~1").strip()
    git(forge, "update-ref", "refs/heads/main", stands)
    with pytest.raises(Halted):
        followed.publisher.refresh()
    code, said = accept(monkeypatch, capsys, tmp_path, lost)
    assert (code, "does not stand" in said) == (5, True), said
    code, said = accept(monkeypatch, capsys, tmp_path, stands[:12])
    assert code == 0, said
    assert f"Main is taken at {stands}" in said and "within 30s" in said
    followed.publisher.refresh()
    assert followed.repository.head() == stands
    with followed.store.session() as session:
        ((_, newest),) = audit.listing(session, after=None, limit=1)
    assert (newest["action"], newest["target"]) == ("repository.accept", stands)
    assert newest["actor"].startswith("local:")
