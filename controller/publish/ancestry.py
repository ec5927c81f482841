"""Ancestry of commits: whether what a site has applied contains what Git wants there.

Commits never change, so an answer holds for ever. A list of sites costs two runs of Git for each
applied commit that it meets first, not one for each site.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from controller.gate.git_command import GitFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from controller.gate.git_command import GitCommand

MOST_KNOWN: Final = 20_000  # answers in memory; beyond them it begins anew

Pair = tuple[str | None, str | None]  # what is applied, what is wanted


class Ancestry:
    """Answers from one repository, kept in memory."""

    def __init__(self, git: GitCommand) -> None:
        self._git = git
        self._behind: dict[tuple[str, str], bool | None] = {}

    def behind(self, pairs: Sequence[Pair]) -> list[bool | None]:
        """Return for each pair whether the applied commit lacks the wanted one.

        None where nobody can tell: nothing is applied yet, or the commit is not in this repository.
        """
        whole = [
            (applied, wanted)
            for applied, wanted in pairs
            if applied is not None and wanted is not None and applied != wanted
        ]
        self._learn(pair for pair in whole if pair not in self._behind)
        return [self._answer(applied, wanted) for applied, wanted in pairs]

    def _answer(self, applied: str | None, wanted: str | None) -> bool | None:
        if wanted is None or applied == wanted:
            return False
        return None if applied is None else self._behind.get((applied, wanted))

    def _learn(self, pairs: Iterable[tuple[str, str]]) -> None:
        wanted_by_applied: dict[str, set[str]] = defaultdict(set)
        for applied, wanted in pairs:
            wanted_by_applied[applied].add(wanted)
        if len(self._behind) > MOST_KNOWN:
            self._behind = {}
        for applied, commits in wanted_by_applied.items():
            if not self._git.holds("cat-file", "-e", f"{applied}^{{commit}}"):
                continue  # it may be fetched yet
            try:
                lacking = self._lacking(applied, commits)
            except GitFailed:
                continue
            self._behind |= {(applied, commit): commit in lacking for commit in commits}

    def _lacking(self, applied: str, wanted: set[str]) -> set[str]:
        asked = "".join(f"{commit}\n" for commit in sorted(wanted)) + f"^{applied}\n"
        return set(self._git("rev-list", "--stdin", stdin=asked.encode()).decode().split())
