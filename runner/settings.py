"""The runner's configuration: one TOML file, environment over it, all findings at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from margrave import durations, names, settings
from margrave.errors import MargraveError, SettingsError
from margrave.findings import Finding
from margrave.secret import Secret

FILE_NAME: Final = "margrave.toml"
SYSTEM_FILE: Final = Path("/etc/margrave") / FILE_NAME
_LOOPBACK: Final = ("127.", "localhost:", "[::1]:")

Duration = Annotated[str, Field(pattern=rf"^{durations.PATTERN}$")]


class Section(BaseModel):
    """A section of the file: exactly the keys that are known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class State(Section):
    """Where the runner keeps what it must not lose."""

    dir: Path = Path("state")


class Site(Section):
    """Which site this runner serves."""

    name: Annotated[str, Field(pattern=f"^{names.LABEL}$")]


class Tls(Section):
    """Certificate and key; a CA for client certificates."""

    cert: Path | None = None
    key: Path | None = None
    client_ca: Path | None = None


class Http(Section):
    """Where it listens, and what opens status and metrics from elsewhere."""

    bind: str = "127.0.0.1:8801"
    token: Secret | None = None
    insecure: bool = False
    tls: Tls = Tls()


class Controller(Section):
    """Where reports go; without one the site looks after itself and keeps them."""

    url: str | None = None
    token: Secret | None = None
    ca_file: Path | None = None


class Git(Section):
    """The deployments repository."""

    remote: str
    username: str | None = None
    password: Secret | None = None
    ssh_key: Path | None = None
    known_hosts: Path | None = None
    ca_file: Path | None = None
    allowed_signers: Path | None = None


class Hooks(Section):
    """Secrets of webhooks; two while one is replaced."""

    secrets: tuple[Secret, ...] = ()


class Registry(Section):
    """An image registry that nodes need a login for."""

    host: str
    address: str | None = None
    insecure: bool = False
    username: str | None = None
    password_file: Path | None = None
    ca_file: Path | None = None


class Poll(Section):
    """How often Git is asked when nobody hints."""

    interval: Duration = "30s"


class Drift(Section):
    """How often nodes are looked at."""

    interval: Duration = "60s"


class Heartbeat(Section):
    """How often the controller hears that we live."""

    interval: Duration = "10s"


class Ssh(Section):
    """How nodes are reached; the runner makes a key of its own when none is named."""

    key: Path | None = None
    user: str = "margrave"
    port: int = Field(default=22, ge=1, le=65535)
    jump: str = ""
    connect_timeout: int = Field(default=10, ge=1, le=300)


class Execute(Section):
    """How many nodes are worked on at once."""

    forks: int = Field(default=20, ge=1, le=500)


class Secrets(Section):
    """Where the site's secrets are: one file each."""

    dir: Path | None = None
    age_key: Path | None = None


class Policy(Section):
    """What the site's own policy may not go beyond; unset keys leave it as it is."""

    privileged: Literal["deny", "allow"] | None = None
    host_paths: tuple[str, ...] | None = None
    devices: tuple[str, ...] | None = None
    host_namespaces: Literal["deny", "allow"] | None = None
    capabilities: tuple[str, ...] | None = None
    registries: tuple[str, ...] | None = None


class RunnerSettings(Section):
    """The whole file."""

    site: Site
    git: Git
    state: State = State()
    http: Http = Http()
    controller: Controller = Controller()
    hooks: Hooks = Hooks()
    registries: tuple[Registry, ...] = ()
    poll: Poll = Poll()
    drift: Drift = Drift()
    heartbeat: Heartbeat = Heartbeat()
    ssh: Ssh = Ssh()
    execute: Execute = Execute()
    secrets: Secrets = Secrets()
    policy: Policy = Policy()


def find(explicit: str | None) -> Path:
    """The file that `--config` names, else ./margrave.toml, else the system's."""
    if explicit:
        return Path(explicit)
    here = Path(FILE_NAME)
    return here if here.is_file() or not SYSTEM_FILE.is_file() else SYSTEM_FILE


def load(path: Path, environ: Mapping[str, str] | None = None) -> RunnerSettings:
    """The settings with paths made absolute from the file's folder, or SettingsError."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise MargraveError(
            f"{path}: cannot be read: {error.strerror}", "name it with --config FILE"
        ) from error
    base = path.resolve().parent
    loaded = settings.load(
        RunnerSettings,
        text,
        os.environ if environ is None else environ,
        lambda name: (base / name).read_text(encoding="utf-8"),
        str(path),
    )
    absolute: RunnerSettings = _absolute(loaded, base)
    findings = problems(absolute, str(path))
    if findings:
        raise SettingsError(findings)
    return absolute


def problems(loaded: RunnerSettings, where: str = "") -> list[Finding]:
    """What may not be started with, although each key for itself is right."""

    def finding(pointer: str, message: str, cure: str) -> Finding:
        return Finding(pointer, message, cure, file=where)

    findings = []
    if bool(loaded.http.tls.cert) != bool(loaded.http.tls.key):
        findings.append(finding("/http/tls", "certificate and key belong together", "name both"))
    outside = not loaded.http.bind.startswith(_LOOPBACK)
    if outside and not loaded.http.tls.cert and not loaded.http.insecure:
        message = f"{loaded.http.bind} is not loopback and has no TLS"
        cure = "set http.tls.cert and key, or http.insecure = true in so many words"
        findings.append(finding("/http/bind", message, cure))
    if _carries_a_secret(loaded.git.remote):
        message = "holds a password, which would be shown wherever the remote is named"
        findings.append(finding("/git/remote", message, "use git.username and git.password"))
    url = loaded.controller.url
    if url and not loaded.controller.token:
        findings.append(finding("/controller", "has no token", "margrave site add shows one once"))
    if url and _is_open(url) and not loaded.http.insecure:
        message = f"{url} is neither HTTPS nor on this machine"
        findings.append(finding("/controller/url", message, "use https, or http.insecure = true"))
    if loaded.secrets.age_key:
        message = "encrypted files in Git are not read in this version"
        findings.append(finding("/secrets/age_key", message, "use secrets.dir"))
    return findings


def _carries_a_secret(remote: str) -> bool:
    return "://" in remote and urlsplit(remote).password is not None


def _is_open(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "localhost", "::1")


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
