"""Amounts of memory and storage in binary units."""

from __future__ import annotations

import re
from typing import Final

from margrave.errors import Refused

UNITS: Final = {
    "": 1,
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
    "Pi": 2**50,
    "Ei": 2**60,
}


def in_bytes(text: str | int) -> int:
    """Bytes of `512Mi`, `59 Gi` (the standard's own example has the blank) or a plain number."""
    if isinstance(text, int):
        return text
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?(Ki|Mi|Gi|Ti|Pi|Ei|)", text.strip())
    if match is None:
        raise Refused(f'"{text}" is not an amount', "write a number with Ki, Mi, Gi, Ti, Pi or Ei")
    return int(float(match[1]) * UNITS[match[2]])


def in_words(count: int) -> str:
    """The amount in its largest unit that leaves a whole part."""
    for unit in reversed(UNITS):
        if unit and count >= UNITS[unit]:
            return f"{count / UNITS[unit]:.1f}".removesuffix(".0") + unit
    return str(count)


def for_people(number: object) -> str | None:
    """Bytes as people read them, or nothing where nobody knows how many."""
    if not isinstance(number, int | float):
        return None
    for unit in ("B", "KiB", "MiB"):
        if number < 1024:
            return f"{number:.0f} {unit}"
        number /= 1024
    return f"{number:.1f} GiB"
