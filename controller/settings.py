"""The controller's configuration: one TOML file, environment over it, all findings at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field

from margrave import settings_file
from margrave.findings import Finding
from margrave.sections import (
    LOOPBACK,
    Duration,
    GitAccess,
    Heartbeat,
    Hooks,
    Registry,
    Section,
    State,
    Tls,
    door_findings,
)
from margrave.settings_file import FILE_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FILE_NAME", "LOOPBACK", "SYSTEM_FILE", "ControllerSettings", "find", "load", "problems"]

SYSTEM_FILE: Final = Path("/etc/margrave") / FILE_NAME


class Http(Section):
    """Where it listens."""

    bind: str = Field("127.0.0.1:8800", description="host:port to listen on")
    insecure: bool = Field(False, description="listen beyond loopback without TLS")
    external_url: str | None = Field(None, description="the address that users and runners use")
    threads: int | None = Field(None, ge=4, description="default: one for each stream, and 16")
    tls: Tls = Tls()


class Git(GitAccess):
    """The deployments repository: its own when no remote is named."""

    remote: str | None = Field(None, description="repository of a forge; without it its own")
    mode: Literal["direct", "branch"] = Field("direct", description="how requests are pushed")
    signing_key: Path | None = Field(None, description="SSH key that commits are signed with")
    poll_interval: Duration = Field("30s", description="how often the remote is asked")


class Database(Section):
    """Where the database is."""

    url: str | None = Field(None, description="SQLAlchemy's URL; SQLite in the state folder")


class CatalogSettings(Section):
    """Where applications come from."""

    sync_interval: Duration = Field("5m", description="how often app sources are read again")
    local_roots: tuple[Path, ...] = Field((), description="folders that local sources may lie in")


class Events(Section):
    """Streams of events."""

    max_clients: int = Field(64, ge=1, description="how many streams may be open at once")


class Queue(Section):
    """How much work may wait."""

    limit: int = Field(1000, ge=1, description="how many requests may wait; one more gets 429")


class Retention(Section):
    """How long history is kept."""

    events: Duration = Field("720h", description="how long events are kept")
    logs: Duration = Field("720h", description="how long logs of operations are kept")
    deleted: Duration = Field("720h", description="how long deleted deployments are shown")


class Log(Section):
    """What is written to standard error."""

    format: Literal["text", "json"] = Field("text", description="lines for people, or JSON")


class ControllerSettings(Section):
    """The whole file."""

    state: State = State()
    http: Http = Http()
    git: Git = Git()
    hooks: Hooks = Hooks()
    registries: tuple[Registry, ...] = ()
    database: Database = Database()
    catalog: CatalogSettings = CatalogSettings()
    events: Events = Events()
    queue: Queue = Queue()
    retention: Retention = Retention()
    heartbeat: Heartbeat = Heartbeat()
    log: Log = Log()

    @property
    def database_url(self) -> str:
        """SQLAlchemy's URL of the database."""
        return self.database.url or f"sqlite:///{self.state.dir / 'margrave.db'}"

    @property
    def repository(self) -> Path:
        """The bare repository: the controller's own, or its copy of the remote."""
        name = "remote.git" if self.git.remote else "deployments.git"
        return self.state.dir / "git" / name


def find(explicit: str | None) -> Path:
    """The file that `--config` names, else ./margrave.toml, else the system's."""
    return settings_file.find(explicit, Path())


def load(path: Path, environ: Mapping[str, str] | None = None) -> ControllerSettings:
    """The settings with paths made absolute from the file's folder, or SettingsError."""
    given = os.environ if environ is None else environ
    cure = "make one with margrave init"
    return settings_file.load(ControllerSettings, path, given, problems, cure)


def problems(loaded: ControllerSettings, where: str = "") -> list[Finding]:
    """What may not be started with, although each key for itself is right."""
    http = loaded.http
    findings = door_findings(http.bind, http.tls, insecure=http.insecure, where=where)
    if loaded.git.mode == "branch" and loaded.git.remote is None:
        words = "branches are for a repository elsewhere, where people merge them"
        cure = 'name it with remote, or write mode = "direct"'
        findings.append(Finding("/git/mode", words, cure, file=where))
    return findings
