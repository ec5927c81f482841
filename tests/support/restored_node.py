"""A lab node that gets the disk of a fixture set, and the containers that ran there."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final

from tests.support import fixture_sets
from tests.support.fixture_sets import FixtureSet
from tests.support.shop import Shop, Step
from tests.support.waiting import eventually

PLACE: Final = "/var/lib/margrave"
COMPOSE: Final = "DOCKER_HOST=unix://{socket} docker-compose --project-name {project}"
SOCKETS: Final = {"podman": "/run/podman/podman.sock", "docker": "/run/docker.sock"}
MODEL: Final = "com.docker.compose.project.config_files"
REPLACES: Final = "com.docker.compose.replace"  # the id of the container that was there before


@dataclass
class RestoredNode:
    """A lab node as the runner of a set left it."""

    fixture_set: FixtureSet
    shop: Shop
    base: Path
    name: str = field(init=False)
    about: Any = field(init=False)
    runner: Path = field(init=False)  # the unpacked folder of the site's runner

    def __post_init__(self) -> None:
        self.name = self.shop.node
        self.about = self.fixture_set.json(f"nodes/{self.name}.json")
        self.runner = self.fixture_set.restore_runner(self.about["site"], self.base, "nowhere")
        self._seq = int(self.about["fence"]["seq"])

    def restore(self) -> None:
        """Unpack /var/lib/margrave and make the containers as the old version made them."""
        self.shop.clean()
        archive = (self.fixture_set.folder / f"nodes/{self.name}.tar.gz").read_bytes()
        words = [*self.shop.lab.ssh_command(self.name), f"tar -C {PLACE} -xzpf -"]
        subprocess.run(words, input=archive, check=True, capture_output=True)
        for release in self._releases():
            self._start(release)
        eventually(self._healthy, 60, "the restored containers are healthy", 0.2)

    def workloads(self) -> list[dict[str, Any]]:
        """Return what workload_info returns of the deployments."""
        workloads: list[dict[str, Any]] = self.shop.one(Step("workload_info", {}))["workloads"]
        return workloads

    def containers(self) -> list[dict[str, Any]]:
        """Return the containers in the form in which a set keeps them."""
        return comparable(container(inspection) for inspection in inspected(self.shop))

    def lives(self) -> dict[str, tuple[str, str]]:
        """Return id and start time of each container by its name."""
        return {
            str(inspection["Name"]).removeprefix("/"): (
                inspection["Id"],
                inspection["State"]["StartedAt"],
            )
            for inspection in inspected(self.shop)
        }

    def last_call(self, name: str) -> dict[str, Any]:
        """Return the arguments with which the old runner made the current release of `name`."""
        (release,) = (
            workload["release"] for workload in self.about["workloads"] if workload["name"] == name
        )
        query = (
            "select arguments from operations where node = ? and release = ?"
            " and state = 'succeeded' and arguments ->> 'components' is not null"
            " order by seq desc limit 1"
        )
        database = f"file:{self.runner / 'state/runner.db'}?mode=ro"
        with closing(sqlite3.connect(database, uri=True)) as connection:
            ((text,),) = connection.execute(query, (self.name, release)).fetchall()
        arguments: dict[str, Any] = json.loads(
            text.replace(fixture_sets.BASE, str(self.base)), object_hook=self._with_secrets
        )
        return arguments | self.fence()

    def fence(self) -> dict[str, Any]:
        """Return the fence of the runner's next call."""
        self._seq += 1
        fence = self.about["fence"]
        return self.shop.fence(self._seq, fence["epoch"], fence["runner"])

    def missing_sources(self) -> list[str]:
        """Return the bind mount sources that are not on the node."""
        sources = [
            mount["source"] for container in self.containers() for mount in container["mounts"]
        ]
        test = "; ".join(f"[ -e {source} ] || echo {source}" for source in sources)
        return self.shop.ssh(test).split()

    def read(self, container: str, path: str) -> str:
        """Return a file as a container sees it."""
        pid = f"$({self.shop.engine} inspect -f '{{{{.State.Pid}}}}' {container})"
        return self.shop.ssh(f"cat /proc/{pid}/root{path}")

    def _with_secrets(self, value: dict[str, Any]) -> dict[str, Any]:
        return {
            key: self._secret(item) if str(item).startswith("secret://") else item
            for key, item in value.items()
        }

    def _secret(self, reference: str) -> str:
        name = reference.removeprefix("secret://")
        return (self.runner / "secrets" / name).read_text().rstrip("\n")

    def _releases(self) -> Iterator[str]:
        """Yield the folders of releases in the order in which they made the containers.

        A service that no update changed keeps the container of the release that came first.
        """
        with tarfile.open(self.fixture_set.folder / f"nodes/{self.name}.tar.gz") as tar:
            links = {member.name: member.linkname for member in tar if member.issym()}
        for workload in self.about["workloads"]:
            deployment = workload["deployment"]
            folder = f"{PLACE}/deployments/{deployment}"
            yield self._first_release(deployment)
            for link in ("previous", "current"):
                yield f"{folder}/{links[f'./deployments/{deployment}/{link}']}"

    def _first_release(self, deployment: str) -> str:
        """Return the release whose containers were never replaced."""
        return next(
            str(PurePosixPath(labels[MODEL]).parent)
            for labels in (container["labels"] for container in self.about["containers"])
            if labels["margrave.deployment"] == deployment and REPLACES not in labels
        )

    def _start(self, release: str) -> None:
        """Make a release's containers as Compose was called by the old version."""
        about = json.loads(self.shop.ssh(f"cat {release}/release.json"))
        for part in about["components"]:
            for image in part["images"].values():
                name, _, digest = image["reference"].partition("@")
                self.shop.ssh(f"{self.shop.engine} pull -q {name.rpartition(':')[0]}@{digest}")
            compose = COMPOSE.format(socket=SOCKETS[self.shop.engine], project=part["project"])
            self.shop.ssh(
                f"{compose} --project-directory {release}/components/{part['name']}"
                f" --file {release}/{part['name']}.compose.json"
                " up --no-build --pull never --detach --remove-orphans"
            )

    def _healthy(self) -> bool:
        states = [inspection["State"] for inspection in inspected(self.shop)]
        healths = [(state.get("Health") or {}).get("Status") or "healthy" for state in states]
        return bool(states) and all(health == "healthy" for health in healths)


def inspected(shop: Shop) -> Sequence[Mapping[str, Any]]:
    """Return what the engine knows of each container of a deployment, sorted by name."""
    listed = f"{shop.engine} ps -aq --filter label=margrave.deployment"
    inspections: Sequence[Mapping[str, Any]] = json.loads(
        shop.ssh(f"{shop.engine} inspect $({listed})")
    )
    return sorted(inspections, key=lambda inspection: str(inspection["Name"]))


def container(inspected: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a set keeps of a container: what stays when it is made again."""
    mounts = [
        {"destination": mount["Destination"], "source": mount["Source"], "writable": mount["RW"]}
        for mount in inspected["Mounts"]
    ]
    return {
        "name": str(inspected["Name"]).removeprefix("/"),
        "image": inspected["Config"]["Image"],
        "labels": inspected["Config"]["Labels"],
        "mounts": sorted(mounts, key=lambda mount: str(mount["destination"])),
    }


def comparable(containers: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the containers without the ids of those that they replaced."""
    return [
        {**about, "labels": {**about["labels"], REPLACES: REPLACES in about["labels"]}}
        for about in containers
    ]
