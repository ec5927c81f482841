"""SSH with the login that works today: paramiko's only place, its errors translated here."""

from __future__ import annotations

import io
import logging
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import paramiko

from margrave.errors import Conflict, MargraveError, Refused, Unreachable
from margrave.secret import Secret
from runner.nodes.hostkeys import KINDS, HostKey

KEY_KINDS: Final = (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey)
LONGEST: Final = 60  # seconds that one command on the node may take
# What goes wrong is raised and told by us; paramiko would log it with a traceback beside that.
logging.getLogger("paramiko").setLevel(logging.CRITICAL)

PLENTY: Final = 1024 * 1024  # bytes of output; more is a broken node


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node's sshd listens."""

    address: str
    port: int

    def __str__(self) -> str:
        return f"{self.address}:{self.port}"


@dataclass(frozen=True, slots=True)
class Login:
    """Who we are on the node; with neither password nor key nobody."""

    user: str
    password: Secret | None = None
    private_key: Secret | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command on the node came to."""

    code: int
    output: str
    errors: str


class Session:
    """A connection that is open: commands as the user, or as root."""

    def __init__(self, place: Place, login: Login, transport: paramiko.Transport) -> None:
        self._place, self._login, self._transport = place, login, transport

    def run(self, command: str, feed: str = "") -> Answer:
        """Run a shell command; `feed` goes to its standard input."""
        with _translated(self._place), self._transport.open_session(timeout=LONGEST) as channel:
            channel.settimeout(LONGEST)
            channel.exec_command(command)
            if feed:
                channel.sendall(feed.encode())
            channel.shutdown_write()
            output = channel.makefile("rb").read(PLENTY).decode(errors="replace")
            errors = channel.makefile_stderr("rb").read(PLENTY).decode(errors="replace")
            return Answer(channel.recv_exit_status(), output, errors)

    def run_as_root(self, script: str) -> Answer:
        """Run a shell script as root; Refused when this user may not."""
        quoted = "'" + script.replace("'", "'\\''") + "'"
        if self._login.user == "root":
            return self.run(f"sh -c {quoted}")
        if self.run("sudo -n true").code == 0:
            return self.run(f"sudo -n sh -c {quoted}")
        password = self._login.password
        feed = f"{password.reveal()}\n" if password else ""
        if feed and self.run("sudo -k -S -p '' true", feed).code == 0:
            return self.run(f"sudo -k -S -p '' sh -c {quoted}", feed)
        raise Refused(
            f"{self._place}: {self._login.user} may not become root there",
            "log in as root, or as a user with sudo rights (with its password where sudo asks)",
        )


def host_key(place: Place, timeout: int, kinds: Sequence[str] = KINDS) -> HostKey:
    """The key that the node shows first among the kinds."""
    with _transport(place, timeout, kinds) as transport:
        return _shown(transport)


def expected_key(place: Place, timeout: int, fingerprint: str) -> HostKey:
    """The node's key with this fingerprint; Conflict when it has none such."""
    met = []
    for kind in KINDS:
        try:
            key = host_key(place, timeout, [kind])
        except Unreachable:
            continue  # the node has no key of this kind; when it is away the last line says so
        if key.fingerprint == fingerprint:
            return key
        met.append(key.fingerprint)
    raise Conflict(
        f"{place}: the host key is {met[0] if met else host_key(place, timeout).fingerprint}, "
        f"not {fingerprint}",
        "compare with the node's own console; somebody else may be answering at this address",
    )


@contextmanager
def session(place: Place, login: Login, pinned: HostKey, timeout: int) -> Iterator[Session]:
    """A session on the node whose key is the pinned one, logged in."""
    kind = pinned.line.split()[0]
    kinds = ["rsa-sha2-512", "rsa-sha2-256"] if kind == "ssh-rsa" else [kind]
    with _transport(place, timeout, kinds) as transport:
        if _shown(transport).line != pinned.line:
            raise Conflict(f"{place}: the host key changed while we were connecting", "try again")
        with _translated(place, login):
            _log_in(transport, login)
        yield Session(place, login, transport)


def _log_in(transport: paramiko.Transport, login: Login) -> None:
    if login.private_key is not None:
        transport.auth_publickey(login.user, _private(login.private_key))
    elif login.password is not None:
        transport.auth_password(login.user, login.password.reveal())
    else:
        raise Refused(f"no password or key for {login.user}", "give one of them")


def _private(text: Secret) -> paramiko.PKey:
    for kind in KEY_KINDS:
        try:
            key: paramiko.PKey = kind.from_private_key(io.StringIO(text.reveal()))
        except paramiko.PasswordRequiredException as locked:
            raise Refused("the private key has a passphrase", "give one without") from locked
        except (paramiko.SSHException, ValueError):
            continue
        return key
    raise Refused("the private key cannot be read", "an OpenSSH key: ed25519, ecdsa or rsa")


@contextmanager
def _transport(place: Place, timeout: int, kinds: Sequence[str]) -> Iterator[paramiko.Transport]:
    with _translated(place):
        wire = socket.create_connection((place.address, place.port), timeout=timeout)
        transport = paramiko.Transport(wire)
    try:
        with _translated(place):
            transport.banner_timeout = transport.auth_timeout = timeout
            transport.get_security_options().key_types = list(kinds)
            transport.start_client(timeout=timeout)
        yield transport
    finally:
        transport.close()


def _shown(transport: paramiko.Transport) -> HostKey:
    key = transport.get_remote_server_key()
    return HostKey(f"{key.get_name()} {key.get_base64()}")


@contextmanager
def _translated(place: Place, login: Login | None = None) -> Iterator[None]:
    """The one door for foreign errors of this room."""
    try:
        yield
    except MargraveError:
        raise
    except paramiko.AuthenticationException as refused:
        who = login.user if login else "the user"
        cure = "check user, password or key; does sshd there allow this kind of login?"
        raise Refused(f"{place}: the node refuses the login of {who}", cure) from refused
    except (OSError, EOFError, paramiko.SSHException) as broken:
        why = str(broken) or type(broken).__name__
        cure = "check address, port and network, and that sshd runs there"
        raise Unreachable(f"{place}: no SSH there: {why}", cure) from broken
