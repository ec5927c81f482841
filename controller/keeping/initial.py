"""`margrave init`: configuration, database, keys, deployments repository, first admin."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from controller import settings
from controller.keeping.admins import NewAdmin, put_admin
from controller.keeping.files import write_private
from controller.publish import Repository
from controller.store import Store, access
from margrave.errors import Conflict, MargraveError

ADMIN: Final = "admin"
_NAMED: Final = 3  # of the things that stand in the way
_KEY: Final = "state/keys/signing"
# What init itself makes before the configuration, which comes last; and what a file system of its
# own begins with.
_OURS: Final = frozenset({"state", "margrave.new", "lost+found"})
_OURS_IN_STATE: Final = frozenset(
    {"git", "keys", "margrave.db", "margrave.db-shm", "margrave.db-wal", "margrave.db-journal"}
)
_CONFIG: Final = """\
# The controller's configuration. A key that is not known stops the start, and says which is meant.
# MARGRAVE_<SECTION>__<KEY> in the environment stands above this file.

[state]
dir = "state"

[http]
bind = "127.0.0.1:8800"

[catalog]
# Folders of this machine below which app sources may be; sources elsewhere are URLs.
local_roots = []
"""
_SIGNING: Final = f"""
[git]
# Signs each commit that the controller makes; runners that are to check it get the public half.
signing_key = "{_KEY}"
"""


_DATABASE: Final = """
[database]
url = {url}
"""


@dataclass(frozen=True)
class Made:
    """What was made; password and token are known here and nowhere else."""

    config: Path
    user: str
    password: str
    token: str
    signing_key: str  # the public half, empty when ssh-keygen is missing


def make(folder: Path, database: str = "") -> Made:
    """Make everything in the folder; Conflict when it holds a controller, or anything else.

    `database` is the URL of a PostgreSQL database that is there and empty; SQLite without one.
    """
    config = folder / settings.FILE_NAME
    _check_free(folder, config)
    folder.mkdir(parents=True, exist_ok=True)
    state = folder / "state"
    state.mkdir(mode=0o700, exist_ok=True)
    public = _signing_key(folder / _KEY)
    # Written whole or not at all: a file that is there means that init came to its end.
    draft = config.with_suffix(".new")
    # JSON's text is TOML's too.
    where = _DATABASE.format(url=json.dumps(database)) if database else ""
    write_private(draft, (_CONFIG + (_SIGNING if public else "") + where).encode())
    loaded = settings.load(draft, {})
    Repository(loaded).prepare()
    store = Store(loaded.database_url)
    store.migrate()
    try:
        admin = _admin(store)
    finally:
        store.close()
    draft.rename(config)
    return Made(config, admin.user, admin.password, admin.token, public)


def _check_free(folder: Path, config: Path) -> None:
    """Conflict for a folder with anything in it but what an init that was cut short left there."""
    if config.exists():
        raise Conflict(
            f"{config}: is there already, and was left as it is",
            f"serve it with margrave controller serve --config {config}, or choose another folder",
        )
    if folder.exists() and not folder.is_dir():
        raise Conflict(f"{folder}: is no folder", "choose another name")
    here = {path.name for path in folder.glob("*")} - _OURS
    foreign = sorted(here) or sorted(
        f"state/{path.name}" for path in folder.glob("state/*") if path.name not in _OURS_IN_STATE
    )
    if foreign:
        more = f" and {len(foreign) - _NAMED} more" if len(foreign) > _NAMED else ""
        raise Conflict(
            f"{folder}: holds other things already: {', '.join(foreign[:_NAMED])}{more}",
            f"choose a folder of its own, such as {folder / 'controller'}",
        )


def _admin(store: Store) -> NewAdmin:
    with store.write() as session:
        if access.admins(session) or access.user(session, ADMIN) is not None:
            words = "bring its margrave.toml back, or choose an empty folder and database"
            raise Conflict("the database is a controller's already: it has an admin", words)
        return put_admin(session, ADMIN, "init")


def _signing_key(path: Path) -> str:
    """Make an SSH key for signing commits; its public half."""
    if shutil.which("ssh-keygen") is None:
        return ""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "margrave", "-f", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise MargraveError(f"ssh-keygen: {done.stderr.strip()}", "check the folder's rights")
    return path.with_name(f"{path.name}.pub").read_text(encoding="utf-8").strip()
