"""Durations as operators write them (`90s`, `5m`, `2h`) and as Margo writes them (`0m15s`)."""

from __future__ import annotations

import re
from typing import Final

from margrave.errors import Refused

PATTERN: Final = r"[0-9]{1,9}(s|m|h)"
MARGO_PATTERN: Final = r"[0-9]{1,9}m[0-9]{1,9}s"

# Ten years: what is longer is a slip, and no clock or timer can be set by it.
LONGEST: Final = 87_600 * 3600
# What a deployment may wait for at a time: a time-out, a grace period, a backoff.
LONGEST_WAIT: Final = 24 * 3600

_UNITS: Final = {"s": 1, "m": 60, "h": 3600}


def seconds(text: str) -> int:
    """Return the seconds of `<n>(s|m|h)`, at most LONGEST, or raise Refused."""
    found = parse(text)
    if found > LONGEST:
        raise Refused(f'"{text}" is longer than ten years', "write 87600h at most")
    return found


def parse(text: str) -> int:
    """Return the seconds of `<n>(s|m|h)`, however many, or raise Refused."""
    if not re.fullmatch(PATTERN, text):
        raise Refused(f'"{text}" is not a duration', "write a number and s, m or h, such as 90s")
    return int(text[:-1]) * _UNITS[text[-1]]


def pattern_up_to(most: int, *, zero: bool = False) -> str:
    """Return the pattern of one second to that many, for readers that know patterns alone."""
    none = ["0+[smh]"] if zero else []
    some = [f"0*({_numbers(most // unit)}){name}" for name, unit in _UNITS.items()]
    return "|".join([*none, *some])


def margo_pattern_up_to(most: int) -> str:
    """Return a pattern for Margo's form whose minutes and seconds are each within the limit."""
    minutes, rest = (f"0*({_numbers(most // unit)}|0)" for unit in (60, 1))
    return f"{minutes}m{rest}s"


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
