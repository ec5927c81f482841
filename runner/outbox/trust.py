"""Whom the line to the controller believes, and which certificate it shows."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

from margrave import tls_files
from margrave.tls_files import Line


class Trust:
    """TLS as the files say: certificates run out, and what renews them starts no runner anew."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._made: tuple[Any, ssl.SSLContext] | None = None

    def context(self) -> ssl.SSLContext:
        """What a new connection takes; MargraveError where a file cannot be used."""
        line = self._line
        stamps = [_stamp(one) for one in (line.ca_file, line.cert, line.key) if one]
        if self._made is None or self._made[0] != stamps:
            self._made = (stamps, _context(line))
        return self._made[1]


def _context(line: Line) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.set_alpn_protocols(["http/1.1"])
    if line.ca_file:
        tls_files.raise_for(tls_files.believe(made, line.ca_file))
    else:
        made.load_default_certs()  # whom the machine believes, as Git does
    if line.cert and line.key:
        tls_files.raise_for(tls_files.show(made, line.cert, line.key))
        made.post_handshake_auth = True  # some servers ask once they have read the path
    return made


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
