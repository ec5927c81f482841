"""A controller made, backed up, brought back and rebuilt."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from controller import settings
from controller.cli import controller, init
from controller.keeping.backup import backup
from controller.keeping.rebuild import rebuild
from controller.keeping.restore import restore
from controller.store import Store, access, deployments, fleet
from controller.store.freshness import Moment
from margrave.errors import Conflict, NotFound, Refused
from tests.support.registry import FakeRegistry
from tests.support.works import ADA, Works, git


@pytest.fixture
def works(tmp_path: Path) -> Iterator[Works]:
    registry = FakeRegistry().start()
    bind = {"bind": "127.0.0.1:1"}  # nothing answers there
    works = Works(tmp_path / "state", registry, http=bind).with_apps("harbor")
    yield works
    works.store.close()
    registry.stop()


def test_init_makes_a_controller(tmp_path: Path) -> None:
    """Init makes configuration, database, signing key and repository, and shows secrets once."""
    done = CliRunner().invoke(init, [str(tmp_path / "c"), "-o", "json"], catch_exceptions=False)
    made: dict[str, Any] = json.loads(done.output)
    config = Path(made["config"])
    assert config.stat().st_mode & 0o777 == 0o600
    loaded = settings.load(config, {})
    assert loaded.git.signing_key is not None
    assert made["signing_key"].startswith("ssh-ed25519 ")
    store = Store(loaded.database_url)
    with store.session() as session:
        assert access.admins(session) == 1
    store.close()
    assert git(loaded.repository, "log", "--format=%s", "main") == "Begin\n"
    files = [path for path in (tmp_path / "c").rglob("*") if path.is_file()]
    assert not [path for path in files if made["token"].encode() in path.read_bytes()]
    with pytest.raises(Conflict, match="is there already"):
        CliRunner().invoke(init, [str(tmp_path / "c")], catch_exceptions=False)


def test_commits_are_signed(tmp_path: Path) -> None:
    """With a signing key each commit carries a signature that its public half confirms."""
    done = CliRunner().invoke(init, [str(tmp_path / "c"), "-o", "json"], catch_exceptions=False)
    made = json.loads(done.output)
    key = {"signing_key": str(tmp_path / "c" / "state" / "keys" / "signing")}
    registry = FakeRegistry().start()
    works = Works(tmp_path / "state", registry, git=key)
    works.sites.create({"name": "harbor"}, ADA)
    signers = tmp_path / "signers"
    signers.write_text(f"margrave@localhost {made['signing_key']}\n")
    told = git(
        works.repository.folder,
        "-c",
        f"gpg.ssh.allowedSignersFile={signers}",
        "verify-commit",
        "main",
    )
    assert "Good" in told
    works.store.close()
    registry.stop()


def test_backup_and_restore(works: Works, tmp_path: Path) -> None:
    """A restored controller stands where the backup was made; what was there is kept aside."""
    one = works.create("harbor")["deployments"][0]
    works.publisher.publish_all()
    head = works.repository.head()
    about = backup(works.settings, tmp_path / "backup.tar.gz")
    assert about["head"] == head
    works.act("update", one["id"], parameters={"greeting": "later"})
    works.publisher.publish_all()
    later = works.repository.head()
    with works.store.write() as session:
        fleet.tell_site(session, "harbor", {"applied_commit": later})
    works.store.close()
    done = restore(works.settings, tmp_path / "backup.tar.gz")
    assert Path(done["aside"], "margrave.db").is_file()
    works.start()
    works.publisher.refresh()
    assert works.repository.head() == head
    assert b"value: hello\n" in works.document(one)


def test_restored_behind_a_site(works: Works, tmp_path: Path) -> None:
    """Sites that have applied a commit which the restored repository lacks are named."""
    with works.store.write() as session:
        fleet.tell_site(session, "harbor", {"applied_commit": "f" * 40})
    backup(works.settings, tmp_path / "backup.tar.gz")
    works.store.close()
    assert restore(works.settings, tmp_path / "backup.tar.gz")["must_accept"] == ["harbor"]


def test_restore_refuses_what_is_none(works: Works, tmp_path: Path) -> None:
    """A file that is no backup changes nothing."""
    head = works.repository.head()
    (tmp_path / "odd").write_bytes(b"x")
    with pytest.raises(Refused, match="no backup of ours"):
        restore(works.settings, tmp_path / "odd")
    with pytest.raises(NotFound):
        restore(works.settings, tmp_path / "none")
    assert works.repository.head() == head


def test_rebuild_from_git(works: Works) -> None:
    """A database made anew from Git knows the same deployments, sites, people and sources."""
    one = works.create("harbor", version="1.0.0")["deployments"][0]
    works.sites.change("harbor", {"labels": {"zone": "shop"}}, ADA)
    works.publisher.publish_all()
    works.store.close()
    done = rebuild(works.settings)
    assert done["without_token"] == ["harbor"]
    works.start()
    with works.store.session() as session:
        key = deployments.find(session, one["id"])
        assert key is not None
        assert (key.site, key.in_git, key.version) == ("harbor", True, "1.0.0")
    works.act("update", one["id"], version="1.1.0")
    works.publisher.publish_all()
    assert b"version: 1.1.0\n" in works.document(one)


def test_rebuild_without_the_old_one(works: Works) -> None:
    """When the old database is lost, what Git knows is still there."""
    one = works.create("harbor")["deployments"][0]
    works.publisher.publish_all()
    works.store.close()
    shutil.rmtree(works.settings.state.dir / "sources", ignore_errors=True)
    (works.settings.state.dir / "margrave.db").write_bytes(b"spoilt" * 1000)
    done = rebuild(works.settings)
    assert done["carried"] == {}
    works.start()
    with works.store.session() as session:
        assert deployments.find(session, one["id"]) is not None


def test_commands_of_the_room(tmp_path: Path) -> None:
    """Migrate on what init made has nothing to do; restore asks first."""
    CliRunner().invoke(init, [str(tmp_path / "c"), "-o", "json"], catch_exceptions=False)
    config = str(tmp_path / "c" / "margrave.toml")
    done = CliRunner().invoke(controller, ["migrate", "--config", config], catch_exceptions=False)
    assert done.output == "Nothing to do.\n"
    target = str(tmp_path / "b.tar.gz")
    done = CliRunner().invoke(controller, ["backup", target, "--config", config])
    assert "database" in done.output
    done = CliRunner().invoke(controller, ["restore", target, "--config", config], input="n\n")
    assert done.exit_code == 1


def test_rebuild_reads_past_bad_files(
    works: Works, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document and a source that break their readers are findings; all other files are read."""
    works.create("harbor", name="poison")
    works.publisher.publish_all()
    git(tmp_path, "clone", "-q", str(works.repository.folder), "clone")
    (tmp_path / "clone" / "sites" / "depot.yaml").write_text("labels: {zone: north}\n")
    git(tmp_path / "clone", "add", ".")
    git(tmp_path / "clone", "commit", "-qm", "Add a site")
    program = "git -c core.hooksPath=/dev/null receive-pack"
    git(tmp_path / "clone", "push", "-q", f"--receive-pack={program}")
    works.store.close()

    def broken(*_: object) -> None:
        raise ValueError("invalid literal for int() with base 10: '²'")

    monkeypatch.setattr("controller.publish.said.deployment_values", broken)
    monkeypatch.setattr("controller.catalog.sync.read_packages", broken)
    about = rebuild(works.settings)
    assert "int()" in about["findings"][0]
    works.start()
    with works.store.session() as session:
        found = dict(fleet.sites(session, Moment(works.clock()), after=None, limit=9))
    assert found[("depot",)]["labels"] == {"zone": "north"}
    (finding,) = found[("harbor",)]["findings"]
    assert finding["file"].startswith("deployments/harbor/")
    assert "int()" in finding["message"]


def test_a_running_controller_is_noticed_on_ipv6(works: Works, tmp_path: Path) -> None:
    """Restore and rebuild look at the bind whatever family it has: refused while it answers."""
    backup(works.settings, tmp_path / "b.tar.gz")
    with socket.socket(socket.AF_INET6) as listening:
        listening.bind(("::1", 0))
        listening.listen()
        bind = f"[::1]:{listening.getsockname()[1]}"
        http = works.settings.http.model_copy(update={"bind": bind})
        settings = works.settings.model_copy(update={"http": http})
        with pytest.raises(Refused, match="something answers at"):
            restore(settings, tmp_path / "b.tar.gz")
    restore(settings, tmp_path / "b.tar.gz")
