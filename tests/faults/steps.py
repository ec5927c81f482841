"""The steps of each operation, named by what the module is about to do on the node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


class Deed(StrEnum):
    """What a life consists of; each is one push to the deployments repository."""

    INSTALL = "install"
    UPDATE = "update"
    FAILING = "failing update"  # 1.2.0 never gets healthy: goes back on the node, then proven
    ROLLBACK = "rollback"  # an operator's: the release before it is on the node still
    DELETE = "delete"


@dataclass(frozen=True)
class Step:
    """A place where a module can be stopped: just before this happens for the n-th time."""

    event: str
    text: str = ""
    nth: int = 1
    within: tuple[str, ...] = ()
    # Only in a module that has this one of the collection's parts; empty: in any.
    part: str = ""
    # Nothing of the old version may have been touched yet.
    before_switch: bool = True

    def plan(self, act: str) -> dict[str, Any]:
        """What the node is told."""
        return {
            "act": act,
            "event": self.event,
            "text": self.text,
            "nth": self.nth,
            "within": list(self.within),
            "part": self.part,
        }


def _renames(text: str, nth: int = 1, *, before_switch: bool = True) -> Step:
    return Step("os.rename", text, nth, before_switch=before_switch)


def _runs(word: str, nth: int = 1, *, before_switch: bool = True) -> Step:
    return Step("subprocess.Popen", f"'{word}'", nth, before_switch=before_switch)


def _proves(step: Step) -> Step:
    """The same in the call that proves what an update has gone back to."""
    return replace(step, part="_rollback", before_switch=False)


APPLY = {
    "claim": _renames("/fences/"),  # the fence is not written yet
    "begin": _renames("journal.json'"),  # the fence is, the journal is not
    "unpack": Step("os.mkdir", "/releases/", nth=2),
    "resolve": _runs("config"),
    "pull": Step("socket.connect", within=("pull",)),
    "fetched": Step("os.rename", "journal.json'", nth=2),  # all is here, nothing was switched
    "up": _runs("up"),
    "prove": Step("socket.connect", within=("wait",), before_switch=False),
}
DONE = {
    "commit": _renames("journal.json'", 3, before_switch=False),
    "link": _renames("current.tmp", before_switch=False),
    "done": _renames("journal.json'", 4, before_switch=False),
    "answer": _renames("/fences/", 2, before_switch=False),
    "end": Step("os.remove", ".lock", before_switch=False),
}
# Nothing is unpacked, resolved or pulled: the release is complete, and its images are there.
AGAIN = {name: APPLY[name] for name in ("claim", "begin", "fetched", "up", "prove")}
PROOF = {
    "claim proof": _proves(_renames("/fences/")),
    "look back": _proves(Step("socket.connect", within=("rollback",))),
    "proof": _proves(_renames("/fences/", 2)),
    "end proof": _proves(Step("os.remove", ".lock")),
}
STEPS: Mapping[Deed, Mapping[str, Step]] = {
    # The first claim of a node makes the folder of releases itself, and with it one more step.
    Deed.INSTALL: {**APPLY, **DONE},
    Deed.UPDATE: {**APPLY, "unpack": Step("os.mkdir", "/releases/"), **DONE},
    Deed.FAILING: {
        **APPLY,
        "unpack": Step("os.mkdir", "/releases/"),
        "go back": _renames("journal.json'", 3, before_switch=False),
        "up again": _runs("up", 2, before_switch=False),
        "went back": _renames("journal.json'", 4, before_switch=False),
        "answer": _renames("/fences/", 2, before_switch=False),
        "end": Step("os.remove", ".lock", before_switch=False),
        **PROOF,
    },
    Deed.ROLLBACK: {**AGAIN, **DONE},
    Deed.DELETE: {
        "claim": _renames("/fences/"),
        "begin": _renames("journal.json'"),
        "down": _runs("down", before_switch=False),
        "forget": Step("os.remove", "/current'", before_switch=False),
        "images": Step("os.remove", "release.json", before_switch=False),
        "releases": Step("shutil.rmtree", "/releases'", before_switch=False),
        "journal": Step("os.remove", "journal.json", before_switch=False),
        "folder": Step("os.rmdir", "/deployments'", before_switch=False),
        "answer": _renames("/fences/", 2, before_switch=False),
        "end": Step("os.remove", ".lock", before_switch=False),
    },
}
