"""The TLS context of new connections, read again when its files have changed."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, Final

from gunicorn import sock  # type: ignore[import-untyped]

if TYPE_CHECKING:
    import ssl

LOG = logging.getLogger(__name__)

KEPT: Final = 5.0  # seconds: reading certificate and key for each connection would cost too much


class Contexts:
    """Contexts of gunicorn's configuration; the last good one while a renewal is half done."""

    def __init__(self, cfg: Any) -> None:
        self._cfg = cfg
        self._context: ssl.SSLContext | None = None
        self._until = 0.0

    def current(self) -> ssl.SSLContext:
        """Return the context; OSError if there has never been a readable one."""
        if self._context is not None and time.monotonic() < self._until:
            return self._context
        try:
            self._context = sock.ssl_context(self._cfg)
        except OSError as error:
            if self._context is None:
                raise
            LOG.warning("http.tls: %s; the certificate that was read before is used", error)
        self._until = time.monotonic() + KEPT
        assert self._context is not None
        return self._context
