"""Direct observation of containers, answers of nodes, processes and documents in Git.

Nothing here goes through the product. Nodes are read over the socket of their engine, which this
machine reaches through the node's file system even while its cable is cut.
"""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx
import yaml

from margrave.errors import MargraveError
from tests.faults.truth.world import Condition, World

LIST = "http://podman/v5.0.0/libpod/containers/json"
PORT = 8000
LIMIT = 2.0
DEPLOYMENT, SERVICE = "margrave.deployment", "com.docker.compose.service"
SERVICES = frozenset({"web", "cache"})


@dataclass(frozen=True)
class Release:
    """A version of the application with its greeting."""

    version: str
    greeting: str

    def __str__(self) -> str:
        return f"{self.version} {self.greeting}"


@dataclass(frozen=True)
class Container:
    """A container of a deployment."""

    id: str
    service: str
    state: str
    health: str

    @property
    def is_healthy(self) -> bool:
        """Return whether it runs and its health check succeeds."""
        return (self.state, self.health) == ("running", "healthy")

    def __str__(self) -> str:
        return f"{self.service} {self.state} {self.health}"


@dataclass(frozen=True)
class NodeView:
    """A node as it is; None where it cannot be observed."""

    reachable: bool | None
    containers: Mapping[str, tuple[Container, ...]] | None  # by deployment
    answer: Release | None  # of the application, from outside

    def healthy(self, deployment: str) -> bool | None:
        """Return whether all services of a deployment run and are healthy."""
        if self.containers is None:
            return None
        containers = self.containers.get(deployment, ())
        if any(container.health == "starting" for container in containers):
            return None
        healthy = {container.service for container in containers if container.is_healthy}
        return healthy == SERVICES


@dataclass(frozen=True)
class SiteView:
    """The runner of a site, and the releases that Git has for it."""

    runner: Condition
    wanted: Mapping[str, Release]  # by deployment


@dataclass(frozen=True)
class Truth:
    """One look at everything."""

    at: float
    nodes: Mapping[str, NodeView]
    sites: Mapping[str, SiteView]
    head: str


class Observer:
    """Looks at all nodes, processes and Git."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._pool = ThreadPoolExecutor(len(world.nodes))
        self._documents: dict[str, dict[str, dict[str, Release]]] = {}
        self._subtrees: dict[tuple[str, str], str] = {}
        # The last answer of each node with its time; it is kept while the node is away.
        self.last_answer: dict[str, tuple[float, Release]] = {}

    def look(self) -> Truth:
        """Return what is so now."""
        world = self._world
        views = dict(zip(world.nodes, self._pool.map(self._node, world.nodes), strict=True))
        head = self._git("rev-parse", "main")
        wanted = self._wanted(head)
        sites = {site: SiteView(self._runner(site), wanted.get(site, {})) for site in world.sites}
        return Truth(time.time(), views, sites, head)

    def contains(self, commit: str, head: str, site: str) -> bool:
        """Return whether a commit has all that Git wants of a site at its head."""
        try:
            return self._subtree(commit, site) == self._subtree(head, site)
        except subprocess.CalledProcessError:
            return False  # there is no such commit

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def _runner(self, site: str) -> Condition:
        known = self._world.presence[site].condition
        if known is Condition.UP and not self._world.runner_is_alive(site):
            raise AssertionError(f"the runner of {site} ended by itself")
        return known

    def _node(self, node: str) -> NodeView:
        condition = self._world.presence[node].condition
        address = self._world.addresses[node]
        containers = self._containers(node)
        if condition is not Condition.UP:
            return NodeView(False if condition is Condition.DOWN else None, containers, None)
        answer = _answer(address)
        if answer:
            self.last_answer[node] = (time.time(), answer)
        return NodeView(True if _has_ssh(address) else None, containers, answer)

    def _containers(self, node: str) -> Mapping[str, tuple[Container, ...]] | None:
        try:
            rows = engine(self._world, node).get(LIST, params={"all": "true"}).json()
        except (MargraveError, OSError, httpx.HTTPError, ValueError):
            return None
        by_deployment: dict[str, list[Container]] = {}
        for row in rows:
            labels = row.get("Labels") or {}
            if DEPLOYMENT in labels:
                by_deployment.setdefault(labels[DEPLOYMENT], []).append(_container(row, labels))
        return {name: tuple(containers) for name, containers in by_deployment.items()}

    def _wanted(self, head: str) -> dict[str, dict[str, Release]]:
        if head not in self._documents:
            self._documents = {head: self._read(head)}
        return self._documents[head]

    def _read(self, head: str) -> dict[str, dict[str, Release]]:
        by_site: dict[str, dict[str, Release]] = {}
        for path in self._git("ls-tree", "-r", "--name-only", head, "deployments").splitlines():
            _, site, name = path.split("/")
            spec = yaml.safe_load(self._git("show", f"{head}:{path}"))["spec"]
            release = Release(
                spec["x-margrave-extensions"]["version"], spec["parameters"]["greeting"]["value"]
            )
            by_site.setdefault(site, {})[name.removesuffix(".yaml")] = release
        return by_site

    def _subtree(self, commit: str, site: str) -> str:
        if (commit, site) not in self._subtrees:
            paths = (f"deployments/{site}", f"sites/{site}.yaml")
            self._subtrees[commit, site] = self._git("ls-tree", commit, *paths)
        return self._subtrees[commit, site]

    def _git(self, *words: str) -> str:
        command = ["git", "-C", str(self._world.repository), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def engine(world: World, node: str) -> httpx.Client:
    """Return a client of the node's container engine."""
    transport = httpx.HTTPTransport(uds=str(world.engine_socket(node)))
    return httpx.Client(transport=transport, timeout=LIMIT)


def _container(row: Mapping[str, Any], labels: Mapping[str, str]) -> Container:
    return Container(row["Id"], labels.get(SERVICE, ""), row["State"], row["Status"])


def _answer(address: str) -> Release | None:
    try:
        answer = httpx.get(f"http://{address}:{PORT}/", timeout=LIMIT, trust_env=False).json()
        return Release(answer["version"], answer["greeting"])
    except (httpx.HTTPError, json.JSONDecodeError, KeyError):
        return None


def _has_ssh(address: str) -> bool:
    try:
        with socket.create_connection((address, 22), timeout=LIMIT) as connection:
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False
