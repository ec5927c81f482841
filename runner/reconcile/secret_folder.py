"""The site's folder of secrets, one file each: what is in it, and what cannot be told now.

A secret that cannot be read for a moment must never look like one that was changed or removed: an
update, a rollback and a quarantine would follow. So a secret is missing only where the folder can
be listed, holds other files, and has no file of that name. A folder that is not there, or has
nothing in it, is a mount that is away.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

from margrave.errors import MargraveError, SecretsUnread


class SecretFolder:
    """Reads secrets, and remembers in the state folder which names it had read from here."""

    def __init__(self, folder: Path, noted: Path) -> None:
        self._folder = folder
        self._noted = noted
        self._lock = threading.Lock()
        self._names: set[str] | None = None

    def __str__(self) -> str:
        return str(self._folder)

    def value(self, name: str, *, elsewhere: Callable[[], bool]) -> str | None:
        """Return the secret, or None where it has no file; raise SecretsUnread where that cannot be
        told.

        `elsewhere` is whether the site has a secret of this name in another place.
        """
        path = self._folder / name
        try:
            text = path.read_text(encoding="utf-8").rstrip("\n")
        except FileNotFoundError:
            self._check_absence(name, elsewhere=elsewhere)
            return None
        except OSError as error:
            raise self._unread(name, error) from error
        except UnicodeDecodeError as error:
            raise MargraveError(f"secret {name} is no text", f"encode {path}") from error
        self._note(name)
        return text

    def _check_absence(self, name: str, *, elsewhere: Callable[[], bool]) -> None:
        try:
            found = {path.name for path in self._folder.iterdir()}
        except OSError as error:
            raise self._unread(name, error) from error
        if name in found:
            message = f"secret {name} cannot be read now: its file is a link to nowhere"
            raise SecretsUnread(message, f"look at {self._folder / name}")
        # Other secrets are there, so the folder is the one that is meant.
        if found or (name not in self._known() and elsewhere()):
            return
        raise SecretsUnread(
            f"secret {name} cannot be read now: {self._folder} is empty",
            "mount it, or put the secrets into it",
        )

    def _unread(self, name: str, error: OSError) -> SecretsUnread:
        message = f"secret {name} cannot be read now: {error.strerror or type(error).__name__}"
        return SecretsUnread(message, f"let the runner read {self._folder / name}")

    def _known(self) -> set[str]:
        with self._lock:
            if self._names is None:
                try:
                    self._names = set(json.loads(self._noted.read_text(encoding="utf-8")))
                except (FileNotFoundError, ValueError):
                    self._names = set()
            return self._names

    def _note(self, name: str) -> None:
        names = self._known()
        if name in names:
            return
        with self._lock:
            names.add(name)
            fresh = self._noted.with_suffix(".new")
            fresh.write_text(json.dumps(sorted(names)), encoding="utf-8")
            fresh.rename(self._noted)
