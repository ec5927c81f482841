"""The same application on the same nodes: the community's modules beside ours.

Told for each: how long it takes, what a second run changes, and what there is afterwards when a
release is never healthy, when its image does not exist, and when the disk is full.

    python -m bench.compare [LAB]      a lab that is there; else one is made for it, and removed
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.compare_ways import REGISTRY, WAYS, Task, Way, community
from bench.figures import ROOT, keep, summary
from lab import Engine, Lab
from lab.layout import cache_folder

TURNS: Final = 3
BETWEEN: Final = 0.05  # seconds between two looks at the application
NOWHERE: Final = "9.9.9"  # a version whose image is in no registry
RECAP: Final = re.compile(r"changed=(\d+) +unreachable=(\d+) +failed=(\d+)")
WORDS: Final = re.compile(r'"msg": ("(?:[^"\\]|\\.)*")')


@dataclass(frozen=True)
class Ran:
    """What one call of ansible-playbook came to."""

    seconds: float
    changed: int
    failed: bool
    words: str


class Site:
    """A node, and how playbooks reach it."""

    def __init__(self, lab: Lab, node: str, engine: str, base: Path) -> None:
        self.lab, self.node, self.engine, self.base = lab, node, engine, base
        self.apps = _packages(base)
        self.url = f"http://{lab.node(node).address}:8000/"
        login = {
            "ansible_host": lab.node(node).address,
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(lab.key),
            "ansible_ssh_common_args": f"-o UserKnownHostsFile={lab.known_hosts}",
            "ansible_python_interpreter": "/usr/bin/python3",
        }
        self.inventory = base / f"{node}.json"
        self.inventory.write_text(json.dumps({"all": {"hosts": {node: login}}}))
        both = f"{ROOT / 'collections'}:{community(cache_folder().parent)}"
        self.environment = {
            **os.environ,
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": both,
            "ANSIBLE_HOME": str(base / "home"),
            "ANSIBLE_CALLBACK_RESULT_FORMAT": "json",
            "NO_COLOR": "1",
        }

    def play(self, tasks: list[Task]) -> Ran:
        """Run the tasks, and say how it went."""
        book = self.base / "play.json"
        book.write_text(json.dumps([{"hosts": "all", "gather_facts": False, "tasks": tasks}]))
        program = Path(sys.executable).with_name("ansible-playbook")
        begin = time.monotonic()
        done = subprocess.run(
            [program, "-i", self.inventory, book],
            env=self.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        seconds = time.monotonic() - begin
        recap = RECAP.search(done.stdout)
        if recap is None:
            sys.exit(f"ansible-playbook ended with {done.returncode}: {done.stdout}{done.stderr}")
        changed, unreachable, failed = map(int, recap.groups())
        found = WORDS.findall(done.stdout)
        return Ran(
            seconds, changed, bool(unreachable or failed), json.loads(found[-1]) if found else ""
        )

    def version(self) -> str | None:
        """What answers, or None."""
        try:
            with urllib.request.urlopen(self.url, timeout=2) as answer:
                return str(json.load(answer)["version"])
        except (urllib.error.URLError, OSError, ValueError):
            return None

    def forget(self, image: str) -> None:
        """Drop an image from the node; nothing happens when it is not there."""
        self.lab.ssh(self.node, f"{self.engine} image rm -f {REGISTRY}/{image}", check=False)

    def fetch(self, *images: str) -> None:
        """Have images on the node, so that no time is the registry's."""
        for image in images:
            self.lab.ssh(self.node, f"{self.engine} pull -q {REGISTRY}/{image}", timeout=120)


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


def compare(way: Way, site: Site) -> dict[str, Any]:
    """One way's whole story on one node."""
    site.fetch("storefront-cache:1.0.0", *(f"storefront-web:1.{n}.0" for n in range(3)))
    times: dict[str, list[float]] = {"install": [], "again": [], "update": []}
    silences, second = [], 0
    for _ in range(TURNS):
        site.play(list(way.clean))
        times["install"].append(_well(site.play(way.tasks(site.apps, "1.0.0"))).seconds)
        again = _well(site.play(way.tasks(site.apps, "1.0.0")))
        times["again"].append(again.seconds)
        second = max(second, again.changed)
        with Watch(site) as watch:
            times["update"].append(_well(site.play(way.tasks(site.apps, "1.1.0"))).seconds)
        silences.append(watch.silence)
    found: dict[str, Any] = {
        "way": way.name,
        "engine": way.engine,
        "tasks": len(way.tasks(site.apps, "1.0.0")),
        **{name: summary(seconds) for name, seconds in times.items()},
        "changed_on_second_run": second,
        "silence_while_updating": max(silences),
    }
    found["never_healthy"] = _trouble(way, site, "1.2.0")
    found["image_does_not_exist"] = _trouble(way, site, NOWHERE)
    site.forget("storefront-web:1.1.0")
    _well(site.play(way.tasks(site.apps, "1.0.0")))
    site.forget("storefront-web:1.1.0")
    site.lab.fail(site.node, disk_full=True)
    try:
        found["disk_full"] = _ended(site, way, "1.1.0", before="1.0.0")
    finally:
        site.lab.heal(site.node)
    found["after_disk_full"] = _ended(site, way, "1.1.0", before="1.0.0")
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
    named = sys.argv[1] if len(sys.argv) > 1 else None
    lab = Lab(named or "bench-compare")
    nodes = {"podman": "compare-1", "docker": "compare-2"}
    for engine, node in nodes.items():
        lab.up([node], engine=Engine(engine))
    try:
        with tempfile.TemporaryDirectory(prefix="margrave-compare-") as scratch:
            base = Path(scratch)
            ways = [compare(way, Site(lab, nodes[way.engine], way.engine, base)) for way in WAYS]
            keep("compare", {"ways": ways})
    finally:
        if named is None:
            lab.down()


if __name__ == "__main__":
    main()
