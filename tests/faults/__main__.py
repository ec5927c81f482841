"""Runs the matrix of faults on a lab of its own, prints a table and keeps the figures as JSON."""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from bench.figures import keep
from lab import Lab
from tests.faults import matrix
from tests.faults.ground import Ground
from tests.faults.lives import Verdict, lead

WHICH = {"some": matrix.some, "rotated": matrix.rotated, "every": matrix.every}


def main() -> int:
    """0 when nothing was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("which", choices=WHICH, nargs="?", default="rotated")
    parser.add_argument("--lab", default="faults", help="its name; it stays for the next run")
    parser.add_argument("--only", default="", help="lives that have this text in a case")
    asked = parser.parse_args()
    lab = Lab(asked.lab)
    lab.up(["harbor-1"], progress=lambda text: say(f"==> {text}"))
    lives = [one for one in WHICH[asked.which]() if any(asked.only in str(case) for case in one)]
    verdicts: list[Verdict] = []
    with tempfile.TemporaryDirectory(prefix="margrave-faults-") as base:
        ground = Ground(lab, "harbor-1", Path(base))
        ground.open()
        try:
            for life in lives:
                for verdict in lead(ground, life):
                    say(_row(verdict))
                    verdicts.append(verdict)
        finally:
            ground.close()
    bad = [one for one in verdicts if one.findings]
    keep(
        "faults",
        {"cases": len(verdicts), "wrong": len(bad), "verdicts": list(map(_told, verdicts))},
    )
    return 1 if bad else 0


def say(text: str) -> None:
    """A line as soon as it is known."""
    sys.stderr.write(f"{text}\n")


def _row(one: Verdict) -> str:
    said = "right" if not one.findings else "; ".join(one.findings)
    return f"{one.case.deed:15} {one.case.step:10} {one.case.fault:9} {one.seconds:6.1f} s  {said}"


def _told(one: Verdict) -> dict[str, object]:
    return {**asdict(one.case), "seconds": round(one.seconds, 1), "findings": list(one.findings)}


if __name__ == "__main__":
    sys.exit(main())
