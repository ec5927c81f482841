"""What stands in the cells of a table: fields and values in words, and the colours of some."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

Resource = Mapping[str, Any]
Cell = Callable[[Resource], object]
Columns = Sequence[tuple[str, Cell]]


def field(name: str) -> Cell:
    """The value below a dotted name, or nothing."""

    def get(row: Resource) -> object:
        value: Any = row
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value

    return get


def words(value: object) -> str:
    """A value in a cell: nothing is a dash, lists and maps on one line, times without the T."""
    if value is None or value in ("", [], {}):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return " ".join(f"{key}={words(one)}" for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(words(one) for one in value)
    text = str(value)
    if len(text) >= 20 and text[4:5] == "-" and text[10:11] == "T":
        return text[:19].replace("T", " ") + "Z"
    return text


def pick(*names: str) -> Columns:
    """Columns that show fields by their own names."""
    return [(name.rsplit(".", 1)[-1].upper().replace("_", " "), field(name)) for name in names]


GOOD: Final = {"INSTALLED", "succeeded", "active", "fresh", "healthy", "install", "yes"}
BAD: Final = {"FAILED", "failed", "rollback-failed", "offline", "NO", "degraded", "error", "delete"}
# Rolled back is never shown as success; unknown is neither good nor bad.
ODD: Final = {
    "rolled-back",
    "held",
    "ROLLINGBACK",
    "stale",
    "unusable",
    "warning",
    "rollback",
    "update",
}
BUSY: Final = {"INSTALLING", "UPDATING", "DELETING", "pending", "PENDING"}


def colour(text: str) -> str:
    """A style for the words that have one; never the only sign, the word stands there too."""
    for names, style in ((GOOD, "green"), (BAD, "red"), (ODD, "yellow"), (BUSY, "cyan")):
        if text in names:
            return style
    return "bright_black" if text.endswith("?") or text in {"unknown", "DELETED", "-"} else ""
