"""Faults of nodes and processes, and changes of deployments."""

from __future__ import annotations

import random
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import yaml

from lab.errors import LabError
from margrave.errors import MargraveError
from tests.faults.truth.observed import DEPLOYMENT, LIST, engine
from tests.faults.truth.waits import Waits
from tests.faults.truth.world import Condition, World

CRASHES: Final = 8
BETWEEN_CRASHES: Final = 4.0


@dataclass(frozen=True)
class Scene:
    """The fleet and the random numbers that a deed works with."""

    world: World
    waits: Waits
    stop: threading.Event
    random: random.Random

    def rest(self, seconds: float) -> None:
        """Let time pass, until the run ends at most."""
        self.stop.wait(seconds)


@dataclass(frozen=True)
class Deed:
    """A fault that is undone after some seconds, or a change."""

    kind: str  # of its target
    weight: int
    seconds: tuple[float, float]
    act: Callable[[Scene, str, float], None]


def _away(scene: Scene, node: str, seconds: float, **fault: bool) -> None:
    presence = scene.world.presence[node]
    presence.set(Condition.CHANGING)
    scene.world.lab.fail(node, **fault)
    presence.set(Condition.DOWN)
    scene.rest(seconds)
    presence.set(Condition.CHANGING)
    scene.world.lab.heal(node)
    presence.set(Condition.UP)


def _cut_power(scene: Scene, node: str, seconds: float) -> None:
    _away(scene, node, seconds, kill=True)


def _cut_link(scene: Scene, node: str, seconds: float) -> None:
    _away(scene, node, seconds, partition=True)


def _fill_disk(scene: Scene, node: str, seconds: float) -> None:
    scene.world.lab.fail(node, disk_full=True)
    scene.rest(seconds)
    scene.world.lab.heal(node)


def _kill_container(scene: Scene, node: str, seconds: float) -> None:
    """Kill, stop or remove one container of the application behind the product's back."""
    with suppress(httpx.HTTPError, OSError), engine(scene.world, node) as client:
        rows = client.get(LIST, params={"all": "true"}).json()
        containers = sorted(row["Id"] for row in rows if DEPLOYMENT in (row.get("Labels") or {}))
        if not containers:
            return
        target = LIST.replace("json", scene.random.choice(containers))
        verb, path, how = scene.random.choice(HARM)
        scene.world.note(f"a container of {node}: {verb} {path}")
        client.request(verb, target + path, params=how, timeout=30)


HARM: Final = (
    ("POST", "/kill", {"signal": "KILL"}),
    ("POST", "/stop", {"timeout": "1"}),
    ("DELETE", "", {"force": "true"}),
)


def _crash_loop(scene: Scene, node: str, seconds: float) -> None:
    """Kill the application's main process again and again, as if it crashed by itself."""
    script = f"podman ps -q --filter label={DEPLOYMENT} --filter name=web |"
    script += " xargs -r podman inspect -f '{{.State.Pid}}' | xargs -r kill -9"
    for _ in range(CRASHES):
        if scene.stop.is_set():
            return
        with suppress(LabError, MargraveError):
            scene.world.lab.ssh(node, script, check=False, timeout=30)
        scene.rest(BETWEEN_CRASHES)


def _kill_runner(scene: Scene, site: str, seconds: float) -> None:
    presence, runner = scene.world.presence[site], scene.world.runners[site]
    presence.set(Condition.CHANGING)
    runner.kill()
    presence.set(Condition.DOWN)
    scene.rest(seconds)
    presence.set(Condition.CHANGING)
    runner.launch()
    wait_for_port(scene.world, site)
    presence.set(Condition.UP)


def wait_for_port(world: World, site: str, limit: float = 60) -> None:
    """Wait until a runner answers, whether or not it is ready."""
    until = threading.Event()
    for _ in range(int(limit * 4)):
        with suppress(httpx.HTTPError):
            httpx.get(f"{world.runners[site].url}/healthz", timeout=2, trust_env=False)
            return
        until.wait(0.25)
    raise AssertionError(f"the runner of {site} does not start")


def _kill_controller(scene: Scene, target: str, seconds: float) -> None:
    presence, controller = scene.world.presence[target], scene.world.controller
    presence.set(Condition.CHANGING)
    controller.kill()
    presence.set(Condition.DOWN)
    scene.rest(seconds)
    presence.set(Condition.CHANGING)
    controller.start()
    presence.set(Condition.UP)


def _change(scene: Scene, site: str, seconds: float) -> None:
    """Deploy a version, good or bad, or take the application away; wait as an operator does."""
    version = scene.random.choices(("1.0.0", "1.1.0", "1.2.0", ""), weights=(4, 4, 2, 1))[0]
    greeting = f"hello {scene.random.randrange(10**6)}"
    limit = scene.random.choice((20, 60, 180))
    if version:
        scene.waits.deploy(site, version, greeting, limit)
    else:
        scene.waits.delete(site, limit)


def _edit(scene: Scene, site: str, seconds: float) -> None:
    """Push another greeting to Git, as a person does."""
    with suppress(subprocess.SubprocessError), tempfile.TemporaryDirectory() as folder:
        # Without the controller there is nothing to push to; a lost race is not tried again.
        _git(folder, "clone", "-q", scene.world.git_url, ".")
        for file in Path(folder, "deployments", site).glob("*.yaml"):
            document = yaml.safe_load(file.read_text())
            greeting = f"pushed {scene.random.randrange(10**6)}"
            document["spec"]["parameters"]["greeting"]["value"] = greeting
            file.write_text(yaml.safe_dump(document, sort_keys=True))
        _git(folder, "commit", "-q", "--all", "--message", "Greet otherwise")
        _git(folder, "push", "-q")
        scene.world.note(f"{site} is greeted otherwise in Git")


def _git(folder: str, *words: str) -> None:
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@harbor.example")
    command = ["git", *who, *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)


DEEDS: Final[Mapping[str, Deed]] = {
    "power": Deed("node", 3, (10, 140), _cut_power),
    "link": Deed("node", 3, (5, 140), _cut_link),
    "disk": Deed("node", 2, (15, 60), _fill_disk),
    "container": Deed("node", 4, (5, 10), _kill_container),
    "crash loop": Deed("node", 2, (30, 30), _crash_loop),
    "runner": Deed("site", 2, (1, 60), _kill_runner),
    "controller": Deed("controller", 2, (1, 40), _kill_controller),
    "change": Deed("change", 6, (0, 0), _change),
    "edit": Deed("change", 1, (0, 0), _edit),
}


class Fate:
    """Brings deeds about: at random from a seed, or as listed."""

    def __init__(self, world: World, waits: Waits, seed: int) -> None:
        self._world = world
        self._random = random.Random(seed)
        self._stop = threading.Event()
        self._waits = waits
        self._busy: dict[str, threading.Thread] = {}
        self.errors: list[BaseException] = []
        self.done: dict[str, int] = {}

    def begin_one(self) -> None:
        """Begin a random deed at a random target; do nothing where the target is busy."""
        weights = [deed.weight for deed in DEEDS.values()]
        name = self._random.choices(list(DEEDS), weights)[0]
        targets = self._targets(DEEDS[name].kind)
        self.begin(name, self._random.choice(targets))

    def pause(self) -> float:
        """Return the seconds until the next deed."""
        return self._random.uniform(3, 15)

    def begin(self, name: str, target: str, seconds: float | None = None) -> None:
        """Begin a deed in a thread of its own."""
        deed = DEEDS[name]
        drawn = self._random.uniform(*deed.seconds)
        scene_seed = self._random.randrange(2**32)
        place = f"{deed.kind} {target}"
        running = self._busy.get(place)
        if running and running.is_alive():
            return
        seconds = drawn if seconds is None else seconds
        scene = Scene(self._world, self._waits, self._stop, random.Random(scene_seed))
        thread = threading.Thread(target=self._act, args=(name, scene, target, seconds))
        self._busy[place] = thread
        thread.start()

    def end(self) -> None:
        """Undo all faults, and wait until every change has ended."""
        self._stop.set()
        for thread in self._busy.values():
            thread.join()

    def _act(self, name: str, scene: Scene, target: str, seconds: float) -> None:
        self._world.note(f"begin {name} of {target} for {seconds:.0f} s")
        try:
            DEEDS[name].act(scene, target, seconds)
        except BaseException as error:  # noqa: BLE001 - the run reports it
            self.errors.append(error)
            self._world.note(f"{name} of {target} failed: {error!r}")
        self.done[name] = self.done.get(name, 0) + 1
        self._world.note(f"end {name} of {target}")

    def _targets(self, kind: str) -> tuple[str, ...]:
        if kind == "controller":
            return ("controller",)
        return self._world.nodes if kind == "node" else tuple(self._world.sites)
