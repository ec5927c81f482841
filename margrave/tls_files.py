"""Whom a client believes, the certificate that it shows and its key: what is wrong with the files.

Read through the paths and the TLS context that the caller hands in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from margrave.errors import MargraveError
from margrave.findings import Finding

if TYPE_CHECKING:
    from pathlib import Path
    from ssl import SSLContext

# What a server says in TLS to who shows no certificate, or none that it takes.
_ALERTS: Final = ("CERTIFICATE_REQUIRED", "BAD_CERTIFICATE", "HANDSHAKE_FAILURE", "UNKNOWN_CA",
                  "CERTIFICATE_EXPIRED", "CERTIFICATE_UNKNOWN")  # fmt: skip

# The last is said of a key of another kind: RSA's, beside a certificate for elliptic curves.
_NOT_ITS_KEY: Final = ("KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH", "NO_CERTIFICATE_ASSIGNED")


class Line(Protocol):
    """A section of the configuration that says where something is reached."""

    @property
    def ca_file(self) -> Path | None:
        """Whom it believes."""

    @property
    def cert(self) -> Path | None:
        """What it shows."""

    @property
    def key(self) -> Path | None:
        """The key of that."""


class Server(Protocol):
    """A section of the configuration that says what a server shows."""

    @property
    def cert(self) -> Path | None:
        """Return its certificate."""

    @property
    def key(self) -> Path | None:
        """Return the key of the certificate."""

    @property
    def client_ca(self) -> Path | None:
        """Return the authority whose clients alone come in."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The file that is at fault, what is wrong with it, and what would help."""

    path: Path
    message: str
    cure: str


class _Locked(Exception):
    """The key asks for a passphrase, and nobody is there to type it."""


def show(context: SSLContext, cert: Path, key: Path) -> Fault | None:
    """Have the context show the pair; what is wrong with it, or None."""
    for path, mark in ((cert, "CERTIFICATE"), (key, "PRIVATE KEY")):
        try:
            text = path.read_bytes()
        except OSError as error:
            return Fault(path, f"cannot be read: {error.strerror}", "check path and permissions")
        if f"{mark}-----".encode() not in text:
            return Fault(path, f"holds no {mark.lower()} in PEM", "PEM begins with -----BEGIN")
    try:
        context.load_cert_chain(cert, key, _locked)
    except _Locked:
        return Fault(key, "is locked with a passphrase", f"openssl pkey -in {key} unlocks it")
    except OSError as error:  # as TLS's own errors are
        if getattr(error, "reason", "") in _NOT_ITS_KEY:
            return Fault(key, f"is not the key of {cert}", "name the one that it was made for")
        return Fault(cert, f"cannot be shown with {key}: {error}", "make both anew, in PEM")
    return None


def _locked() -> str:
    raise _Locked


def believe(context: SSLContext, ca: Path) -> Fault | None:
    """Have the context believe whom this authority has signed; what is wrong with it, or None."""
    try:
        context.load_verify_locations(ca)
    except OSError as error:  # as TLS's own errors are
        return Fault(ca, f"cannot be read: {error.strerror}", "a CA's certificate, in PEM")
    return None


def raise_for(found: Fault | None) -> None:
    """MargraveError where there is a fault."""
    if found is not None:
        raise MargraveError(f"{found.path}: {found.message}", found.cure)


def findings(section: str, line: Line, context: SSLContext, where: str) -> list[Finding]:
    """What speaks against opening a line of the configuration with its files."""
    found: dict[str, Fault | None] = {}
    if line.ca_file:
        found["ca_file"] = believe(context, line.ca_file)
    if line.cert and line.key:
        wrong = show(context, line.cert, line.key)
        found["key" if wrong and wrong.path == line.key else "cert"] = wrong
    said = [
        Finding(f"/{section}/{key}", f"{one.path} {one.message}", one.cure, file=where)
        for key, one in found.items()
        if one is not None
    ]
    if bool(line.cert) != bool(line.key):
        words = "certificate and key belong together"
        said.append(Finding(f"/{section}", words, "name both, cert and key", file=where))
    return said


def server_findings(tls: Server, context: SSLContext, where: str) -> list[Finding]:
    """Return what is wrong with the files of a server: certificate, key, and whom it lets in."""
    if tls.cert is None or tls.key is None:
        return []
    wrong = show(context, tls.cert, tls.key)
    faults = {"key" if wrong and wrong.path == tls.key else "cert": wrong}
    if tls.client_ca:
        faults["client_ca"] = believe(context, tls.client_ca)
    return [
        Finding(f"/http/tls/{key}", f"{fault.path} {fault.message}", fault.cure, file=where)
        for key, fault in faults.items()
        if fault is not None
    ]


def is_asked_for(error: Exception) -> bool:
    """Whether the other side broke off because of the certificate that it was shown, or was not."""
    return any(f"ALERT_{word}" in str(error).upper() for word in _ALERTS)
