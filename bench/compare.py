"""The same application on the same nodes: the community's modules beside ours.

Told for each: how long it takes, what a second run changes, and what there is afterwards when a
release is never healthy, when its image does not exist, and when the disk is full.

    python -m bench.compare [--engine podman|docker]
"""

from __future__ import annotations

import argparse
import http.client
import json
import shutil
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any, Final

from bench.compare_ways import REGISTRY, WAYS, Way
from bench.figures import ROOT, keep, summary
from bench.playbooks import Playbooks, Ran
from lab import Engine, Lab

TURNS: Final = 3
BETWEEN: Final = 0.05  # seconds between two looks at the application
NOWHERE: Final = "9.9.9"  # a version whose image is in no registry


class Site:
    """A node, and how playbooks reach it."""

    def __init__(self, lab: Lab, node: str, engine: str, base: Path) -> None:
        self.lab, self.node, self.engine, self.base = lab, node, engine, base
        self.apps = _packages(base)
        self.url = f"http://{lab.node(node).address}:8000/"
        self.play = Playbooks(lab, [node], base).play

    def version(self) -> str | None:
        """What answers, or None."""
        return answering(self.url)

    def forget(self, image: str) -> None:
        """Drop an image from the node; nothing happens when it is not there."""
        self.lab.ssh(self.node, f"{self.engine} image rm -f {REGISTRY}/{image}", check=False)

    def fetch(self, *images: str) -> None:
        """Have images on the node, so that no time is the registry's."""
        for image in images:
            self.lab.ssh(self.node, f"{self.engine} pull -q {REGISTRY}/{image}", timeout=120)


def answering(url: str) -> str | None:
    """The version that answers there; None where none does, or it ends in the middle of that."""
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return str(json.load(answer)["version"])
    except (http.client.HTTPException, OSError, ValueError):
        return None


class Watch:
    """Asks the application all the time; how long it was silent at the longest."""

    def __init__(self, site: Site) -> None:
        self._site, self._end, self._longest = site, threading.Event(), 0.0
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    @property
    def silence(self) -> float:
        return round(self._longest, 2)

    def _look(self) -> None:
        heard = time.monotonic()
        while not self._end.wait(BETWEEN):
            if self._site.version() is not None:
                heard = time.monotonic()
            self._longest = max(self._longest, time.monotonic() - heard)


def _packages(base: Path) -> Path:
    """The storefront's releases, and one that names an image which does not exist."""
    apps = base / "apps"
    if not apps.is_dir():
        shutil.copytree(ROOT / "examples/apps/storefront", apps)
        shutil.copytree(apps / "1.1.0", apps / NOWHERE)
        file = apps / NOWHERE / "compose/compose.yaml"
        file.write_text(
            file.read_text().replace("storefront-web:1.1.0", f"storefront-web:{NOWHERE}")
        )
    return apps


def compare(ways: list[Way], site: Site) -> list[dict[str, Any]]:
    """The ways' whole stories on one node: good days in turns, then each one's troubles."""
    site.fetch("storefront-cache:1.0.0", *(f"storefront-web:1.{n}.0" for n in range(3)))
    days = [Days(way, site) for way in ways]
    for _ in range(TURNS):
        for one in days:
            one.go_by()
    return [one.figures() | _troubles(one.way, site) for one in days]


class Days:
    """Days on which all goes well: install, the same again, update; and away."""

    def __init__(self, way: Way, site: Site) -> None:
        self.way, self._site = way, site
        self._times: dict[str, list[float]] = {"install": [], "again": [], "update": []}
        self._silences: list[float] = []
        self._changed = 0

    def go_by(self) -> None:
        """One of them."""
        self._run("install", "1.0.0")
        self._changed = max(self._changed, self._run("again", "1.0.0").changed)
        with Watch(self._site) as watch:
            self._run("update", "1.1.0")
        self._silences.append(watch.silence)
        self._site.play(list(self.way.clean))

    def figures(self) -> dict[str, Any]:
        """What was seen."""
        return {
            "way": self.way.name,
            "engine": self.way.engine,
            "tasks": len(self.way.tasks(self._site.apps, "1.0.0")),
            **{name: summary(seconds) for name, seconds in self._times.items()},
            "changed_on_second_run": self._changed,
            "silence_while_updating": max(self._silences),
        }

    def _run(self, what: str, version: str) -> Ran:
        ran = _well(self._site.play(self.way.tasks(self._site.apps, version)))
        self._times[what].append(ran.seconds)
        return ran


def _troubles(way: Way, site: Site) -> dict[str, Any]:
    """Releases that are bad, and a disk that is full."""
    found = {
        "never_healthy": _trouble(way, site, "1.2.0"),
        "image_does_not_exist": _trouble(way, site, NOWHERE),
    }
    _well(site.play(way.tasks(site.apps, "1.0.0")))
    site.forget("storefront-web:1.1.0")
    site.lab.fail(site.node, disk_full=True)
    try:
        found["disk_full"] = _ended(site, way, "1.1.0", before="1.0.0")
    finally:
        site.lab.heal(site.node)
    found["disk_free_again"] = _ended(site, way, "1.1.0", before="1.0.0")
    site.play(list(way.clean))
    return found


def _trouble(way: Way, site: Site, version: str) -> dict[str, Any]:
    """Update the good release to a bad one."""
    _well(site.play(way.tasks(site.apps, "1.1.0")))
    return _ended(site, way, version, before="1.1.0")


def _ended(site: Site, way: Way, version: str, before: str) -> dict[str, Any]:
    ran = site.play(way.tasks(site.apps, version))
    return {
        "before": before,
        "failed": ran.failed,
        "seconds": round(ran.seconds, 1),
        "answers_afterwards": site.version(),
        "told": ran.words[:400],
    }


def _well(ran: Ran) -> Ran:
    if ran.failed:
        sys.exit(f"a run that was to go well did not: {ran.words}")
    return ran


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("--lab", help="a lab to make the nodes in, and to leave")
    parser.add_argument("--engine", choices=["podman", "docker"], help="only this one")
    asked = parser.parse_args()
    lab = Lab(asked.lab or "bench-compare")
    nodes = {"podman": "compare-1", "docker": "compare-2"}
    chosen = [asked.engine] if asked.engine else list(nodes)
    try:
        with tempfile.TemporaryDirectory(prefix="margrave-compare-") as scratch:
            for engine in chosen:
                lab.up([nodes[engine]], engine=Engine(engine))
                ways = [one for one in WAYS if one.engine == engine]
                found = compare(ways, Site(lab, nodes[engine], engine, Path(scratch)))
                keep(f"compare-{engine}", {"ways": found})
    finally:
        if not asked.lab:
            lab.down()


if __name__ == "__main__":
    main()
