"""Backup and restore: the database and the deployments repository in one file."""

from __future__ import annotations

import json
import os
import shutil
import socket
import tarfile
import tempfile
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from controller.gate.git_command import GitCommand, GitFailed
from controller.publish import Repository
from controller.store import Store, documents
from margrave.errors import MargraveError, NotFound, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.settings import ControllerSettings

DATABASE: Final = "margrave.db"
BUNDLE: Final = "deployments.bundle"
ABOUT: Final = "about.json"
FORMAT: Final = 1
_NAMES: Final = frozenset({DATABASE, BUNDLE, ABOUT})


def backup(settings: ControllerSettings, target: Path) -> dict[str, Any]:
    """Write a backup, consistent while the controller runs; what it holds."""
    repository = Repository(settings)
    with _nearby(target.resolve().parent) as folder:
        store = Store(settings.database_url)
        try:
            # The database first: a commit that comes in between is read from Git afterwards.
            store.copy_to(folder / DATABASE)
        finally:
            store.close()
        head = repository.head() if repository.own else None
        if head is not None:
            repository.git("bundle", "create", "--quiet", str(folder / BUNDLE), "--all")
        about = {"format": FORMAT, "made_at": datetime.now(UTC).isoformat(), "head": head}
        (folder / ABOUT).write_text(json.dumps(about), encoding="utf-8")
        draft = folder / "backup.tar.gz"
        with tarfile.open(draft, "w:gz") as tar:
            for name in sorted(_NAMES):
                if (folder / name).exists():
                    tar.add(folder / name, arcname=name)
        draft.chmod(0o600)  # it holds hashes of passwords and tokens
        draft.replace(target)
    return about


def restore(settings: ControllerSettings, source: Path) -> dict[str, Any]:
    """Put a backup in place of what is there, which is kept beside it; what was done."""
    must_be_stopped(settings)
    settings.state.dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _nearby(settings.state.dir) as folder:
        about = _unpack(source, folder)
        fresh = folder / "deployments.git"
        if about["head"]:
            _clone(folder / BUNDLE, fresh)
        aside = _aside(settings)
        database = _database_file(settings)
        for suffix in ("", "-wal", "-shm"):
            old = database.with_name(database.name + suffix)
            if old.exists():
                aside.mkdir(exist_ok=True)
                old.rename(aside / old.name)
        (folder / DATABASE).rename(database)
        repository = Repository(settings)
        if about["head"] and repository.own:
            if repository.folder.exists():
                aside.mkdir(exist_ok=True)
                repository.folder.rename(aside / repository.folder.name)
            repository.folder.parent.mkdir(parents=True, exist_ok=True)
            fresh.rename(repository.folder)
            repository.prepare()
    return {**about, "aside": str(aside), "must_accept": _ahead(settings, repository)}


def must_be_stopped(settings: ControllerSettings) -> None:
    """Refused while the controller answers at its address."""
    host, _, port = settings.http.bind.rpartition(":")
    with socket.socket() as probe:
        probe.settimeout(1)
        if port.isdigit() and probe.connect_ex((host.strip("[]") or "127.0.0.1", int(port))) == 0:
            words = f"something answers at {settings.http.bind}"
            raise Refused(words, "stop the controller first")


def _unpack(source: Path, folder: Path) -> dict[str, Any]:
    if not source.is_file():
        raise NotFound(f"{source}: is not there", "name the file that backup wrote")
    try:
        with tarfile.open(source, "r:gz") as tar:
            for member in tar:
                if member.name not in _NAMES or not member.isfile():
                    raise Refused(f"{source}: holds {member.name}", "it is no backup of ours")
                data = tar.extractfile(member)
                assert data is not None
                with (folder / member.name).open("wb") as file:
                    shutil.copyfileobj(data, file)
        about: dict[str, Any] = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    except (tarfile.TarError, OSError, ValueError) as error:
        raise Refused(f"{source}: cannot be read: {error}", "it is no backup of ours") from error
    if about.get("format") != FORMAT or not (folder / DATABASE).is_file():
        raise Refused(f"{source}: is of another format", "restore it with the version that made it")
    return about


def _clone(bundle: Path, target: Path) -> None:
    git = GitCommand(target)
    git("init", "--quiet", "--bare", "--initial-branch=main")
    try:
        git("fetch", "--quiet", str(bundle), "refs/*:refs/*")
    except GitFailed as error:
        raise Refused(f"the bundle cannot be read: {error}", "take an older backup") from error


def _database_file(settings: ControllerSettings) -> Path:
    found = settings.database_url.removeprefix("sqlite:///")
    if found == settings.database_url:
        raise Refused("the database is not SQLite", "restore it with the database's own tools")
    return Path(found)


def _ahead(settings: ControllerSettings, repository: Repository) -> list[str]:
    """Sites that have applied a commit which the restored repository does not have."""
    store = Store(settings.database_url)
    try:
        with store.session() as session:
            applied = documents.applied_commits(session)
    except MargraveError:
        return []
    finally:
        store.close()
    return sorted(site for site, commit in applied.items() if not repository.has(commit))


def _aside(settings: ControllerSettings) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    return settings.state.dir / f"before-restore-{stamp}"


@contextmanager
def _nearby(parent: Path) -> Iterator[Path]:
    """A private folder on the same file system, so that what is ready moves into place at once."""
    with tempfile.TemporaryDirectory(dir=parent, prefix=".margrave-") as name:
        os.chmod(name, 0o700)  # noqa: PTH101 - the folder is a name here
        yield Path(name)
