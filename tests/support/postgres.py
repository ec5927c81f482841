"""A real PostgreSQL for a test run: Debian's server in a folder of its own, on a UNIX socket."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine, text

from controller.store.columns import Base

HOMES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
# Nothing has to survive: the folder is thrown away with the run.
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "120",
    "shared_buffers": "256MB",
    "autovacuum_naptime": "5s",
}


@contextmanager
def server() -> Iterator[Postgres]:
    """A server that runs, and is gone afterwards."""
    postgres = Postgres().start()
    try:
        yield postgres
    finally:
        postgres.stop()


def empty(url: str) -> None:
    """Take all rows out of a migrated database: quicker than a new one for each test."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    names = ", ".join(f'"{table.name}"' for table in Base.metadata.sorted_tables)
    with engine.begin() as connection:
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
        connection.execute(text(f"TRUNCATE {names} RESTART IDENTITY CASCADE"))
    engine.dispose()


def program(name: str) -> str:
    """A program of the server's; it is not on PATH, for several versions may be there."""
    found = shutil.which(name) or next((str(home / name) for home in HOMES), None)
    assert found is not None, "PostgreSQL is missing: .ci/system-packages test"
    return found


class Postgres:
    """A server; databases on it are made as tests need them."""

    def __init__(self, owner: str = "margrave", **settings: str) -> None:
        self.owner = owner  # the superuser
        # A socket's path may have 107 characters, so the folder is a short one.
        self.folder = Path(tempfile.mkdtemp(prefix="margrave-pg-"))
        self._settings = {**SETTINGS, **settings, "unix_socket_directories": str(self.folder)}

    def start(self) -> Postgres:
        """Make it and wait until it answers."""
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
        self._run("initdb", "-D", self.data, "-A", "trust", "-U", self.owner, "-E", "UTF8",
                  "--locale=C", "--no-sync")  # fmt: skip
        self._up()
        return self

    def restart(self) -> None:
        """As in an outage: every connection is cut, and what was not committed is gone."""
        self._run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")
        self._up()

    def stop(self) -> None:
        """End it and remove all it had."""
        self._run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder)

    @property
    def data(self) -> str:
        """Where it keeps its files."""
        return str(self.folder / "data")

    def url(self, database: str = "postgres") -> str:
        """As `database.url` takes it."""
        return f"postgresql://{self.owner}@/{database}?host={self.folder}"

    def create(self) -> str:
        """A new, empty database; its URL."""
        name = f"test_{uuid.uuid4().hex[:12]}"
        self.sql(f'CREATE DATABASE "{name}"')
        return self.url(name)

    def sql(self, statement: str, database: str = "postgres") -> str:
        """What a statement answers."""
        return self._run("psql", "-h", str(self.folder), "-U", self.owner, "-Atqc", statement,
                         database)  # fmt: skip

    def dump(self, url: str) -> str:
        """A whole database as SQL that any PostgreSQL reads."""
        said = self._run("pg_dump", "--inserts", "--no-owner", "--no-privileges", url)
        # psql's own words, made by newer minor versions with a number of chance.
        return "".join(line for line in said.splitlines(keepends=True) if line[:1] != "\\") + "\n"

    def load(self, text: str, url: str) -> None:
        """Run SQL; the first error ends it."""
        self._run("psql", "-qv", "ON_ERROR_STOP=1", url, given=text)

    def _up(self) -> None:
        log = self.folder / "log"
        options = " ".join(f"-c {name}='{value}'" for name, value in self._settings.items())
        self._run("pg_ctl", "-D", self.data, "-l", str(log), "-o", options, "-w", "start")

    def _run(self, name: str, *arguments: str, given: str = "") -> str:
        """As the server's own user: it refuses to work for root."""
        command = [program(name), *arguments]
        if os.geteuid() == 0:
            command = [
                "setpriv",
                "--reuid=postgres",
                "--regid=postgres",
                "--clear-groups",
                *command,
            ]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/",
            check=False, input=given,
        )  # fmt: skip
        assert done.returncode == 0, f"{name}: {done.stdout}"
        return done.stdout.strip()
