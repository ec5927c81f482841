"""Listings of podman and Docker Engine, asked by their commands."""

from __future__ import annotations

import json
import subprocess

import kernel

LABEL = "margrave.deployment"
KEPT_LABELS = (LABEL, "margrave.component", "com.docker.compose.project")
FOLDERS = (
    "/run/containers/storage",
    "/var/lib/containers/storage/overlay-containers",
    "/var/lib/docker/containers",
    "/run/docker",
)


class Engine:
    """The node's container engine, and the deployments under test on it."""

    def __init__(self, name: str, own: list) -> None:
        self.name = name
        self.own = own
        self.containers = self._inspect("container", "ps -aq")
        self.networks = self._inspect("network", "network ls -q")
        self.volumes = self._inspect("volume", "volume ls -q")

    def objects(self):
        """Yield containers, networks, volumes and images: owner, and what they are."""
        for one in self.containers:
            about = [one["Id"], one["State"]["StartedAt"], labels(one)]
            yield f"container {name_of(one)}", [owner(one), *about]
        for one in self.networks:
            yield f"network {name_of(one)}", [owner(one), labels(one), attached(one)]
        for one in self.volumes:
            about = [one.get("CreatedAt"), labels(one), one.get("Options")]
            yield f"volume {one['Name']}", [owner(one), *about]
        for line in self._lines("images --no-trunc --format {{.Repository}}:{{.Tag}}@{{.ID}}"):
            yield f"image {line}", [""]

    def spaces(self) -> set:
        """Return the mount namespaces of all containers."""
        return {kernel.space(pid_of(one), "mnt") for one in self.containers if pid_of(one)}

    def foreign_data(self):
        """Yield the files in volumes of others."""
        for one in self.volumes:
            if owner(one) not in self.own:
                yield from kernel.files(str(one["Mountpoint"]))

    def reach(self):
        """Yield what containers of the deployments under test have beyond a plain container's."""
        mine = [one for one in self.containers if owner(one) in self.own]
        others = [(pid_of(one), name_of(one)) for one in self.containers if one not in mine]
        roots = [str(one["Mountpoint"]) for one in self.volumes if owner(one) in self.own]
        roots += [f"/var/lib/margrave/deployments/{ident}" for ident in self.own]
        reach = kernel.Reach(
            [each for each in others if each[0]], [*roots, *FOLDERS], filtered=True
        )
        foreign = [one for one in self.networks if owner(one) not in self.own]
        for one in mine:
            name = name_of(one)
            for words in reach.of(pid_of(one)) if pid_of(one) else ():
                yield f"{name}: {words}", 1
            for network in foreign:
                if name in attached(network) and name_of(network) != "none":
                    yield f"{name}: is attached to the network {name_of(network)}", 1

    def shown(self):
        """Yield places of the deployments under test and what they show."""
        for one in self.containers:
            if owner(one) in self.own:
                yield f"the settings of {name_of(one)}", json.dumps(one)
                done = subprocess.run(
                    [self.name, "logs", one["Id"]],
                    capture_output=True,
                    text=True,
                    errors="replace",
                )
                yield f"the output of {name_of(one)}", done.stdout + done.stderr

    def _inspect(self, kind: str, listing: str) -> list:
        ids = self._lines(listing)
        if not ids:
            return []
        done = subprocess.run([self.name, kind, "inspect", *ids], capture_output=True, text=True)
        return json.loads(done.stdout or "[]") or []

    def _lines(self, words: str) -> list:
        done = subprocess.run([self.name, *words.split()], capture_output=True, text=True)
        return sorted(set(done.stdout.split("\n")) - {""})


def pid_of(container) -> int:
    return int(container["State"].get("Pid") or 0)


def name_of(one) -> str:
    return str(one.get("Name") or one.get("name")).lstrip("/")


def attached(network) -> list:
    found = (network.get("Containers") or network.get("containers") or {}).values()
    return sorted(name_of(one) for one in found)


def labels(one) -> dict:
    found = one.get("Labels") or one.get("labels") or (one.get("Config") or {}).get("Labels") or {}
    return {key: found[key] for key in KEPT_LABELS if key in found}


def owner(one) -> str:
    return str(labels(one).get(LABEL) or "")
