"""The site's age keys, and what they open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyrage

from margrave.errors import Refused, SecretsUnread

_PREFIX: Final = "AGE-SECRET-KEY-1"


class Keys:
    """The identities of a file as `age-keygen` writes it: one a line, comments and blanks aside."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def open(self, sealed: bytes, where: str) -> bytes:
        """The content of an age file, armoured or not; Refused when no key of ours opens it."""
        try:
            return bytes(pyrage.decrypt(sealed, list(self._identities())))
        except pyrage.DecryptError as error:
            raise Refused(
                f"{where}: cannot be opened with {self._file}: {error}",
                "encrypt it to this site's recipient (age-keygen -y shows it)",
            ) from error

    def _identities(self) -> Sequence[pyrage.x25519.Identity]:
        # Read each time: a key that was added counts at once, and none is kept in memory.
        try:
            lines = self._file.read_text(encoding="ascii").splitlines()
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise SecretsUnread(
                f"secrets.age_key: {self._file} cannot be read now: {why}",
                "let the runner read it; age-keygen makes one",
            ) from error
        except UnicodeDecodeError as error:
            raise Refused(
                f"secrets.age_key: {self._file} cannot be read", "age-keygen makes one"
            ) from error
        words = [line.strip() for line in lines if line.strip().startswith(_PREFIX)]
        try:
            found = [pyrage.x25519.Identity.from_str(word) for word in words]
        except pyrage.IdentityError as error:
            raise Refused(f"secrets.age_key: {self._file}: {error}", "age-keygen") from error
        if not found:
            raise Refused(f"secrets.age_key: {self._file} holds no age key", "age-keygen makes one")
        return found
