"""The runner's token and its password for Git, read again when the other side refuses them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from margrave.errors import MargraveError
from margrave.secret import Secret
from runner.settings import RunnerSettings

_log: Final = logging.getLogger(__name__)


class Credentials:
    """Token and password as the configuration holds them now; other keys take a restart."""

    def __init__(
        self, settings: RunnerSettings, reload: Callable[[], RunnerSettings] | None = None
    ) -> None:
        self._settings = settings
        self._reload = reload
        self._trouble = ""

    def token(self) -> Secret | None:
        """Return the token for the controller as the configuration has it now."""
        return self._read().controller.token

    def password(self) -> Secret | None:
        """Return the password for Git as the configuration has it now."""
        return self._read().git.password

    def _read(self) -> RunnerSettings:
        if self._reload is None:
            return self._settings
        try:
            self._settings, self._trouble = self._reload(), ""
        except MargraveError as error:
            # Somebody is writing the file, or has made a mistake in it: what was read before holds.
            if str(error) != self._trouble:
                _log.warning("the configuration cannot be read again: %s", error)
            self._trouble = str(error)
        return self._settings
