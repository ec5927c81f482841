"""Signatures: every path of the site's subtree was last changed by a trusted commit."""

from __future__ import annotations

from typing import Final

from runner.source.clone import Clone
from runner.source.desired import Halted

_GOOD: Final = "G"
_MARK: Final = "\x01"


def check(clone: Clone, head: str, site: str, allowed_signers: str) -> None:
    """Halted when a document of the site was last changed by nobody we trust.

    A path that is gone counts too: its removal must have been signed.
    """
    text = clone.log(
        f"--format={_MARK}%H %G?",
        "--name-only",
        "--no-renames",
        "-m",
        "--first-parent",
        head,
        "--",
        f"deployments/{site}",
        f"sites/{site}.yaml",
        f"secrets/{site}",
        config=(f"gpg.ssh.allowedSignersFile={allowed_signers}",),
    )
    for path, (commit, status) in sorted(last_changes(text).items()):
        if status != _GOOD:
            raise Halted(
                head,
                f"{path}: last changed by {commit[:12]}, which no allowed signer signed",
                "sign it with a key of git.allowed_signers, or push a signed change over it",
            )


def last_changes(text: str) -> dict[str, tuple[str, str]]:
    """Of each path the newest commit that changed it, with its signature's status."""
    changes: dict[str, tuple[str, str]] = {}
    for block in text.split(_MARK)[1:]:
        first, *paths = block.splitlines()
        commit, _, status = first.partition(" ")
        for path in filter(None, paths):
            changes.setdefault(path, (commit, status))
    return changes
