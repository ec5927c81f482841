"""Signatures: every path of the site's subtree was last changed by a trusted commit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from runner.source.clone import Clone
from runner.source.desired import Halted
from runner.source.origins import Answer, answer, steps_of

_GOOD: Final = "G"
_SHOWN: Final = 3
_ARGUMENTS: Final = 500  # commits per git process: a command line has an end
# Only SSH signers are listed. A key that some other keyring trusts is nobody we know.
_ONLY_SSH: Final = ("gpg.openpgp.program=false", "gpg.x509.program=false")


class Signatures:
    """Remembers what was checked, so that the next push costs what it brings and no more."""

    def __init__(self, clone: Clone, site: str, allowed_signers: str) -> None:
        self._clone = clone
        self._paths = (f"deployments/{site}", f"sites/{site}.yaml", f"secrets/{site}")
        self._signers = Path(allowed_signers)
        self._trusted_by = ""  # digest of the list that the next two were found with
        self._checked: str | None = None
        self._status: dict[str, str] = {}

    def check(self, head: str) -> None:
        """Halted when something of the site was last changed by nobody we trust.

        A path that is gone counts too: its removal must have been signed.
        """
        self._read_signers(head)
        if head == self._checked:
            return
        found = self._answer(head)
        self._verify({one for commits in found.for_paths.values() for one in commits})
        bad = [
            f"{path}: last changed by {commit[:12]}, which no allowed signer signed"
            for path, commits in sorted(found.for_paths.items())
            for commit in sorted(commits)
            if self._status.get(commit) != _GOOD
        ]
        if bad:
            more = f"; and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
            raise Halted(
                head,
                "; ".join(bad[:_SHOWN]) + more,
                "have an allowed signer replace or remove that content, or add the key to"
                " git.allowed_signers; a signed commit elsewhere does not help",
            )
        self._checked = head

    def _read_signers(self, head: str) -> None:
        """Start afresh when the list of signers is another one."""
        try:
            digest = hashlib.sha256(self._signers.read_bytes()).hexdigest()
        except OSError as error:
            raise Halted(
                head, f"{self._signers}: {error.strerror}", "put the list of allowed signers there"
            ) from error
        if digest != self._trusted_by:
            self._trusted_by, self._checked, self._status = digest, None, {}

    def _answer(self, head: str) -> Answer:
        """Who answers for the head: back to what was checked before, or to the beginning."""
        if self._checked is not None and self._clone.leads_to(self._checked, head):
            found = self._walk(head, f"^{self._checked}")
            # Content taken from before the checked commit was not looked at there.
            if not set(found.left) - {self._checked}:
                return found
        return self._walk(head)

    def _walk(self, *revisions: str) -> Answer:
        graph = self._clone.graph(*revisions)
        return answer(steps_of(graph, self._clone.differences(graph, self._paths)))

    def _verify(self, commits: Iterable[str]) -> None:
        unknown = sorted(set(commits) - self._status.keys())
        config = (f"gpg.ssh.allowedSignersFile={self._signers.absolute()}", *_ONLY_SSH)
        for at in range(0, len(unknown), _ARGUMENTS):
            some = unknown[at : at + _ARGUMENTS]
            text = self._clone.log("--no-walk=unsorted", "--format=%H %G?", *some, config=config)
            self._status.update(
                (commit, status)
                for commit, _, status in (x.partition(" ") for x in text.split("\n"))
            )
