"""The controller's configuration: one TOML file, environment over it, all findings at once."""

from __future__ import annotations

import ipaddress
import os
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field

from margrave import settings_file, tls_files
from margrave.findings import Finding
from margrave.secret import Secret
from margrave.sections import (
    LOOPBACK,
    Duration,
    GitAccess,
    Heartbeat,
    Hooks,
    Interval,
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
    threads: int | None = Field(
        None, ge=4, description="threads for reads, for changes and for runners each; default: 16"
    )
    trusted_proxies: tuple[str, ...] = Field(
        (), description="addresses or networks of proxies whose X-Forwarded-For is believed"
    )
    connections: int = Field(4096, ge=64, description="how many connections may be open at once")
    connections_per_address: int = Field(
        1024, ge=16, description="how many of them may wait for one address without a request"
    )
    header_timeout: Interval = Field(
        "10s", description="how long the header of a request may take to arrive"
    )
    body_timeout: Interval = Field(
        "60s", description="how long its body may take; longer if it has 4 KiB a second"
    )
    idle_timeout: Interval = Field(
        "15s", description="how long a connection may stay open without a request"
    )
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
    history: Duration = Field(
        "2160h",
        description="how long transitions and operations are kept beyond the newest 50 of each"
        " deployment",
    )
    audit: Duration = Field("8760h", description="how long entries of the audit are kept")


class Log(Section):
    """What is written to standard error."""

    format: Literal["text", "json"] = Field("text", description="lines for people, or JSON")


class Oidc(Section):
    """Signing in with somebody else's accounts (OpenID Connect); off without an issuer."""

    issuer: str | None = Field(None, description="the provider's address, as it names itself")
    client_id: str | None = Field(None, description="what this controller is called there")
    client_secret: Secret | None = Field(None, description="its secret there, if it has one")
    scopes: tuple[str, ...] = Field(
        ("openid", "profile", "email"), description="what is asked for about a person"
    )
    name_claim: str = Field("preferred_username", description="the claim that is the user's name")
    role_claim: str = Field("groups", description="the claim that the lists below look into")
    viewers: tuple[str, ...] = Field((), description="values of it that make a viewer")
    operators: tuple[str, ...] = Field((), description="values of it that make an operator")
    admins: tuple[str, ...] = Field((), description="values of it that make an admin")
    ca_file: Path | None = Field(None, description="CA of the provider's certificate, PEM")


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
    oidc: Oidc = Oidc()

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
    findings += _proxy_problems(http, where)
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    findings += tls_files.server_findings(http.tls, served, where)
    tried = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    findings += tls_files.findings("git", loaded.git, tried, where)
    return findings + _oidc_problems(loaded, where)


def _proxy_problems(http: Http, where: str) -> list[Finding]:
    """Return a finding for each trusted proxy that is neither an address nor a network."""
    findings = []
    for text in http.trusted_proxies:
        try:
            ipaddress.ip_network(text)
        except ValueError as error:
            words, cure = f'"{text}": {error}', "write 10.0.0.5 or 10.0.0.0/24"
            findings.append(Finding("/http/trusted_proxies", words, cure, file=where))
    return findings


def _oidc_problems(loaded: ControllerSettings, where: str) -> list[Finding]:
    """Half a provider lets nobody in, or the wrong people."""
    oidc, http = loaded.oidc, loaded.http
    if oidc.issuer is None:
        return []
    told = [
        (not oidc.client_id, "/oidc/client_id", "is missing", "the name it was registered under"),
        (
            not http.external_url,
            "/http/external_url",
            "is missing: the provider sends people back there",
            "the address that browsers use, such as https://margrave.example",
        ),
        (
            not (oidc.viewers or oidc.operators or oidc.admins),
            "/oidc",
            "gives nobody a role",
            f"name values of {oidc.role_claim} in viewers, operators or admins",
        ),
        (
            not _is_safe(oidc.issuer) and not http.insecure,
            "/oidc/issuer",
            "is no https:// address",
            "an https:// address, or http.insecure = true in so many words",
        ),
    ]
    return [Finding(place, words, cure, file=where) for wrong, place, words, cure in told if wrong]


def _is_safe(url: str) -> bool:
    scheme, _, rest = url.partition("://")
    return scheme == "https" or (scheme == "http" and rest.startswith(LOOPBACK))
