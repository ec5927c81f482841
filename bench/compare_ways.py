"""Three ways to run the storefront by a playbook: ours, and the two that people have today.

Each playbook is what its collection's own documentation leads to, without a task too many, and each
is called in the same way: no facts, pipelining, one connection that stays open.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

# The package that holds the collections of the community; nothing of it is installed.
PACKAGE: Final = "ansible==12.3.0"
NEEDED: Final = (
    "community/docker",
    "community/library_inventory_filtering_v1",
    "containers/podman",
)
REGISTRY: Final = "registry.margrave.lab:5000"
DEPLOYMENT: Final = "5d1f0a52-53c4-4d0e-8f0a-636f6d706172"
PATIENCE: Final = 15  # seconds that each may wait for health

Task = dict[str, Any]


@dataclass(frozen=True)
class Way:
    """A name, and the tasks that make a version run (of a folder of packages) and take it away."""

    name: str
    engine: str
    tasks: Callable[[Path, str], list[Task]]
    clean: tuple[Task, ...]


def community(cache: Path) -> Path:
    """A collections folder with what is compared with; fetched once."""
    place = cache / PACKAGE.replace("==", "-")
    if not place.is_dir():
        draft = place.with_name(f"{place.name}.new")
        with tempfile.TemporaryDirectory() as scratch:
            words = ("-m", "pip", "download", "-q", "--no-deps", PACKAGE, "-d", scratch)
            subprocess.run([sys.executable, *words], check=True)
            [wheel] = Path(scratch).glob("*.whl")
            prefixes = tuple(f"ansible_collections/{name}/" for name in NEEDED)
            with zipfile.ZipFile(wheel) as archive:
                wanted = [one for one in archive.namelist() if one.startswith(prefixes)]
                archive.extractall(draft, wanted)
        draft.rename(place)
    return place


def ours(apps: Path, version: str, greeting: str = "hello") -> list[Task]:
    """One task, whatever is there."""
    component = {
        "name": "storefront",
        "src": str(apps / version / "compose"),
        "variables": {"GREETING": greeting},
        "timeout": PATIENCE,
    }
    revision = hashlib.sha256(f"{version} {greeting}".encode()).hexdigest()
    release = {
        "deployment": DEPLOYMENT,
        "name": "storefront",
        "application": "storefront",
        "version": version,
        "revision": f"sha256:{revision}",
        "components": [component],
    }
    return [{"name": "Run it", "margrave.edge.workload_update": release}]


def docker(apps: Path, version: str) -> list[Task]:
    """The files, then `docker compose up --wait` by its module."""
    return [
        _folder("/srv/storefront"),
        {
            "name": "Bring the file",
            "ansible.builtin.copy": {
                "src": str(apps / version / "compose/compose.yaml"),
                "dest": "/srv/storefront/compose.yaml",
                "mode": "0644",
            },
        },
        {
            "name": "Bring the variables",
            "ansible.builtin.copy": {
                "content": "GREETING=hello\n",
                "dest": "/srv/storefront/.env",
                "mode": "0600",
            },
        },
        {
            "name": "Run it",
            "community.docker.docker_compose_v2": {
                "project_src": "/srv/storefront",
                "state": "present",
                "wait": True,
                "wait_timeout": PATIENCE,
            },
        },
    ]


def podman(_: Path, version: str) -> list[Task]:
    """A network, a volume, two containers, and a look whether it answers: there is no compose."""
    return podman_tasks(Plain(version))


@dataclass(frozen=True)
class Plain:
    """What the tasks for podman bring up; a name before those of its parts keeps two apart."""

    version: str
    greeting: str = "hello"
    prefix: str = ""
    port: int = 8000
    look: str = "/bin/health"
    every: str = "1s"


def podman_tasks(one: Plain) -> list[Task]:
    """The storefront by the modules that podman's users have."""
    healthy = {"healthcheck": one.look, "healthcheck_interval": one.every, "state": "started"}
    network, volume = f"{one.prefix}storefront", f"{one.prefix}storefront_data"
    both = {**healthy, "network": [network], "restart_policy": "unless-stopped"}
    return [
        {"name": "Make a network", "containers.podman.podman_network": {"name": network}},
        {"name": "Make a volume", "containers.podman.podman_volume": {"name": volume}},
        {
            "name": "Run the cache",
            "containers.podman.podman_container": {
                **both,
                "name": f"{one.prefix}cache",
                "image": f"{REGISTRY}/storefront-cache:1.0.0",
                "volume": [f"{volume}:/data"],
            },
        },
        {
            "name": "Run the web",
            "containers.podman.podman_container": {
                **both,
                "name": f"{one.prefix}web",
                "image": f"{REGISTRY}/storefront-web:{one.version}",
                "env": {"GREETING": one.greeting},
                "publish": [f"{one.port}:8000"],
            },
        },
        {
            "name": "Wait for health",
            "ansible.builtin.command": {
                "argv": ["podman", "healthcheck", "run", f"{one.prefix}web"]
            },
            "register": "health",
            "until": "health is succeeded",
            "retries": PATIENCE,
            "delay": 1,
            "changed_when": False,
        },
    ]


def _folder(path: str) -> Task:
    settings = {"path": path, "state": "directory", "mode": "0755"}
    return {"name": "Make a folder", "ansible.builtin.file": settings}


GONE: Final[tuple[Task, ...]] = (
    {
        "margrave.edge.workload_delete": {"deployment": DEPLOYMENT, "volumes": "remove"},
    },
)
DOCKER_GONE: Final[tuple[Task, ...]] = (
    {
        "community.docker.docker_compose_v2": {
            "project_src": "/srv/storefront",
            "state": "absent",
            "remove_volumes": True,
        },
    },
    {"ansible.builtin.file": {"path": "/srv/storefront", "state": "absent"}},
)
PODMAN_GONE: Final[tuple[Task, ...]] = (
    *(
        {"containers.podman.podman_container": {"name": name, "state": "absent"}}
        for name in ("web", "cache")
    ),
    {"containers.podman.podman_network": {"name": "storefront", "state": "absent"}},
    {"containers.podman.podman_volume": {"name": "storefront_data", "state": "absent"}},
)

WAYS: Final = (
    Way("community.docker", "docker", docker, DOCKER_GONE),
    Way("margrave.edge", "docker", ours, GONE),
    Way("containers.podman", "podman", podman, PODMAN_GONE),
    Way("margrave.edge", "podman", ours, GONE),
)
