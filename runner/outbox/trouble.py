"""What an error is called where an operator reads it."""

from __future__ import annotations

from margrave.errors import MargraveError


def trouble_of(error: Exception) -> str:
    """One line, never empty; of an error that is not ours its kind too."""
    if isinstance(error, MargraveError):
        return str(error)
    first = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
