# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Amounts of memory and storage, as applications and nodes state them."""

from __future__ import annotations

import re

UNITS = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(Ki|Mi|Gi|Ti|Pi|Ei|)")


def in_bytes(amount: str | int) -> int:
    """Bytes of C(512Mi), C(59 Gi) or a plain number; ValueError for what is no amount."""
    if isinstance(amount, int) and not isinstance(amount, bool):
        return amount
    match = AMOUNT.fullmatch(str(amount).strip())
    if match is None:
        raise ValueError(f'"{amount}" is not an amount (a number with Ki, Mi, Gi, Ti, Pi or Ei)')
    return int(float(match[1]) * 1024 ** UNITS.index(match[2]))


def in_words(count: int) -> str:
    """The amount in its largest unit that leaves a whole part."""
    power = max(p for p in range(len(UNITS)) if p == 0 or count >= 1024**p)
    if power == 0:
        return str(count)
    return f"{count / 1024**power:.1f}".removesuffix(".0") + UNITS[power]
