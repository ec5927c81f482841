"""`docs/howto/postgresql.md` on a PostgreSQL that asks for passwords, with its wrong turns."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.integration.docs.accounts import unexecuted
from tests.integration.docs.pages import Page
from tests.integration.docs.reader import Reader
from tests.support.postgres import Postgres, program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.full

PAGE = Page("postgresql")
PASSWORD = "between the two of us"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Postgres]:
    """Return a server of Debian's, where everybody but its own user needs a password."""
    server = Postgres(owner="postgres").start()
    rules = "local all postgres trust\nlocal all all scram-sha-256\n"
    (server.folder / "data/pg_hba.conf").write_text(rules)
    server.sql("SELECT pg_reload_conf()")
    yield server
    server.stop()


def test_postgresql(controller_reader: Reader, server: Postgres, tmp_path: Path) -> None:
    """From a controller on SQLite to two on one PostgreSQL, which know the same."""
    first = controller_reader
    _name_the_server(first, server)
    (first.folder / "backup").mkdir()
    first.type("margrave site add harbor")
    first.type("margrave controller backup /backup/margrave-2030-01-31.tar")
    [toml] = PAGE.texts("toml")
    first.configure(first.controller_file, toml)
    migrate, add_admin, serve = PAGE.block("$ margrave controller migrate").lines
    _refuse_what_comes_too_early(first, server, migrate)

    first.type(migrate)
    made = json.loads(first.type(add_admin, more="-o json"))
    first.type(serve)
    original, first.password = first.password, made["password"]
    login = "margrave login http://127.0.0.1:8800 --user admin"
    first.type(login)
    first.type("margrave site add depot")

    other = tmp_path / "other"
    other.mkdir()
    second = Reader(other, first.words)
    second.words |= {"/srv/margrave": f"{other}/srv", "http://127.0.0.1:8800": second.url}
    shutil.copy(first.home / ".pgpass", second.home)
    try:
        second.type("margrave init /srv/margrave")
        second.configure(second.controller_file, toml)
        second.start("controller")
        second.password = first.password
        second.type(login)
        assert "depot" in second.type("margrave site list")
        second.type("margrave site add quay")
        assert "quay" in first.type("margrave site list")
        restore = PAGE.line(" restore ")
        assert "stop" in first.type(restore, 5, more="--yes")
        first.stop("controller")
        assert "stop" in first.type(restore, 5, more="--yes")  # the second one still serves
    finally:
        second.close()

    first.type(restore, more="--yes")
    first.type(serve)
    first.password = original  # users and tokens are those of the backup
    first.type(login)
    sites = first.type("margrave site list")
    assert "harbor" in sites and "quay" not in sites
    assert unexecuted("postgresql", first.executed) == []


def _name_the_server(reader: Reader, server: Postgres) -> None:
    """Make the user and the database, and keep the password where the page says."""
    forge = reader.folder / "forge.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(forge)], check=True)
    as_postgres = "setpriv --reuid=postgres --regid=postgres --clear-groups env"
    reader.words |= {
        "/backup/": f"{reader.folder}/backup/",
        "sudo -u postgres": f"{as_postgres} PGHOST={server.folder}",
        "margrave@db.example/margrave": f"margrave@/margrave?host={server.folder}",
        "https://git.example/edge/deployments.git": str(forge),
        "createuser": program("createuser"),
        "createdb": program("createdb"),
    }
    user, database = PAGE.block("$ sudo").lines
    reader.type(user, answer=f"{PASSWORD}\n{PASSWORD}\n")
    reader.type(database)


def _refuse_what_comes_too_early(reader: Reader, server: Postgres, migrate: str) -> None:
    """Without the password, with a database that is not there, and without its tables."""
    reader.stop("controller")
    without = reader.type(migrate, 6)
    assert "password" in without and "Traceback" not in without, without
    passwords = reader.home / ".pgpass"
    passwords.write_text(f"*:*:*:margrave:not {PASSWORD}\n")
    passwords.chmod(0o600)
    wrong = reader.type(migrate, 6)
    assert "password authentication failed" in wrong, wrong
    passwords.write_text(f"*:*:*:margrave:{PASSWORD}\n")

    whole = reader.controller_file.read_text()
    reader.controller_file.write_text(whole.replace("margrave@/margrave?", "margrave@/margrve?"))
    missing = reader.type(migrate, 6)
    assert '"margrve" does not exist' in missing, missing
    reader.controller_file.write_text(whole.replace("postgresql+psycopg", "mysql+psycopg"))
    assert "database.url" in reader.type(migrate, 5)
    reader.controller_file.write_text(whole)
    assert "margrave controller migrate" in reader.refused_start("controller")
