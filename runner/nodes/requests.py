"""What an operator may ask for: names and addresses that are safe to hand on to ssh."""

from __future__ import annotations

import re
from typing import Final

from margrave.errors import Refused
from margrave.names import check_label
from runner.ports import NodeRequest

# A host name or an IP address: nothing that ssh could take for an option or a shell for a word.
ADDRESS: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?|::1?")
USER: Final = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
FINGERPRINT: Final = re.compile(r"SHA256:[A-Za-z0-9+/]{43}")
PORTS: Final = range(1, 65536)


def check(request: NodeRequest) -> None:
    """Refused with the rule when something in the request cannot be taken."""
    check_label(request.name, "name")
    check_place(request.address, request.port)
    if request.user and not USER.fullmatch(request.user):
        raise Refused(
            f'user: "{request.user}" is not a user name', "small letters, digits, - and _"
        )
    if request.host_key and not FINGERPRINT.fullmatch(request.host_key):
        raise Refused(
            f'host_key: "{request.host_key}" is not a fingerprint',
            "SHA256:… as `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` shows it on the node",
        )


def check_place(address: str, port: int) -> None:
    """Refused when the address is no host name or IP, or the port none."""
    if not ADDRESS.fullmatch(address):
        raise Refused(f'address: "{address}" is not a host name or IP', "without user and port")
    if port not in PORTS:
        raise Refused(f"port: {port} is not a port", "1 to 65535")
