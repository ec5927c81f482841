"""Which commits answer for what stands in a folder: the last to change each path, and who merged.

Pure: the graph and what differs along it are given. Git's own idea of "last changed" follows one
parent of a merge and forgets the other; somebody could hide a change behind the side it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Step:
    """A commit, and of each of its parents the paths that differ from it; a root has none."""

    commit: str
    parents: tuple[str, ...]
    differs: tuple[frozenset[str], ...]  # one per parent; for a root one: all that stands there


@dataclass(slots=True)
class Answer:
    """Who answers for what; `left` are the paths that led out of the steps, by the commit there."""

    for_paths: dict[str, set[str]] = field(default_factory=dict)  # path -> commits
    left: dict[str, set[str]] = field(default_factory=dict)

    def answers(self, commit: str, paths: Iterable[str]) -> None:
        """Note that the commit answers for these paths."""
        for path in paths:
            self.for_paths.setdefault(path, set()).add(commit)


def answer(steps: Sequence[Step]) -> Answer:
    """Who answers for the newest step's content. Steps stand children before parents.

    * A commit that differs from its only parent changed the path, also by taking it away.
    * A merge that differs from any of its parents made a choice, and answers for it; where it took
      one side's content, that side answers too: a trusted merge launders nothing.
    * A merge that differs from no parent chose nothing; all its sides answer.
    """
    found = Answer()
    if not steps:
        return found
    touched = _union(one for step in steps for one in step.differs)
    pending = {steps[0].commit: set(touched)}
    for step in steps:
        paths = pending.pop(step.commit, None)
        if paths:
            found.answers(step.commit, paths & _union(step.differs))
            _pass_on(step, paths, pending)
    found.left = pending
    return found


def _pass_on(step: Step, paths: set[str], pending: dict[str, set[str]]) -> None:
    # A root has no parent to pass anything to: what it does not hold never was.
    for parent, differs in zip(step.parents, step.differs, strict=False):
        same = paths - differs
        if parent in pending:
            pending[parent] |= same
        elif same:
            pending[parent] = same


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*sets)


def steps_of(graph: Mapping[str, tuple[str, ...]], differences: Iterable[str]) -> list[Step]:
    """Steps from the graph (children before parents) and the words of `git diff-tree`.

    The words are, for each commit and each of its parents in order, the commit and then the paths
    that differ. A path holds a slash and a commit never does.
    """
    blocks: list[list[str]] = []
    for word in differences:
        if "/" in word:
            blocks[-1].append(word)
        else:
            blocks.append([])
    steps, at = [], 0
    for commit, parents in graph.items():
        upto = at + max(1, len(parents))
        steps.append(Step(commit, parents, tuple(frozenset(one) for one in blocks[at:upto])))
        at = upto
    return steps
