"""Which jump host stands in front of a node: by its address. Pure."""

from __future__ import annotations

import fnmatch
import ipaddress
import re
from collections.abc import Iterable, Sequence
from typing import Final

from runner.ports import Jump

PLACE: Final = r"^[a-z_][a-z0-9_-]{0,31}@[A-Za-z0-9][A-Za-z0-9.-]{0,252}(:[0-9]{1,5})?$"
HOST_KEY: Final = r"^(ssh-ed25519|ecdsa-sha2-nistp256|ssh-rsa) [A-Za-z0-9+/=]+( .*)?$"
_NAMES: Final = re.compile(r"[A-Za-z0-9*.-]+")
_PORT: Final = 22

Rule = tuple[Jump, Sequence[str]]


def read(place: str, host_key: str) -> Jump:
    """A jump host from `user@host:port` and its key's line."""
    user, _, rest = place.partition("@")
    address, _, port = rest.partition(":")
    kind, blob = host_key.split()[:2]
    return Jump(address, int(port or _PORT), user, f"{kind} {blob}")


def is_network(word: str) -> bool:
    """Whether it is a network or a pattern of host names."""
    return _network(word) is not None or bool(_NAMES.fullmatch(word) and "/" not in word)


def of(address: str, rules: Iterable[Rule]) -> Jump | None:
    """The first jump host whose networks hold the address (all, where it names none), or None."""
    return next((jump for jump, some in rules if not some or _holds(some, address)), None)


def _holds(networks: Sequence[str], address: str) -> bool:
    try:
        number = ipaddress.ip_address(address)
    except ValueError:
        return any(fnmatch.fnmatchcase(address.lower(), one.lower()) for one in networks)
    found = (_network(one) for one in networks)
    return any(one is not None and number in one for one in found)


def _network(word: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(word)
    except ValueError:
        return None
