"""Runs the matrix of faults on a lab of its own, prints a table and keeps the figures as JSON."""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from bench.figures import keep
from lab import Engine, Lab
from tests.faults import matrix
from tests.faults.ground import Ground
from tests.faults.lives import Verdict, lead
from tests.faults.truth import command as truth

NODES = {Engine.PODMAN: "harbor-1", Engine.DOCKER: "yard-1"}
WHICH = {
    "some": matrix.some,
    "rotated": matrix.rotated,
    "every": matrix.every,
    "clock": matrix.clock,
}


def main() -> int:
    """0 when nothing was found."""
    if sys.argv[1:2] == ["truth"]:
        return truth.main(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("which", choices=WHICH, nargs="?", default="rotated")
    parser.add_argument("--lab", default="faults", help="its name; it stays for the next run")
    parser.add_argument("--only", default="", help="lives that have this text in a case")
    parser.add_argument("--engine", choices=Engine, type=Engine, default=Engine.PODMAN)
    parser.add_argument("--part", default="1/1", help="K/N: the k-th of n parts of the lives")
    asked = parser.parse_args()
    part, parts = map(int, asked.part.split("/"))
    lab, node = Lab(asked.lab), NODES[asked.engine]
    lab.up([node], engine=asked.engine, progress=lambda text: say(f"==> {text}"))
    lives = [one for one in WHICH[asked.which]() if any(asked.only in str(case) for case in one)]
    verdicts: list[Verdict] = []
    with tempfile.TemporaryDirectory(prefix="margrave-faults-") as base:
        clocked = asked.which == "clock"
        ground = Ground(lab, node, Path(base), asked.engine, clocked=clocked)
        ground.open()
        try:
            for life in lives[part - 1 :: parts]:
                for verdict in lead(ground, life):
                    say(_row(verdict))
                    verdicts.append(verdict)
        finally:
            ground.close()
    bad = [one for one in verdicts if one.findings]
    keep(
        f"faults-{asked.engine}-{asked.which}-{part}of{parts}",
        {"cases": len(verdicts), "wrong": len(bad), "verdicts": list(map(_told, verdicts))},
    )
    return 1 if bad else 0


def say(text: str) -> None:
    """A line as soon as it is known."""
    sys.stderr.write(f"{text}\n")


def _row(one: Verdict) -> str:
    said = "right" if not one.findings else "; ".join(one.findings)
    return f"{one.case.deed:15} {one.case.step:10} {one.case.fault:11} {one.seconds:6.1f} s  {said}"


def _told(one: Verdict) -> dict[str, object]:
    return {**asdict(one.case), "seconds": round(one.seconds, 1), "findings": list(one.findings)}


if __name__ == "__main__":
    sys.exit(main())
