"""The controller's configuration: one TOML file, environment over it, all findings at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from margrave import durations, settings
from margrave.errors import MargraveError, SettingsError
from margrave.findings import Finding
from margrave.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE_NAME: Final = "margrave.toml"
SYSTEM_FILE: Final = Path("/etc/margrave") / FILE_NAME
LOOPBACK: Final = ("127.", "localhost:", "[::1]:", "unix:")


Duration = Annotated[str, Field(pattern=rf"^{durations.PATTERN}$")]


class Section(BaseModel):
    """A section of the file: exactly the keys that are known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class State(Section):
    """Where the controller keeps what it must not lose."""

    dir: Path = Path("state")


class Tls(Section):
    """Certificate and key; a CA for client certificates."""

    cert: Path | None = None
    key: Path | None = None
    client_ca: Path | None = None


class Http(Section):
    """Where it listens."""

    bind: str = "127.0.0.1:8800"
    insecure: bool = False
    external_url: str | None = None
    threads: int | None = Field(default=None, ge=4)  # default: one for each stream, and 16
    tls: Tls = Tls()


class Git(Section):
    """The deployments repository: its own when no remote is named."""

    remote: str | None = None
    username: str | None = None
    password: Secret | None = None
    ssh_key: Path | None = None
    known_hosts: Path | None = None
    ca_file: Path | None = None
    mode: Literal["direct", "branch"] = "direct"
    signing_key: Path | None = None
    poll_interval: Duration = "30s"


class Hooks(Section):
    """Secrets of webhooks; two while one is replaced."""

    secrets: tuple[Secret, ...] = ()


class Registry(Section):
    """An image registry: its name in image references, and how this process reaches it."""

    host: str
    address: str | None = None
    insecure: bool = False
    username: str | None = None
    password_file: Path | None = None
    ca_file: Path | None = None


class Database(Section):
    """Where the database is; SQLite in the state folder when nothing is said."""

    url: str | None = None


class CatalogSettings(Section):
    """Where applications come from."""

    sync_interval: Duration = "5m"
    local_roots: tuple[Path, ...] = ()


class Events(Section):
    """Streams of events."""

    max_clients: int = Field(default=64, ge=1)


class Queue(Section):
    """How much work may wait."""

    limit: int = Field(default=1000, ge=1)


class Retention(Section):
    """How long history is kept."""

    events: Duration = "720h"
    logs: Duration = "720h"
    deleted: Duration = "720h"


class Heartbeat(Section):
    """How often runners call; three silent periods make a site unknown."""

    interval: Duration = "10s"


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
    if explicit:
        return Path(explicit)
    here = Path(FILE_NAME)
    return here if here.is_file() or not SYSTEM_FILE.is_file() else SYSTEM_FILE


def load(path: Path, environ: Mapping[str, str] | None = None) -> ControllerSettings:
    """The settings with paths made absolute from the file's folder, or SettingsError."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise MargraveError(
            f"{path}: cannot be read: {error.strerror}", "make one with margrave init"
        ) from error
    base = path.resolve().parent
    loaded = settings.load(
        ControllerSettings,
        text,
        os.environ if environ is None else environ,
        lambda name: (base / name).read_text(encoding="utf-8"),
        str(path),
    )
    absolute: ControllerSettings = _absolute(loaded, base)
    findings = problems(absolute, str(path))
    if findings:
        raise SettingsError(findings)
    return absolute


def problems(loaded: ControllerSettings, where: str = "") -> list[Finding]:
    """What may not be started with, although each key for itself is right."""
    findings = []
    if loaded.git.mode == "branch":
        words = "pushing to a branch of its own is not in this version"
        findings.append(Finding("/git/mode", words, 'write mode = "direct"', file=where))
    if bool(loaded.http.tls.cert) != bool(loaded.http.tls.key):
        words = "certificate and key belong together"
        findings.append(Finding("/http/tls", words, "name both", file=where))
    open_door = not loaded.http.bind.startswith(LOOPBACK) and not loaded.http.tls.cert
    if open_door and not loaded.http.insecure:
        words = f"{loaded.http.bind} is not loopback and has no TLS"
        cure = "set http.tls.cert and key, or http.insecure = true in so many words"
        findings.append(Finding("/http/bind", words, cure, file=where))
    return findings


def _absolute(section: Any, base: Path) -> Any:
    """The same settings, their relative paths taken from the folder of the file."""
    if isinstance(section, Path):
        return base / section.expanduser()
    if isinstance(section, tuple):
        return tuple(_absolute(one, base) for one in section)
    if isinstance(section, BaseModel):
        kept = {
            name: _absolute(getattr(section, name), base) for name in type(section).model_fields
        }
        return section.model_copy(update=kept)
    return section
