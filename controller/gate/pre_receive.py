"""The pre-receive hook: documents with errors do not get in, and the pusher reads why.

Git calls it with the pushed objects in quarantine: what it refuses was never there.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from controller.gate.git_command import BRANCH, GitFailed
from controller.gate.pushed import Pushed

if TYPE_CHECKING:
    from collections.abc import Iterable

NOTHING: Final = "0" * 40
MOST_SHOWN: Final = 50
MOST_REFERENCES: Final = 500  # each is recorded, by its name


def main(lines: Iterable[str], pushed: Pushed) -> int:
    """0 when everything may come in, else 1 with the findings on standard error."""
    told: list[str] = []
    listed = [line.rstrip("\n").split(" ", 2) for line in lines]
    if len(listed) > MOST_REFERENCES:
        words = f"a push moves at most {MOST_REFERENCES} references: push them in parts"
        sys.stderr.write(f"margrave: {words}\n")
        return 1
    for old, new, reference in listed:
        told += _refusals(pushed, old, new, reference)
    for words in told[:MOST_SHOWN]:
        sys.stderr.write(f"margrave: {words}\n")
    if len(told) > MOST_SHOWN:
        sys.stderr.write(f"margrave: and {len(told) - MOST_SHOWN} more\n")
    return 1 if told else 0


def _refusals(pushed: Pushed, old: str, new: str, reference: str) -> list[str]:
    if not reference.startswith(("refs/heads/", "refs/tags/")):
        return [f"{reference}: only branches and tags are taken"]
    if reference != BRANCH:
        return []
    if new == NOTHING:
        return [f"{reference}: the branch that runners follow cannot be deleted"]
    try:
        return [str(one) for one in pushed.findings(None if old == NOTHING else old, new)]
    except GitFailed as error:
        return [f"{reference}: cannot be checked: {error}"]
    except Exception as error:  # noqa: BLE001 - a refusal that says why, not a traceback
        return [f"{reference}: cannot be checked: a defect, please report it: {error!r}"[:500]]


if __name__ == "__main__":
    sys.exit(main(sys.stdin, Pushed(os.environ.get("GIT_DIR", "."), os.environ)))
