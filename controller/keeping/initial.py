"""`margrave init`: configuration, database, keys, deployments repository, first admin."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from controller import settings
from controller.access import passwords
from controller.publish import Repository
from controller.store import Store, access
from controller.store.words import Role
from margrave.errors import Conflict, MargraveError

ADMIN: Final = "admin"
_KEY: Final = "state/keys/signing"
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
    """Make everything in the folder; Conflict when it holds a controller already.

    `database` is the URL of a PostgreSQL database that is there and empty; SQLite without one.
    """
    config = folder / settings.FILE_NAME
    if config.exists():
        raise Conflict(f"{config}: is there already", "choose an empty folder, or remove it")
    folder.mkdir(parents=True, exist_ok=True)
    state = folder / "state"
    state.mkdir(mode=0o700, exist_ok=True)
    public = _signing_key(folder / _KEY)
    # Written whole or not at all: a file that is there means that init came to its end.
    draft = config.with_suffix(".new")
    # JSON's text is TOML's too.
    where = _DATABASE.format(url=json.dumps(database)) if database else ""
    _write_private(draft, _CONFIG + (_SIGNING if public else "") + where)
    loaded = settings.load(draft, {})
    Repository(loaded).prepare()
    store = Store(loaded.database_url)
    store.migrate()
    password, token = secrets.token_urlsafe(15), passwords.new_token("mgt")
    try:
        _admin(store, password, token)
    finally:
        store.close()
    draft.rename(config)
    return Made(config, ADMIN, password, token, public)


def _admin(store: Store, password: str, token: str) -> None:
    now = datetime.now(UTC)
    with store.write() as session:
        if access.user(session, ADMIN) is not None:
            raise Conflict("the database has an admin already", "choose an empty folder")
        person = {
            "name": ADMIN,
            "password_hash": passwords.hash_password(password),
            "role": Role.ADMIN,
            "sites": None,
            "created_at": now,
        }
        access.add_user(session, person)
        first = {
            "id": str(uuid.uuid4()),
            "name": "made by init",
            "digest": passwords.token_hash(token),
            "role": Role.ADMIN,
            "sites": None,
            "user": ADMIN,
            "created_by": "init",
            "created_at": now,
        }
        access.add_token(session, first)


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


def _write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
