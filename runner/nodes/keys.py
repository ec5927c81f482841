"""The runner's own key pair: made at first use, never leaves its folder.

The ciphers are imported where a key is made or read: they hold eight megabytes, and a runner whose
nodes are there needs its key's path alone.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

from margrave.errors import Refused

NAME: Final = "id_ed25519"
COMMENT: Final = "margrave"  # what an operator sees in authorized_keys on the node


def own_key(folder: Path) -> Path:
    """The private key's path; the pair is made when it is not there."""
    path = folder / NAME
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _make(path)
    return path


def public_line(key: Path) -> str:
    """The public half as it stands in authorized_keys."""
    from cryptography.hazmat.primitives import serialization

    try:
        private = serialization.load_ssh_private_key(key.read_bytes(), password=None)
    except (OSError, ValueError) as broken:
        raise Refused(
            f"{key}: {broken}", "ssh.key needs an SSH key without a passphrase"
        ) from broken
    public = private.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    return f"{public.decode('ascii')} {COMMENT}"


def _make(path: Path) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    text = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.OpenSSH,
        serialization.NoEncryption(),
    )
    # Written aside, each by its own name, and linked: several nodes are added at once by a new
    # runner, and all of them have to end up with one and the same pair.
    descriptor, fresh = tempfile.mkstemp(prefix=f".{NAME}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.link(fresh, path)
    except FileExistsError:
        return
    finally:
        Path(fresh).unlink()
    path.with_suffix(".pub").write_text(public_line(path) + "\n", encoding="ascii")
