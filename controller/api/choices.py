"""Words of a query that are one of a few; a word nobody knows is a finding at its place."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from margrave.findings import Finding, did_you_mean

W = TypeVar("W", bound=StrEnum)


def word(text: str | None, kind: type[W], where: str, findings: list[Finding]) -> W | None:
    """The word; None when nothing is asked for, or nothing that is known."""
    if text is None:
        return None
    words = [member.value for member in kind]
    if text in words:
        return kind(text)
    findings.append(Finding(where, f'"{text[:40]}" is not one', did_you_mean(text, words)))
    return None


def words(text: str | None, kind: type[W], where: str, findings: list[Finding]) -> tuple[W, ...]:
    """Several words with commas between them: any of them will do."""
    found = (
        [word(one, kind, where, findings) for one in text.split(",")] if text is not None else []
    )
    return tuple(dict.fromkeys(one for one in found if one is not None))
