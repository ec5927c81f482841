"""`python -m tests.faults truth`: claims compared with the truth while things break."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from bench.figures import keep
from lab import Lab
from tests.faults.truth.browser import open_pages
from tests.faults.truth.delays import DELAYS, Pace
from tests.faults.truth.judge import Spell
from tests.faults.truth.run import TruthTest, described
from tests.faults.truth.world import World

SITES: Final[Mapping[str, Sequence[str]]] = {
    "harbor": ("harbor-1", "harbor-2", "harbor-3"),
    "depot": ("depot-1", "depot-2", "depot-3"),
}
PACE: Final = Pace(heartbeat=5, drift=10, connect_timeout=5)
BEFORE: Final = 60.0  # seconds before a false claim in which its cause may lie
REST: Final = 180.0  # after the last fault everything has to become true


def main(words: Sequence[str]) -> int:
    """Return 0 when no claim was false for too long, and every wait ended right."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults truth", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--lab", default="truth", help="its name; it stays for the next run")
    parser.add_argument("--browser", action="store_true", help="read pages that stay open too")
    options = parser.parse_args(words)
    say(f"==> seed {options.seed}, {options.minutes:g} minutes")
    lab = Lab(options.lab)
    lab.up([node for nodes in SITES.values() for node in nodes], progress=say)
    base = Path(tempfile.mkdtemp(prefix="margrave-truth-"))
    world = World(lab, SITES, base, PACE)
    try:
        world.open()
        with ExitStack() as stack:
            pages = (
                stack.enter_context(open_pages(world, base / "profile")) if options.browser else ()
            )
            test = stack.enter_context(TruthTest(world, options.seed, say, pages))
            test.deploy_everywhere()
            test.at_random(options.minutes * 60)
            test.come_to_rest(REST)
    finally:
        world.close()
    return report(test, options.seed, options.minutes, base)


def report(test: TruthTest, seed: int, minutes: float, base: Path) -> int:
    """Print and keep the figures; the exit status."""
    (base / "diary").write_text("".join(f"{at_time(at)} {text}\n" for at, text in test.world.diary))
    for spell in test.judge.failures:
        say("\n".join([described(spell), *history(spell, test.world, test.stalled)]))
    problems = list(test.problems())
    codes = [ending.ran.code for ending in test.waits.endings]
    keep(
        "truth",
        {
            "seed": seed,
            "minutes": minutes,
            "looks": test.looks,
            "slowest_look": round(test.slowest_look, 1),
            "stalled": round(test.stalled),
            "compared": dict(sorted(test.judge.compared.items())),
            "deeds": test.fate.done,
            "waits": {str(code): codes.count(code) for code in sorted(set(codes), key=str)},
            "longest_false": {
                name: {"seconds": round(seconds, 1), "claim": f"{claim.channel}: {claim.subject}"}
                for name, (seconds, claim) in sorted(test.judge.longest.items())
            },
            "limits": {delay.name: delay.limit(test.world.pace) for delay in DELAYS},
            "problems": problems,
        },
    )
    say(f"==> logs and diary: {base}")
    return 1 if problems else 0


def history(spell: Spell, world: World, stalled: float) -> list[str]:
    """Return claims, observations and events of a false claim, in order."""
    lines = [(at, f"claims {claimed}, but {observed}") for at, claimed, observed in spell.history]
    begin, end = spell.began - BEFORE, spell.ended + stalled
    lines += [(at, text) for at, text in world.diary if begin <= at <= end]
    return [f"  {at_time(at)} {text}" for at, text in sorted(lines)]


def at_time(moment: float) -> str:
    """Return the time of day."""
    return time.strftime("%H:%M:%S", time.gmtime(moment))


def say(text: str) -> None:
    """Print a line as soon as it is known."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
