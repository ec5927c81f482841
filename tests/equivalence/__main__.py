"""Leads generated stories on nodes of a lab of its own, prints and keeps what came of them."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from hypothesis import HealthCheck, Phase, given, seed, settings

from bench.figures import keep
from lab import Engine, Lab
from tests.equivalence.known import STORIES
from tests.equivalence.oracle import NODES, Oracle, opened
from tests.equivalence.stories import Story, stories


def main() -> int:
    """Return 0 when no story ended with a difference."""
    parser = argparse.ArgumentParser(prog="python -m tests.equivalence", description=__doc__)
    parser.add_argument("--engine", choices=list(NODES), type=Engine, default=Engine.PODMAN)
    parser.add_argument("--examples", type=int, default=50, help="how many generated stories")
    parser.add_argument("--minutes", type=float, default=600, help="begin no story after these")
    parser.add_argument("--longest", type=int, default=8, help="the most steps of a story")
    parser.add_argument("--seed", type=int, default=0, help="another one gives other stories")
    parser.add_argument("--lab", default="equivalence", help="its name; it stays for the next run")
    parser.add_argument(
        "--known",
        metavar="TEXT",
        nargs="?",
        const="",
        help="the stories by name instead, or those that have this text in theirs",
    )
    parser.add_argument("--no-shrink", action="store_true", help="report the first find as it is")
    options = parser.parse_args()
    begun = time.monotonic()
    with opened(Lab(options.lab), options.engine) as oracle:
        named = options.known is not None
        findings = _known(oracle, options.known) if named else _generated(oracle, options)
        figures = {
            "engine": str(options.engine),
            "requested": "by name" if named else f"{options.examples} with seed {options.seed}",
            "stories": oracle.stories,
            "steps": {str(deed): count for deed, count in sorted(oracle.steps.items())},
            "stopped at a step": oracle.stopped,
            "fresh installs": oracle.fresh.count,
            "seconds": round(time.monotonic() - begun, 1),
            "findings": findings,
        }
    keep(f"equivalence-{options.engine}-{'known' if named else options.seed}", figures)
    return 1 if findings else 0


def _known(oracle: Oracle, text: str) -> list[str]:
    """The findings of the stories that have the text in their names."""
    findings = []
    for name, story in STORIES.items():
        if text not in name:
            continue
        finding = oracle.lead(story)
        _say(f"{name}: {finding or 'equal'}")
        findings += [f"{name}: {finding}"] if finding else []
    return findings


def _generated(oracle: Oracle, options: argparse.Namespace) -> list[str]:
    """The finding of the smallest story that Hypothesis comes to; none when all are equal."""
    last: list[str] = []
    end = time.monotonic() + 60 * options.minutes
    phases = (Phase.generate,) if options.no_shrink else (Phase.generate, Phase.shrink)

    @seed(options.seed)
    @settings(
        max_examples=options.examples,
        deadline=None,
        database=None,
        phases=phases,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(stories(options.longest))
    def lead(story: Story) -> None:
        if time.monotonic() > end:
            return
        finding = oracle.lead(story)
        _say(f"{oracle.stories}: {' > '.join(_deeds(story))}: {finding or 'equal'}")
        if finding is not None:
            last[:] = [*(f"{number}. {step}" for number, step in enumerate(story, 1)), str(finding)]
            raise AssertionError(str(finding))

    try:
        lead()
    except AssertionError:
        return ["\n".join(last)]
    return []


def _deeds(story: Story) -> Sequence[str]:
    return [str(step.deed) for step in story]


def _say(text: str) -> None:
    """Print a line as soon as it is known."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
