"""Restore a backup: database, deployments repository and signing key; the present ones are kept."""

from __future__ import annotations

import json
import shutil
import tarfile
from typing import TYPE_CHECKING, Any

from controller.gate.git_command import GitCommand, GitFailed
from controller.keeping import rewound
from controller.keeping.backup import (
    ABOUT,
    BUNDLE,
    CONFIG,
    DATABASE,
    FORMAT,
    NAMES,
    SIGNING,
    aside_folder,
    must_be_stopped,
    nearby,
    put_database,
    signing_files,
    silent,
)
from controller.keeping.configuration import put_beside
from controller.publish import Repository
from controller.store import Store
from margrave.errors import NotFound, Refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from controller.settings import ControllerSettings


def restore(
    settings: ControllerSettings,
    source: Path,
    tell: Callable[[str], None] = silent,
    *,
    config: Path | None = None,
) -> dict[str, Any]:
    """Put a backup in place, keep the present state beside it, and return what was done.

    `config` is the file that the settings were read from: it stays, for it says where to restore.
    """
    must_be_stopped(settings)
    settings.state.dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with nearby(settings.state.dir) as folder:
        tell("unpacking")
        about = _unpack(source, folder)
        tell("bringing the database to this version's schema")
        _migrate(folder / DATABASE)
        fresh = folder / "deployments.git"
        if about["head"]:
            _clone(folder / BUNDLE, fresh)
        before = rewound.observe(settings)
        tell("putting it in place")
        aside = aside_folder(settings, "restore")
        put_database(settings, folder / DATABASE, aside)
        repository = Repository(settings)
        if about["head"] and repository.own:
            _put_repository(repository, fresh, aside)
        findings = _put_signing_key(settings, folder, aside)
        if config is not None and (folder / CONFIG).is_file():
            findings += put_beside(config, (folder / CONFIG).read_bytes())
        tell("comparing what sites have applied with it")
        sites = rewound.compare(settings, repository, before)
    return {
        **about,
        "aside": str(aside),
        "must_accept": sites.must_accept,
        "may_have_to_accept": sites.may_have_to_accept,
        "accept": sites.commands,
        "findings": [*findings, *sites.findings],
    }


def _put_repository(repository: Repository, fresh: Path, aside: Path) -> None:
    if repository.folder.exists():
        aside.mkdir(exist_ok=True)
        repository.folder.rename(aside / repository.folder.name)
    repository.folder.parent.mkdir(parents=True, exist_ok=True)
    fresh.rename(repository.folder)


def _put_signing_key(settings: ControllerSettings, folder: Path, aside: Path) -> list[str]:
    """Put the backup's signing key in place; return what the operator has to know about it."""
    wanted = signing_files(settings)
    if not (folder / SIGNING).is_file():
        if wanted and wanted[SIGNING].is_file():
            words = f"the backup holds no signing key: commits are signed with {wanted[SIGNING]}"
            return [f"{words}; runners need its public half in git.allowed_signers"]
        return []
    findings = []
    if not wanted:
        key = settings.state.dir / "keys" / SIGNING
        wanted = {SIGNING: key, f"{SIGNING}.pub": key.with_name(f"{SIGNING}.pub")}
        findings.append(
            f"the backup holds a signing key, and the configuration names none: runners may"
            f' refuse commits without it; add to [git]: signing_key = "{key}"'
        )
    for name, key in wanted.items():
        if (folder / name).is_file():
            _put_key(folder / name, key, aside)
    return findings


def _put_key(source: Path, key: Path, aside: Path) -> None:
    if key.exists():
        if key.read_bytes() == source.read_bytes():
            return
        aside.mkdir(exist_ok=True)
        shutil.move(key, aside / source.name)
    key.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copyfile(source, key)
    key.chmod(0o600)


def _unpack(source: Path, folder: Path) -> dict[str, Any]:
    if not source.is_file():
        raise NotFound(f"{source}: is not there", "name the file that backup wrote")
    try:
        with tarfile.open(source, "r:gz") as tar:
            for member in tar:
                if member.name not in NAMES or not member.isfile():
                    raise Refused(f"{source}: holds {member.name}", "it is no backup of ours")
                data = tar.extractfile(member)
                assert data is not None
                with (folder / member.name).open("wb") as file:
                    shutil.copyfileobj(data, file)
        about: dict[str, Any] = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    except (tarfile.TarError, OSError, ValueError, EOFError) as error:
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


def _migrate(file: Path) -> None:
    """Bring a backup of an older version to this schema before anything is replaced."""
    store = Store(f"sqlite:///{file}")
    try:
        store.migrate()
    finally:
        store.close()
