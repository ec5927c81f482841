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


def pattern_up_to(most: int) -> str:
    """The same writing for one second to that many, for readers that know patterns alone."""
    return "|".join(f"0*({_numbers(most // unit)}){name}" for name, unit in _UNITS.items())


def _numbers(most: int) -> str:
    """The numbers from 1 to `most` as a pattern: shorter ones, then digit by digit."""
    digits = str(most)
    parts = [f"[1-9][0-9]{{0,{len(digits) - 2}}}"] if len(digits) > 1 else []
    for index, digit in enumerate(digits):
        low = 1 if index == 0 else 0
        if int(digit) > low:
            below = f"[{low}-{int(digit) - 1}]" if int(digit) - 1 > low else str(low)
            parts.append(f"{digits[:index]}{below}" + "[0-9]" * (len(digits) - index - 1))
    return "|".join([*parts, digits])


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
