"""Route by a plain playbook: the module alone is given the package."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tests.escape import differences
from tests.escape.catalogue import Expectation, Package
from tests.escape.differences import Listing
from tests.escape.ground import Ground
from tests.escape.verdicts import Evidence, Verdict, judge

TOGETHER = 12


def attempt_all(ground: Ground, packages: Sequence[Package]) -> Iterator[Verdict]:
    """Judge each package: those that must be refused together, as long as they all are."""
    refused = [package for package in packages if package.expect is Expectation.REFUSED]
    for start in range(0, len(refused), TOGETHER):
        batch = refused[start : start + TOGETHER]
        before = ground.listing()
        verdicts = _together(ground, batch, before)
        if not any(verdict.findings for verdict in verdicts):
            yield from verdicts
            continue
        ground.delete(batch)
        ground.recover(before, [package.deployment for package in batch])
        for package in batch:
            yield attempt(ground, package)
    for package in packages:
        if package.expect is not Expectation.REFUSED:
            yield attempt(ground, package)


def attempt(ground: Ground, package: Package) -> Verdict:
    """Judge one package by itself, and leave the node as it was."""
    before = ground.listing()
    ground.listener.take()
    answer = ground.install([package])[0]
    after = ground.listing([package.deployment])
    verdict = judge(package, "module", ground.engine, _evidence(ground, answer, before, after))
    if differences.started(after, [package.deployment]):
        ground.delete([package])
    ground.recover(before, [package.deployment])
    return verdict


def _together(ground: Ground, packages: Sequence[Package], before: Listing) -> list[Verdict]:
    """Judge the packages by one playbook; a finding is then one of any of them."""
    own = [package.deployment for package in packages]
    ground.listener.take()
    answers = ground.install(packages)
    after = ground.listing(own)
    rest = differences.between(before, after, own)
    connections = ground.listener.take()
    return [
        judge(
            package,
            "module",
            ground.engine,
            Evidence(
                str(answer.get("state") or ""),
                answer.get("error") or {},
                answer,
                before if rest else after,
                after,
                connections,
            ),
        )
        for package, answer in zip(packages, answers, strict=True)
    ]


def _evidence(ground: Ground, answer: dict[str, Any], before: Listing, after: Listing) -> Evidence:
    state, error = str(answer.get("state") or ""), answer.get("error") or {}
    return Evidence(state, error, answer, before, after, ground.listener.take())
