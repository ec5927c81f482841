"""What the controller writes to standard error: lines for people, or JSON for a log store.

Each line carries the id of the request that it was written for (X-Request-Id, which travels to the
node), also where the work is done later by another thread: whoever works for a request says so.
"""

from __future__ import annotations

import json
import logging
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.settings import Log

ACCESS: Final = logging.getLogger("controller.access")
_FIELDS: Final = ("method", "path", "status", "milliseconds", "address")
_trace: ContextVar[str | None] = ContextVar("trace", default=None)


def begin(trace: str | None) -> None:
    """What this thread does from here on is for the request with this id; None: for none."""
    _trace.set(trace)


@contextmanager
def working_for(trace: str | None) -> Iterator[None]:
    """Lines that are written inside belong to the request with this id."""
    token = _trace.set(trace)
    try:
        yield
    finally:
        _trace.reset(token)


class Json(logging.Formatter):
    """One object a line: at, level, logger, message, request_id, and what the line has beside."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {
            "at": at.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        trace = getattr(record, "trace", None)
        if trace:
            line["request_id"] = trace
        line |= {name: getattr(record, name) for name in _FIELDS if hasattr(record, name)}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class Text(logging.Formatter):
    """The same for eyes."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        trace = getattr(record, "trace", None)
        return super().format(record) + (f" [{trace}]" if trace else "")


def configure(settings: Log) -> None:
    """Send everything to standard error in the wanted shape."""
    handler = logging.StreamHandler()
    handler.addFilter(_mark)
    handler.setFormatter(Json() if settings.format == "json" else Text())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("alembic").setLevel(logging.WARNING)  # it tells of every look at the schema
    # People read the pages' own times elsewhere; a log store wants a line for each request.
    ACCESS.setLevel(logging.INFO if settings.format == "json" else logging.WARNING)


def _mark(record: logging.LogRecord) -> bool:
    record.trace = _trace.get()
    return True
