"""A controller comes back from a backup, or from Git alone, with a way in and every next step."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from controller.access import passwords
from controller.cli import controller
from controller.keeping.backup import backup
from controller.keeping.rebuild import rebuild
from controller.keeping.restore import restore
from controller.settings import ControllerSettings
from controller.store import access, audit, fleet
from margrave.errors import Conflict
from tests.support import postgres
from tests.support.registry import FakeRegistry
from tests.support.runner_process import free_port
from tests.support.works import ADA, Works


@pytest.fixture
def works(tmp_path: Path) -> Iterator[Works]:
    """A controller with two sites, an app source and one deployment."""
    registry = FakeRegistry().start()
    made = Works(tmp_path / "state", registry, http={"bind": f"127.0.0.1:{free_port()}"}).with_apps(
        "harbor", "depot"
    )
    made.create("harbor")
    made.publisher.publish_all()
    yield made
    made.store.close()
    registry.stop()


@pytest.fixture
def config(works: Works, tmp_path: Path) -> Path:
    """The configuration file of that controller."""
    return _config(tmp_path / "margrave.toml", works.settings)


def _config(path: Path, settings: ControllerSettings, more: str = "") -> Path:
    text = f'[state]\ndir = "{settings.state.dir}"\n[http]\nbind = "{settings.http.bind}"\n'
    if settings.database.url:
        text += f'[database]\nurl = "{settings.database.url}"\n'
    path.write_text(text + more)
    return path


def _run(*words: str | Path) -> Any:
    return CliRunner().invoke(controller, [str(word) for word in words])


def _applied(works: Works, **commits: str | None) -> None:
    with works.store.write() as session:
        for site, commit in commits.items():
            fleet.tell_site(session, site, {"applied_commit": commit})


def _lose_database(works: Works) -> None:
    works.store.close()
    if works.settings.database.url:
        postgres.empty(works.settings.database.url)
    else:
        (works.settings.state.dir / "margrave.db").unlink()


def test_after_a_rebuild_without_the_database_an_admin_can_be_made(
    works: Works, config: Path
) -> None:
    """Rebuild prints the command that makes an admin, and the new admin can sign in."""
    _lose_database(works)
    done = _run("rebuild", "--yes", "--config", config)
    assert done.exit_code == 0, done.output
    assert "margrave controller add-admin" in done.output
    made = _run("add-admin", "grace", "--config", config, "-o", "json")
    assert made.exit_code == 0, made.output
    answer = json.loads(made.output)
    works.start()
    with works.store.session() as session:
        person = access.user(session, "grace")
        assert person is not None
        assert (person["role"], person["sites"]) == ("admin", None)
        assert passwords.verify(person["password_hash"], answer["password"])
        assert access.token(session, passwords.token_hash(answer["token"]), works.clock())
        newest = audit.listing(session, after=None, limit=1)[0][1]
    assert (newest["action"], newest["target"]) == ("user.create", "grace")
    assert newest["actor"].startswith("local:")


def test_an_admin_who_forgot_the_password_gets_a_new_one(works: Works, config: Path) -> None:
    """An existing user is refused, and with --reset has the role, all sites and a new password."""
    with works.store.write() as session:
        person = {"name": "ada", "password_hash": "x", "role": "viewer", "sites": ["depot"]}
        access.add_user(session, {**person, "disabled": True, "created_at": works.clock()})
    assert isinstance(_run("add-admin", "ada", "--config", config).exception, Conflict)
    answer = json.loads(
        _run("add-admin", "ada", "--reset", "--config", config, "-o", "json").output
    )
    with works.store.session() as session:
        now = access.user(session, "ada")
    assert now is not None
    assert (now["role"], now["sites"], now["disabled"]) == ("admin", None, False)
    assert passwords.verify(now["password_hash"], answer["password"])


def test_rebuild_names_no_command_where_an_admin_is_left(works: Works) -> None:
    """People are carried over from a database that can be read."""
    with works.store.write() as session:
        person = {"name": "ada", "password_hash": "x", "role": "admin", "sites": None}
        access.add_user(session, {**person, "created_at": works.clock()})
    works.store.close()
    assert rebuild(works.settings)["without_admin"] is False


def test_rebuild_names_what_is_lost_with_the_old_database(works: Works, config: Path) -> None:
    """Without it no application source is known: the command that adds one is named."""
    _lose_database(works)
    done = _run("rebuild", "--yes", "--config", config)
    assert done.exit_code == 0, done.output
    assert "add each with margrave source add" in done.output
    assert "margrave controller add-admin" in done.output


def test_a_backup_does_not_overwrite_a_file(works: Works, tmp_path: Path, config: Path) -> None:
    """The target stays as it was without --force."""
    target = tmp_path / "kept.tar.gz"
    target.write_text("the backup of last year")
    done = _run("backup", target, "--config", config)
    assert isinstance(done.exception, Conflict)
    assert target.read_text() == "the backup of last year"
    assert _run("backup", target, "--force", "--config", config).exit_code == 0
    assert tarfile.is_tarfile(target)


def test_a_backup_holds_the_configuration(works: Works, tmp_path: Path, config: Path) -> None:
    """A restore under another configuration keeps that one, puts the backup's beside it, and names
    the keys that differ, without their values."""
    config = _config(config, works.settings, '[hooks]\nsecrets = ["s3cr3t"]\n')
    original = config.read_bytes()
    assert _run("backup", tmp_path / "b", "--config", config).exit_code == 0
    works.store.close()
    now = _config(tmp_path / "other.toml", works.settings, '[log]\nformat = "json"\n')
    before = now.read_bytes()
    done = _run("restore", tmp_path / "b", "--yes", "--config", now)
    assert done.exit_code == 0, done.output
    assert now.read_bytes() == before
    beside = tmp_path / "other.toml.from-backup"
    assert beside.read_bytes() == original
    assert beside.stat().st_mode & 0o777 == 0o600
    assert "hooks.secrets, log.format" in done.output
    assert "s3cr3t" not in done.output


def test_the_same_configuration_is_not_put_beside_itself(
    works: Works, tmp_path: Path, config: Path
) -> None:
    """Nothing to say about a configuration that is as it was."""
    assert _run("backup", tmp_path / "b", "--config", config).exit_code == 0
    works.store.close()
    assert _run("restore", tmp_path / "b", "--yes", "--config", config).exit_code == 0
    assert not list(tmp_path.glob("*.from-backup"))


def _signing(works: Works, folder: Path, content: str | None) -> ControllerSettings:
    key = folder / "signing"
    folder.mkdir(exist_ok=True)
    if content is not None:
        key.write_text(f"{content} private")
        key.with_name("signing.pub").write_text(f"{content} public")
    git = works.settings.git.model_copy(update={"signing_key": key})
    return works.settings.model_copy(update={"git": git})


def test_the_signing_key_of_the_backup_is_restored(works: Works, tmp_path: Path) -> None:
    """In an initialised directory the new key is kept aside: runners trust the old one."""
    backup(_signing(works, tmp_path / "old", "old"), tmp_path / "b")
    works.store.close()
    settings = _signing(works, tmp_path / "new", "new")
    done = restore(settings, tmp_path / "b")
    assert (tmp_path / "new" / "signing").read_text() == "old private"
    assert (tmp_path / "new" / "signing.pub").read_text() == "old public"
    assert (tmp_path / "new" / "signing").stat().st_mode & 0o777 == 0o600
    assert (Path(done["aside"]) / "signing").read_text() == "new private"
    assert (Path(done["aside"]) / "signing.pub").read_text() == "new public"
    assert done["findings"] == []


def test_a_backup_without_signing_key_is_reported(works: Works, tmp_path: Path) -> None:
    """The key that is here stays, and the operator reads that runners may not trust it."""
    backup(works.settings, tmp_path / "b")
    works.store.close()
    done = restore(_signing(works, tmp_path / "new", "new"), tmp_path / "b")
    assert (tmp_path / "new" / "signing").read_text() == "new private"
    assert "git.allowed_signers" in done["findings"][0]


def test_a_signing_key_that_is_not_configured_is_reported(works: Works, tmp_path: Path) -> None:
    """It is put into the state folder, and the finding names the setting."""
    backup(_signing(works, tmp_path / "old", "old"), tmp_path / "b")
    works.store.close()
    done = restore(works.settings, tmp_path / "b")
    key = works.settings.state.dir / "keys" / "signing"
    assert key.read_text() == "old private"
    assert f'signing_key = "{key}"' in done["findings"][0]


def test_sites_that_applied_later_commits_are_named_with_the_command(
    works: Works, tmp_path: Path, config: Path
) -> None:
    """The replaced database knows the commits that sites applied after the backup."""
    backup(works.settings, tmp_path / "b")
    head = works.repository.head()
    works.sites.change("harbor", {"labels": {"zone": "shop"}}, ADA)
    works.publisher.publish_all()
    _applied(works, harbor=works.repository.head(), depot=head)
    works.store.close()
    done = _run("restore", tmp_path / "b", "--yes", "--config", config, "-o", "json")
    assert done.exit_code == 0, done.output
    answer = json.loads(done.output)
    assert answer["must_accept"] == ["harbor"]
    assert answer["may_have_to_accept"] == ["depot"]
    assert f"margrave site accept harbor --commit {head}" in answer["accept"]


def test_restored_on_another_machine_every_site_is_named(works: Works, tmp_path: Path) -> None:
    """There nobody knows what sites applied after the backup: each has its command."""
    backup(works.settings, tmp_path / "b")
    head = works.repository.head()
    _lose_database(works)
    fresh = works.settings.model_copy(
        update={"state": works.settings.state.model_copy(update={"dir": tmp_path / "fresh"})}
    )
    done = restore(fresh, tmp_path / "b")
    assert done["must_accept"] == []
    assert done["may_have_to_accept"] == ["depot", "harbor"]
    assert done["accept"] == [
        f"margrave site accept {site} --commit {head}" for site in ("depot", "harbor")
    ]


def test_nobody_has_to_accept_where_nothing_was_lost(works: Works, tmp_path: Path) -> None:
    """A backup of the present commit asks nothing of any site."""
    _applied(works, harbor=works.repository.head())
    backup(works.settings, tmp_path / "b")
    works.store.close()
    done = restore(works.settings, tmp_path / "b")
    assert (done["must_accept"], done["may_have_to_accept"], done["accept"]) == ([], [], [])
