"""Host keys: the line that is pinned, the fingerprint that people compare."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import Final

# In this order: what is pinned is the first that the node has.
KINDS: Final = ("ssh-ed25519", "ecdsa-sha2-nistp256", "rsa-sha2-512")


@dataclass(frozen=True, slots=True)
class HostKey:
    """A node's public host key as known_hosts has it, without the host: `ssh-ed25519 AAAA…`."""

    line: str

    @property
    def fingerprint(self) -> str:
        """`SHA256:…`, as ssh-keygen shows it; empty when the line is no key."""
        try:
            blob = base64.b64decode(self.line.split()[1], validate=True)
        except (IndexError, binascii.Error):
            return ""
        return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
