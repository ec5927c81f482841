"""Sends every package every way on a lab of its own, prints verdicts and keeps figures as JSON."""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.figures import keep
from lab import Engine, Lab, kubernetes
from tests.escape import archives, by_module, catalogue
from tests.escape.admitted import controller, judge_admission
from tests.escape.by_push import pusher
from tests.escape.catalogue import Names, Package
from tests.escape.ground import Ground
from tests.escape.verdicts import Verdict

NODES = {Engine.PODMAN: "depot-1", Engine.DOCKER: "yard-1", Engine.KUBERNETES: "kube-1"}
ROUTES = ("admission", "module", "push")


def main() -> int:
    """Return 0 when nothing got out and everything ordinary runs."""
    parser = argparse.ArgumentParser(prog="python -m tests.escape", description=__doc__)
    parser.add_argument("--lab", default="escape", help="its name; it stays for the next run")
    parser.add_argument("--engine", action="append", choices=NODES, type=Engine, default=[])
    parser.add_argument("--route", action="append", choices=ROUTES, default=[])
    parser.add_argument("--only", default="", help="packages whose name this expression finds")
    options = parser.parse_args()
    verdicts: list[Verdict] = []
    for engine in options.engine or list(NODES):
        with tempfile.TemporaryDirectory(prefix="margrave-escape-") as base:
            routes = options.route or ROUTES
            for verdict in run(Lab(options.lab), engine, Path(base), routes, options.only):
                say(f"{'wrong' if verdict.findings else 'right'}  {verdict}")
                verdicts.append(verdict)
    wrong = [verdict for verdict in verdicts if verdict.findings]
    for line in summary(verdicts):
        say(line)
    figures = {"count": len(verdicts), "wrong": [asdict(verdict) for verdict in wrong]}
    keep("escape", {**figures, "summary": list(summary(verdicts))})
    return 1 if wrong else 0


def run(
    lab: Lab, engine: Engine, base: Path, routes: Sequence[str], only: str
) -> Iterator[Verdict]:
    """Send the engine's packages the routes."""
    if "admission" in routes:
        yield from admission(engine, base / "admission", only)
    if set(routes) <= {"admission"}:
        return
    node = NODES[engine]
    lab.up([node], engine=engine, progress=lambda text: say(f"==> {text}"))
    if engine is Engine.KUBERNETES:
        kubernetes.install(lab, node)
    ground = Ground(lab, node, engine, base)
    ground.open()
    try:
        packages = chosen(engine, ground.names, only)
        if "module" in routes:
            yield from by_module.attempt_all(ground, packages)
        if "push" in routes:
            with pusher(ground) as pusher_of_node:
                yield from pusher_of_node.attempt_all(
                    [package for package in packages if package.archive is None]
                )
                if not only and engine is not Engine.KUBERNETES:
                    yield from pusher_of_node.attempt_tampered()
    finally:
        ground.close()


def admission(engine: Engine, folder: Path, only: str) -> Iterator[Verdict]:
    """Hold the engine's packages against the controller's admission."""
    packages = [package for package in chosen(engine, Names(), only) if package.archive is None]
    with controller(folder, packages) as checking:
        for package in packages:
            yield judge_admission(checking, package, engine)


def chosen(engine: Engine, names: Names, only: str) -> list[Package]:
    """Return the packages for an engine whose name the expression finds."""
    if engine is Engine.KUBERNETES:
        packages = catalogue.hostile_charts(names) + catalogue.ordinary_charts(names)
    else:
        hostile = catalogue.hostile_compose(names) + archives.packages()
        packages = hostile + catalogue.ordinary_compose(names)
    return [
        package
        for package in packages
        if engine in package.engines and re.search(only, package.name)
    ]


def summary(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Count verdicts by engine and route."""
    every = Counter((verdict.engine, verdict.route) for verdict in verdicts)
    wrong = Counter((verdict.engine, verdict.route) for verdict in verdicts if verdict.findings)
    for (engine, route), count in sorted(every.items()):
        yield f"{engine:10} {route:10} {count:4} packages, {wrong[engine, route]:4} wrong"


def say(text: str) -> None:
    """Print a line as soon as it is known."""
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
