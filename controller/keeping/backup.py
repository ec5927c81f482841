"""Backup and restore: database, deployments repository and signing key in one file."""

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
    from collections.abc import Callable, Iterator

    from controller.settings import ControllerSettings

DATABASE: Final = "margrave.db"
BUNDLE: Final = "deployments.bundle"
ABOUT: Final = "about.json"
FORMAT: Final = 1
SIGNING: Final = "signing"
_NAMES: Final = frozenset({DATABASE, BUNDLE, ABOUT, SIGNING, f"{SIGNING}.pub"})


def silent(_: str) -> None:
    """Nobody wants to hear of steps."""


def backup(
    settings: ControllerSettings, target: Path, tell: Callable[[str], None] = silent
) -> dict[str, Any]:
    """Write a backup, consistent while the controller runs; what it holds. `tell` hears of each
    step that may take a while."""
    if not target.parent.is_dir():
        raise NotFound(f"{target.parent}: is no folder", "make it, or name another")
    if target.is_dir():
        raise Refused(f"{target}: is a folder", "name the file that the backup is to be")
    repository = Repository(settings)
    with nearby(target.resolve().parent) as folder:
        store = Store(settings.database_url)
        try:
            problem = store.schema_problem()
            if problem:
                raise Refused(problem)
            tell("copying the database")
            # The database first: a commit that comes in between is read from Git afterwards.
            store.copy_to(folder / DATABASE)
        finally:
            store.close()
        head = repository.head() if repository.own else None
        if head is not None:
            tell("bundling the repository")
            repository.git("bundle", "create", "--quiet", str(folder / BUNDLE), "--all")
        for name, key in _keys(settings).items():
            if key.is_file():
                shutil.copyfile(key, folder / name)
        about = {"format": FORMAT, "made_at": datetime.now(UTC).isoformat(), "head": head}
        (folder / ABOUT).write_text(json.dumps(about), encoding="utf-8")
        tell("packing")
        draft = folder / "backup.tar.gz"
        with tarfile.open(draft, "w:gz") as tar:
            for name in sorted(_NAMES):
                if (folder / name).exists():
                    tar.add(folder / name, arcname=name)
        draft.chmod(0o600)  # it holds a private key, and hashes of passwords and tokens
        draft.replace(target)
    return about


def restore(
    settings: ControllerSettings, source: Path, tell: Callable[[str], None] = silent
) -> dict[str, Any]:
    """Put a backup in place of what is there, which is kept beside it; what was done."""
    must_be_stopped(settings)
    settings.state.dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with nearby(settings.state.dir) as folder:
        tell("unpacking")
        about = _unpack(source, folder)
        tell("bringing the database to this version's schema")
        _migrated(folder / DATABASE)
        fresh = folder / "deployments.git"
        if about["head"]:
            _clone(folder / BUNDLE, fresh)
        tell("putting it in place")
        aside = aside_folder(settings, "restore")
        put_database(settings, folder / DATABASE, aside)
        repository = Repository(settings)
        if about["head"] and repository.own:
            if repository.folder.exists():
                aside.mkdir(exist_ok=True)
                repository.folder.rename(aside / repository.folder.name)
            repository.folder.parent.mkdir(parents=True, exist_ok=True)
            fresh.rename(repository.folder)
        for name, key in _keys(settings).items():
            if (folder / name).is_file() and not key.exists():
                key.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                shutil.copyfile(folder / name, key)
                key.chmod(0o600)
        tell("looking which sites are ahead of it")
        told = _ready(repository)
    ahead = _ahead(settings, repository) if not told else []
    return {**about, "aside": str(aside), "must_accept": ahead, "findings": told}


def put_database(settings: ControllerSettings, fresh: Path, aside: Path) -> None:
    """Put a SQLite file's content in place of the database, which is kept aside."""
    file = _database_file(settings)
    if file is None:
        store = Store(settings.database_url)
        try:
            if not store.schema_problem():
                aside.mkdir(exist_ok=True)
                store.copy_to(aside / DATABASE)
            store.replace_with(fresh)
        finally:
            store.close()
        return
    for suffix in ("", "-wal", "-shm"):
        old = file.with_name(file.name + suffix)
        if old.exists():
            aside.mkdir(exist_ok=True)
            old.rename(aside / old.name)
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh.rename(file)


def aside_folder(settings: ControllerSettings, what: str) -> Path:
    """Where what was there is kept; it is made when there is something."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    return settings.state.dir / f"before-{what}-{stamp}"


def must_be_stopped(settings: ControllerSettings) -> None:
    """Refused while the controller answers at its address."""
    if _answers(settings.http.bind):
        words = f"something answers at {settings.http.bind}"
        raise Refused(words, "stop the controller first")
    if _database_file(settings) is None:
        store = Store(settings.database_url)
        try:
            others = store.others()
        finally:
            store.close()
        if others:
            words = f"the database has {others} connections of controllers that run"
            raise Refused(words, "stop them first, on every machine")


def _answers(bind: str) -> bool:
    """Whether something listens at an address of any family; a wildcard means this machine."""
    host, _, port = bind.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=1):
            return True
    except (OSError, ValueError):
        return False


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


def _migrated(file: Path) -> None:
    """A backup of an older version is brought to this one's schema before anything is replaced."""
    store = Store(f"sqlite:///{file}")
    try:
        store.migrate()
    finally:
        store.close()


def _keys(settings: ControllerSettings) -> dict[str, Path]:
    """The signing key's halves: without it sites would not believe the restored controller."""
    key = settings.git.signing_key
    return {SIGNING: key, f"{SIGNING}.pub": key.with_name(f"{key.name}.pub")} if key else {}


def _database_file(settings: ControllerSettings) -> Path | None:
    """SQLite's file; None where a server has the database."""
    found = settings.database_url.removeprefix("sqlite:///")
    return None if found == settings.database_url else Path(found)


def _ready(repository: Repository) -> list[str]:
    """Bring the repository here, or say that it cannot be told who has to accept."""
    try:
        repository.prepare()
        repository.refresh()
    except MargraveError as error:
        return [f"it cannot be told which sites have to accept: {error}"]
    return []


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


@contextmanager
def nearby(parent: Path) -> Iterator[Path]:
    """A private folder on the same file system, so that what is ready moves into place at once."""
    with tempfile.TemporaryDirectory(dir=parent, prefix=".margrave-") as name:
        os.chmod(name, 0o700)  # noqa: PTH101 - the folder is a name here
        yield Path(name)
