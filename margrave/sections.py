"""Sections of configuration that controller and runner share, and how paths in them read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from margrave import durations
from margrave.findings import Finding
from margrave.secret import Secret

SOCKET: Final = "runner.sock"  # of a runner, in its state folder
LOOPBACK: Final = ("127.", "localhost:", "[::1]:", "unix:")
LAST_PORT: Final = 65535
_BIND: Final = re.compile(r"(\[[0-9a-fA-F:.]+(%\w+)?\]|[^\s:/\[\]]+):[0-9]{1,5}")


def _within(least: int, most: int, words: str) -> AfterValidator:
    def check(text: str) -> str:
        if not least <= durations.parse(text) <= most:
            raise ValueError(words)
        return text

    return AfterValidator(check)


_FORM: Final = Field(pattern=rf"^{durations.PATTERN}$")
Duration = Annotated[str, _FORM, _within(0, durations.LONGEST, "is longer than ten years")]
# How often something is done: never without a pause, and at least once a day.
Interval = Annotated[str, _FORM, _within(1, 24 * 3600, "is not between 1s and 24h")]
Verdict = Literal["deny", "allow"]


class Section(BaseModel):
    """A section of the file: exactly the keys that are known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class State(Section):
    """What must not be lost."""

    dir: Path = Field(Path("state"), description="folder for what must not be lost")


class Tls(Section):
    """Certificate and key; a CA for client certificates."""

    cert: Path | None = Field(None, description="certificate with its chain, PEM")
    key: Path | None = Field(None, description="its key, PEM")
    client_ca: Path | None = Field(None, description="CA that client certificates must come from")


class Hooks(Section):
    """Webhooks."""

    secrets: tuple[Secret, ...] = Field(
        (), description="secrets of webhooks; two while one is replaced"
    )


class RegistryLogin(Section):
    """An image registry: its name in image references, and what opens it."""

    host: str = Field(description="its name in image references, with the port")
    insecure: bool = Field(False, description="plain HTTP")
    username: str | None = Field(None, description="user of its login")
    password_file: Path | None = Field(None, description="file with the password")


class Registry(RegistryLogin):
    """A registry that this process reaches itself."""

    address: str | None = Field(None, description="where this process reaches it, if elsewhere")
    ca_file: Path | None = Field(None, description="CA of its certificate, PEM")


class GitAccess(Section):
    """How the remote of the deployments repository is reached."""

    username: str | None = Field(None, description="user for HTTPS")
    password: Secret | None = Field(None, description="password or token for HTTPS")
    ssh_key: Path | None = Field(None, description="private key for SSH")
    known_hosts: Path | None = Field(None, description="host keys for SSH")
    ca_file: Path | None = Field(None, description="CA of the remote's certificate, PEM")
    cert: Path | None = Field(None, description="certificate that it is shown over HTTPS, PEM")
    key: Path | None = Field(None, description="its key, PEM")


class Heartbeat(Section):
    """Signs of life."""

    interval: Interval = Field(
        "10s", description="how often runners tell that they live; three silent ones mean unknown"
    )


def _is_address(bind: str) -> bool:
    """Whether a text is host:port with an IPv6 host in brackets, or a socket's path."""
    if bind.startswith("unix:/"):
        return True
    return bool(_BIND.fullmatch(bind)) and int(bind.rpartition(":")[2]) <= LAST_PORT


def door_findings(bind: str, tls: Tls, *, insecure: bool, where: str) -> list[Finding]:
    """What speaks against listening so: half a certificate, or a door that is open after all."""
    findings = []
    if bool(tls.cert) != bool(tls.key):
        words = "certificate and key belong together"
        findings.append(Finding("/http/tls", words, "name both", file=where))
    if tls.client_ca and not tls.cert:
        words = "without TLS nobody shows a certificate: everybody would be let in"
        cure = "set http.tls.cert and key, or leave client_ca out"
        findings.append(Finding("/http/tls/client_ca", words, cure, file=where))
    if not _is_address(bind):
        words = f'"{bind}" is not an address to listen on'
        cure = "write host:port, such as 127.0.0.1:8800 or [::1]:8800"
        findings.append(Finding("/http/bind", words, cure, file=where))
    elif not bind.startswith(LOOPBACK) and not tls.cert and not insecure:
        words = f"{bind} is not loopback and has no TLS"
        cure = "set http.tls.cert and key, or http.insecure = true in so many words"
        findings.append(Finding("/http/bind", words, cure, file=where))
    return findings


Anything = TypeVar("Anything")


def absolute(section: Anything, base: Path) -> Anything:
    """The same settings, their relative paths taken from the folder of the file."""
    found: Any = section
    if isinstance(section, Path):
        found = base / section.expanduser()
    elif isinstance(section, tuple):
        found = tuple(absolute(one, base) for one in section)
    elif isinstance(section, BaseModel):
        kept = {name: absolute(getattr(section, name), base) for name in type(section).model_fields}
        found = section.model_copy(update=kept)
    return found  # type: ignore[no-any-return] # the same kind as came in, whatever that was
