"""Backup: database, deployments repository, signing key and configuration in one file."""

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

from controller.publish import Repository
from controller.store import Store
from margrave.errors import Conflict, NotFound, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.settings import ControllerSettings

DATABASE: Final = "margrave.db"
BUNDLE: Final = "deployments.bundle"
ABOUT: Final = "about.json"
FORMAT: Final = 1
SIGNING: Final = "signing"
CONFIG: Final = "margrave.toml"
NAMES: Final = frozenset({DATABASE, BUNDLE, ABOUT, SIGNING, f"{SIGNING}.pub", CONFIG})


def silent(_: str) -> None:
    """Nobody wants to hear of steps."""


def backup(
    settings: ControllerSettings,
    target: Path,
    tell: Callable[[str], None] = silent,
    *,
    config: Path | None = None,
    force: bool = False,
) -> dict[str, Any]:
    """Write a backup, consistent while the controller runs, and return what it holds.

    `config` is the file that the settings were read from. An existing target is overwritten with
    `force` only. `tell` hears of each step that may take a while.
    """
    _check_target(target, force=force)
    repository = Repository(settings)
    with nearby(target.resolve().parent) as folder:
        _copy_database(settings, folder, tell)
        head = repository.head() if repository.own else None
        if head is not None:
            tell("bundling the repository")
            repository.git("bundle", "create", "--quiet", str(folder / BUNDLE), "--all")
        for name, file in {**signing_files(settings), CONFIG: config}.items():
            if file is not None and file.is_file():
                shutil.copyfile(file, folder / name)
        about = {"format": FORMAT, "made_at": datetime.now(UTC).isoformat(), "head": head}
        (folder / ABOUT).write_text(json.dumps(about), encoding="utf-8")
        tell("packing")
        draft = _packed(folder)
        _check_target(target, force=force)  # somebody may have written it meanwhile
        draft.replace(target)
    return about


def _check_target(target: Path, *, force: bool) -> None:
    if not target.parent.is_dir():
        raise NotFound(f"{target.parent}: is no folder", "make it, or name another")
    if target.is_dir():
        raise Refused(f"{target}: is a folder", "name the file that the backup is to be")
    if target.exists() and not force:
        raise Conflict(
            f"{target}: exists already, and was left as it is",
            "name another file, or overwrite this one with --force",
        )


def _copy_database(settings: ControllerSettings, folder: Path, tell: Callable[[str], None]) -> None:
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


def _packed(folder: Path) -> Path:
    draft = folder / "backup.tar.gz"
    with tarfile.open(draft, "w:gz") as tar:
        for name in sorted(NAMES):
            if (folder / name).exists():
                tar.add(folder / name, arcname=name)
    draft.chmod(0o600)  # it holds a private key, and hashes of passwords and tokens
    return draft


def put_database(settings: ControllerSettings, fresh: Path, aside: Path) -> None:
    """Put a SQLite file's content in place of the database, which is kept aside."""
    file = database_file(settings)
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
    if database_file(settings) is None:
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


def signing_files(settings: ControllerSettings) -> dict[str, Path]:
    """Return the halves of the signing key, by their names in a backup.

    Without it sites would not trust the commits of the restored controller.
    """
    key = settings.git.signing_key
    return {SIGNING: key, f"{SIGNING}.pub": key.with_name(f"{key.name}.pub")} if key else {}


def database_file(settings: ControllerSettings) -> Path | None:
    """SQLite's file; None where a server has the database."""
    found = settings.database_url.removeprefix("sqlite:///")
    return None if found == settings.database_url else Path(found)


@contextmanager
def nearby(parent: Path) -> Iterator[Path]:
    """A private folder on the same file system, so that what is ready moves into place at once."""
    with tempfile.TemporaryDirectory(dir=parent, prefix=".margrave-") as name:
        os.chmod(name, 0o700)  # noqa: PTH101 - the folder is a name here
        yield Path(name)
