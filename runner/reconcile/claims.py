"""Whose the nodes are: what a node's mark says to this runner. Pure.

Two runners of one site are a mistake, and which of them is wrong only a person knows: the one that
meets a mark that is not its own stands down, and says what it met. So does a runner whose state
folder is an older copy: it would count again numbers that it has given before, and think again
what it has done before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runner.store.values import Identity

TAKE_OVER: Final = "margrave runner takeover goes on from here, once no other runner is at work"
# Of the calls that a node refused although this runner holds them for running.
NOT_OURS: Final = ("other-runner", "fence-passed")


def objection(node: str, mark: Mapping[str, Any] | None, own: Identity) -> str:
    """Why this runner must not work on the node; empty when it may."""
    if not mark or not isinstance(mark.get("epoch"), int):
        return ""
    epoch, same = mark["epoch"], mark.get("runner") == own.runner
    if epoch < own.epoch:
        return ""  # the next call claims it
    if same:
        seq = mark.get("seq")
        newer = epoch > own.epoch or (isinstance(seq, int) and seq > own.fence_seq)
        return _older_copy(node) if newer else ""
    return f"{node} belongs to runner {mark.get('runner')} with epoch {epoch} ({TAKE_OVER})"


def refused(node: str, error: Mapping[str, Any]) -> str:
    """The same from a call that was refused; empty for any other error."""
    if error.get("code") == "fence-passed":
        return _older_copy(node)
    if error.get("code") == "other-runner":
        return f"{node}: {error.get('message')} ({TAKE_OVER})"
    return ""


def _older_copy(node: str) -> str:
    return (
        f"{node} has seen later calls of this very runner: its state folder is an older copy"
        f" ({TAKE_OVER})"
    )
