"""How much is done at once on a node: what is beyond that waits for its turn. Pure.

An edge node is small, and pulling the images of thirty applications at once helps none of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from margrave.planning import SitePlan, Step, Waiting


def in_turn(plan: SitePlan, at_work: Iterable[str], most: int) -> SitePlan:
    """The plan with what exceeds `most` on a node put off, in the order in which it stands.

    `at_work` names the node of each call that is under way; what overtakes one of them takes its
    place. The words of the waiting are always the same ones: a number in them would be told anew
    with each call that ends.
    """
    busy = Counter(at_work)
    turn = Waiting("operation", detail=f"{most} at once on a node (execute.per_node)")
    steps: list[Step] = []
    for step in plan.steps:
        takes = step.due and not step.overtakes
        if takes and busy[step.node] >= most:
            steps.append(replace(step, waiting=turn))
            continue
        busy[step.node] += takes
        steps.append(step)
    return replace(plan, steps=tuple(steps))
