"""The runner's configuration: one TOML file, environment over it, all findings at once."""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from pydantic import Field

from margrave import names, settings_file, tls_files
from margrave.findings import Finding
from margrave.secret import Secret
from margrave.sections import (
    GitAccess,
    Heartbeat,
    Hooks,
    Interval,
    RegistryLogin,
    Section,
    State,
    Tls,
    Verdict,
    door_findings,
)
from runner import jumps

if TYPE_CHECKING:
    from collections.abc import Mapping


class Site(Section):
    """Which site this runner serves."""

    name: Annotated[str, Field(pattern=f"^{names.LABEL}$", description="the site's name")]


class Http(Section):
    """Where it listens, and what opens status and metrics from elsewhere."""

    bind: str = Field("127.0.0.1:8801", description="host:port to listen on")
    external_url: str | None = Field(
        None,
        description="where nodes reach this runner; told to their beacons",
    )
    token: Secret | None = Field(None, description="opens status and metrics from elsewhere")
    insecure: bool = Field(False, description="listen beyond loopback, or report, without TLS")
    tls: Tls = Tls()


class Controller(Section):
    """Where reports go; without one the site looks after itself and keeps them."""

    url: str | None = Field(
        None, description="the controller's address; without it nothing is told"
    )
    token: Secret | None = Field(None, description="the site's token")
    ca_file: Path | None = Field(None, description="CA of its certificate, PEM")
    cert: Path | None = Field(None, description="certificate that it is shown, PEM")
    key: Path | None = Field(None, description="its key, PEM")


class Git(GitAccess):
    """The deployments repository."""

    remote: str = Field(description="repository that says what runs here: HTTPS, SSH or a path")
    allowed_signers: Path | None = Field(
        None, description="SSH signers that are trusted; without it every author is"
    )


class Poll(Section):
    """How often Git is asked when nobody hints."""

    interval: Interval = Field("30s", description="how often Git is asked when nobody hints")


class Drift(Section):
    """How often nodes are looked at."""

    interval: Interval = Field("60s", description="how often nodes are looked at")


class JumpHost(Section):
    """A host in front of some networks."""

    host: Annotated[str, Field(pattern=jumps.PLACE)] = Field(description="user@host:port")
    host_key: Annotated[str, Field(pattern=jumps.HOST_KEY)] = Field(
        description="its public host key, as /etc/ssh/ssh_host_ed25519_key.pub on it shows it"
    )
    networks: tuple[str, ...] = Field(
        (), description="networks (10.1.0.0/16) and names (*.plant) behind it; empty: all nodes"
    )


class Ssh(Section):
    """How nodes are reached; the runner makes a key of its own when none is named."""

    key: Path | None = Field(None, description="private key; without it the runner makes one")
    user: str = Field("margrave", description="remote user on the nodes")
    port: int = Field(22, ge=1, le=65535, description="port where a node names none")
    jump: str = Field(
        "",
        pattern=f"^$|{jumps.PLACE}",
        description="jump host in front of all nodes, user@host:port",
    )
    jump_host_key: str = Field(
        "", pattern=f"^$|{jumps.HOST_KEY}", description="its public host key; it has to be named"
    )
    jumps: tuple[JumpHost, ...] = Field(
        (), description="jump hosts for some networks each; the first that fits an address counts"
    )
    connect_timeout: int = Field(10, ge=1, le=300, description="seconds until a node is silent")
    handshakes: int = Field(
        8, ge=1, le=100, description="logins at once at a jump host; below its MaxStartups"
    )


class Execute(Section):
    """How many nodes are worked on at once."""

    forks: int = Field(20, ge=1, le=500, description="how many nodes are worked on at once")
    per_node: int = Field(8, ge=1, le=100, description="operations at once on one node")


class Secrets(Section):
    """Where the site's secrets are; what stands in the folder counts over what stands in Git."""

    dir: Path | None = Field(None, description="folder with the site's secrets, one file each")
    age_key: Path | None = Field(
        None, description="age keys that open the files below secrets/<site>/ in Git"
    )


class NodesRegistry(RegistryLogin):
    """A registry that nodes pull from; the runner itself reaches none."""

    address: str | None = Field(
        None, description="of use to a controller; how nodes reach a host is their own to say"
    )
    ca_file: Path | None = Field(
        None,
        description="of use to a controller; nodes trust what stands in their engine's certs.d",
    )


class Policy(Section):
    """What the site's own policy may not go beyond; unset keys leave it as it is."""

    privileged: Verdict | None = Field(None, description="privileged containers")
    host_paths: tuple[str, ...] | None = Field(None, description="folders that may be mounted")
    devices: tuple[str, ...] | None = Field(None, description="devices that may be used")
    host_namespaces: Verdict | None = Field(None, description="the node's own namespaces")
    capabilities: tuple[str, ...] | None = Field(None, description="capabilities that may be added")
    registries: tuple[str, ...] | None = Field(None, description="registries images may come from")


class RunnerSettings(Section):
    """The whole file."""

    site: Site
    git: Git
    state: State = State()
    http: Http = Http()
    controller: Controller = Controller()
    hooks: Hooks = Hooks()
    registries: tuple[NodesRegistry, ...] = ()
    poll: Poll = Poll()
    drift: Drift = Drift()
    heartbeat: Heartbeat = Heartbeat()
    ssh: Ssh = Ssh()
    execute: Execute = Execute()
    secrets: Secrets = Secrets()
    policy: Policy = Policy()


def find(explicit: str | None) -> Path:
    """The file that `--config` names, else ./margrave.toml, else the system's."""
    return settings_file.find(explicit, Path())


def load(path: Path, environ: Mapping[str, str] | None = None) -> RunnerSettings:
    """The settings with paths made absolute from the file's folder, or SettingsError."""
    given = os.environ if environ is None else environ
    cure = "name it with --config FILE"
    return settings_file.load(RunnerSettings, path, given, problems, cure)


def problems(loaded: RunnerSettings, where: str = "") -> list[Finding]:
    """What may not be started with, although each key for itself is right."""

    def finding(pointer: str, message: str, cure: str) -> Finding:
        return Finding(pointer, message, cure, file=where)

    http, url = loaded.http, loaded.controller.url
    findings = door_findings(http.bind, http.tls, insecure=http.insecure, where=where)
    if _carries_a_secret(loaded.git.remote):
        message = "holds a password, which would be shown wherever the remote is named"
        findings.append(finding("/git/remote", message, "use git.username and git.password"))
    if url and not loaded.controller.token:
        findings.append(finding("/controller", "has no token", "margrave site add shows one once"))
    if url and not _is_address(url):
        message = f'"{url}" is no address of a controller'
        findings.append(finding("/controller/url", message, "write https://host[:port]"))
    elif url and _is_open(url) and not http.insecure:
        message = f"{url} is neither HTTPS nor on this machine"
        findings.append(finding("/controller/url", message, "use https, or http.insecure = true"))
    if bool(loaded.ssh.jump) != bool(loaded.ssh.jump_host_key):
        message = "ssh.jump and ssh.jump_host_key belong together"
        cure = "ssh-keyscan the jump host, and compare with its own console"
        findings.append(finding("/ssh/jump_host_key", message, cure))
    findings += [
        finding(f"/ssh/jumps/{number}/networks", f'"{word}" is no network', "10.1.0.0/16, *.plant")
        for number, one in enumerate(loaded.ssh.jumps)
        for word in one.networks
        if not jumps.is_network(word)
    ]
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    findings += tls_files.server_findings(http.tls, served, where)
    tried = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    findings += tls_files.findings("controller", loaded.controller, tried, where)
    findings += tls_files.findings("git", loaded.git, tried, where)
    key = loaded.secrets.age_key
    if key and not _is_file(key):
        findings.append(finding("/secrets/age_key", f"{key} is no file", "age-keygen makes one"))
    findings += [
        finding(f"/registries/{number}/password_file", f"{one} is no file", "write it there")
        for number, one in enumerate(registry.password_file for registry in loaded.registries)
        if one and not _is_file(one)
    ]
    return findings


def _is_file(path: Path) -> bool:
    """Whether there is a file, as far as this process can see."""
    try:
        return path.is_file()
    except OSError:
        return False


def _carries_a_secret(remote: str) -> bool:
    return "://" in remote and urlsplit(remote).password is not None


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none
        return False


def _is_open(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "localhost", "::1")
