"""SSH with the login that works today: paramiko's only place, its errors translated here."""

from __future__ import annotations

import io
import logging
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final

import paramiko

from margrave.errors import Conflict, MargraveError, Refused, Unreachable
from margrave.secret import Secret
from runner.nodes.hostkeys import KINDS, HostKey
from runner.ports import Jump

KEY_KINDS: Final = (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey)
LONGEST: Final = 60  # seconds that one command on the node may take
# What goes wrong is raised and told by us; paramiko would log it with a traceback beside that.
logging.getLogger("paramiko").setLevel(logging.CRITICAL)

PLENTY: Final = 1024 * 1024  # bytes of output; more is a broken node


@dataclass(frozen=True, slots=True)
class Via:
    """The jump host on the way to a node, and our key for it."""

    jump: Jump
    key: Secret


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node's sshd listens."""

    address: str
    port: int
    via: Via | None = None

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
        self.host_key = _shown(transport)

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

    def run_as_root(self, script: str, feed: str = "") -> Answer:
        """Run a shell script as root, `feed` at its input; Refused when this user may not."""
        quoted = "'" + script.replace("'", "'\\''") + "'"
        if self._login.user == "root":
            return self.run(f"sh -c {quoted}", feed)
        if self.run("sudo -n true").code == 0:
            return self.run(f"sudo -n sh -c {quoted}", feed)
        password = self._login.password
        line = f"{password.reveal()}\n" if password else ""
        if line and self.run("sudo -k -S -p '' true", line).code == 0:
            return self.run(f"sudo -k -S -p '' sh -c {quoted}", line + feed)
        raise Refused(
            f"{self._place}: {self._login.user} may not become root there",
            "log in as root, or as a user with sudo rights (with its password where sudo asks)",
        )


def host_key(place: Place, timeout: int) -> HostKey:
    """The key that the node shows to whoever asks."""
    with _transport(place, timeout, KINDS) as transport:
        return _shown(transport)


@contextmanager
def session(place: Place, login: Login, fingerprint: str, timeout: int) -> Iterator[Session]:
    """Logged in at the node with that host key; an empty fingerprint takes the key that is met.

    Key and login come over one connection: sshd holds connections without a login against the
    address they come from, and after a few of them answers nobody there for a while.
    """
    with _proven(place, fingerprint, timeout) as transport:
        with _translated(place, login):
            _log_in(transport, login)
        yield Session(place, login, transport)


@contextmanager
def _proven(place: Place, fingerprint: str, timeout: int) -> Iterator[paramiko.Transport]:
    """A connection over which the node has shown the wanted key."""
    met: list[str] = []
    # Nearly always the first is it; the others are for the fingerprint of another kind of key.
    for kinds in (KINDS, *([kind] for kind in KINDS[1:])):
        with ExitStack() as stack:
            try:
                transport = stack.enter_context(_transport(place, timeout, kinds))
            except Unreachable:
                if not met:
                    raise
                continue  # it has no key of this kind
            shown = _shown(transport).fingerprint
            if fingerprint in {"", shown}:
                yield transport
                return
            met.append(shown)
    raise Conflict(
        f"{place}: the host key is {met[0]}, not {fingerprint}",
        "compare with the node's own console; somebody else may be answering at this address",
    )


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
    with ExitStack() as stack:
        wire: Any = stack.enter_context(_wire(place, timeout))
        with _translated(place):
            transport = paramiko.Transport(wire)
        stack.callback(transport.close)
        with _translated(place):
            transport.banner_timeout = transport.auth_timeout = timeout
            transport.get_security_options().key_types = list(kinds)
            transport.start_client(timeout=timeout)
        yield transport


@contextmanager
def _wire(place: Place, timeout: int) -> Iterator[socket.socket | paramiko.Channel]:
    """Something that speaks with the node's sshd: a socket, or a channel through the jump host."""
    if place.via is None:
        with _translated(place):
            line = socket.create_connection((place.address, place.port), timeout=timeout)
        yield line
        return
    jump = place.via.jump
    gate, wanted = Place(jump.address, jump.port), HostKey(jump.host_key).fingerprint
    login = Login(jump.user, private_key=place.via.key)
    with _proven(gate, wanted, timeout) as transport:
        with _translated(gate, login):
            _log_in(transport, login)
        with _translated(place):
            channel = transport.open_channel(
                "direct-tcpip", (place.address, place.port), ("127.0.0.1", 0), timeout=timeout
            )
        yield channel


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
        cure = "check address, port and sshd; after failed logins sshd may refuse us for a minute"
        raise Unreachable(f"{place}: no SSH there: {why}", cure) from broken
