"""Durations as operators write them (`90s`, `5m`, `2h`) and as Margo writes them (`0m15s`)."""

from __future__ import annotations

import re
from typing import Final

from margrave.errors import Refused

PATTERN: Final = r"[0-9]{1,9}(s|m|h)"
MARGO_PATTERN: Final = r"[0-9]{1,9}m[0-9]{1,9}s"

_UNITS: Final = {"s": 1, "m": 60, "h": 3600}


def seconds(text: str) -> int:
    """Seconds of `<n>(s|m|h)`."""
    if not re.fullmatch(PATTERN, text):
        raise Refused(f'"{text}" is not a duration', "write a number and s, m or h, such as 90s")
    return int(text[:-1]) * _UNITS[text[-1]]


def margo_seconds(text: str) -> int:
    """Seconds of Margo's `<n>m<n>s`."""
    if not re.fullmatch(MARGO_PATTERN, text):
        raise Refused(f'"{text}" is not minutes and seconds', _margo_cure(text))
    minutes, rest = text[:-1].split("m")
    return int(minutes) * 60 + int(rest)


def _margo_cure(text: str) -> str:
    """The right writing of what was probably meant."""
    if re.fullmatch(PATTERN, text):
        minutes, rest = divmod(seconds(text), 60)
        return f"write {minutes}m{rest}s"
    return "write such as 5m0s or 0m15s"
