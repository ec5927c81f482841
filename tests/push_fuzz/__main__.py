"""Pushes mutated documents and components to one site, and checks that another site goes on.

After each push a change of the other site must be published and shown within five seconds. Prints
the figures and keeps them as JSON under var/bench; exit status 1 when something did not hold.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from bench.figures import ROOT, keep
from tests.push_fuzz.ground import Through, ground
from tests.push_fuzz.run import Figures, run
from tests.support import postgres


def main() -> int:
    """0 when everything held."""
    parser = argparse.ArgumentParser(prog="python -m tests.push_fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="pushes (default 2000)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed, the same changes")
    words = "the controller's own Git endpoint, or a forge without a hook"
    parser.add_argument(
        "--through", type=Through, choices=Through, default=Through.ENDPOINT, help=words
    )
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    began = time.monotonic()

    def progress(number: int, figures: Figures) -> None:
        if number % 50 == 0:
            seconds, bad = time.monotonic() - began, len(figures.violations)
            sys.stderr.write(f"{number} of {asked.count} after {seconds:.0f} s, {bad} violations\n")
        if figures.violations and figures.violations[-1].startswith(f"{number - 1} "):
            sys.stderr.write(f"{figures.violations[-1]}\n")

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="margrave-fuzz-")))
        url = ""
        if asked.database == "postgresql":
            url = stack.enter_context(postgres.server()).create()
        made = stack.enter_context(ground(folder, asked.through, url))
        figures = run(made, asked.seed, asked.count, ROOT / "var/push_fuzz", progress)
        log = (folder / "controller.log").read_text(errors="replace")
    name = f"push-fuzz-{asked.through}-{asked.database}-{asked.seed}"
    defects = log.count("Traceback (most recent call last)")
    keep(name, {"seed": asked.seed, **figures.as_dict(), "tracebacks in the log": defects})
    (ROOT / "var/push_fuzz").mkdir(parents=True, exist_ok=True)
    (ROOT / f"var/push_fuzz/{name}.log").write_text(log)
    return 1 if figures.violations else 0


if __name__ == "__main__":
    sys.exit(main())
