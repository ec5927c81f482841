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
        """Yield containers, networks, volumes and images with owner and state."""
        for container in self.containers:
            about = [container["Id"], container["State"]["StartedAt"], labels(container)]
            yield f"container {name_of(container)}", [owner(container), *about]
        for network in self.networks:
            yield (
                f"network {name_of(network)}",
                [owner(network), labels(network), attached(network)],
            )
        for volume in self.volumes:
            about = [volume.get("CreatedAt"), labels(volume), volume.get("Options")]
            yield f"volume {volume['Name']}", [owner(volume), *about]
        for line in self._lines("images --no-trunc --format {{.Repository}}:{{.Tag}}@{{.ID}}"):
            yield f"image {line}", [""]

    def spaces(self) -> set:
        """Return the mount namespaces of all containers."""
        return {
            kernel.space(pid_of(container), "mnt")
            for container in self.containers
            if pid_of(container)
        }

    def foreign_data(self):
        """Yield the files in volumes of others."""
        for volume in self.volumes:
            if owner(volume) not in self.own:
                yield from kernel.files(str(volume["Mountpoint"]))

    def reach(self):
        """Yield what containers of the deployments under test have beyond a plain container's."""
        mine = [container for container in self.containers if owner(container) in self.own]
        others = [
            (pid_of(container), name_of(container))
            for container in self.containers
            if container not in mine
        ]
        roots = [str(volume["Mountpoint"]) for volume in self.volumes if owner(volume) in self.own]
        roots += [f"/var/lib/margrave/deployments/{ident}" for ident in self.own]
        reach = kernel.Reach(
            [each for each in others if each[0]], [*roots, *FOLDERS], filtered=True
        )
        foreign = [network for network in self.networks if owner(network) not in self.own]
        for container in mine:
            name = name_of(container)
            for words in reach.of(pid_of(container)) if pid_of(container) else ():
                yield f"{name}: {words}", 1
            for network in foreign:
                if name in attached(network) and name_of(network) != "none":
                    yield f"{name}: is attached to the network {name_of(network)}", 1

    def shown(self):
        """Yield texts of the deployments under test by place."""
        for container in self.containers:
            if owner(container) in self.own:
                yield f"the settings of {name_of(container)}", json.dumps(container)
                done = subprocess.run(
                    [self.name, "logs", container["Id"]],
                    capture_output=True,
                    text=True,
                    errors="replace",
                )
                yield f"the output of {name_of(container)}", done.stdout + done.stderr

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


def name_of(item) -> str:
    return str(item.get("Name") or item.get("name")).lstrip("/")


def attached(network) -> list:
    found = (network.get("Containers") or network.get("containers") or {}).values()
    return sorted(name_of(item) for item in found)


def labels(item) -> dict:
    found = (
        item.get("Labels") or item.get("labels") or (item.get("Config") or {}).get("Labels") or {}
    )
    return {key: found[key] for key in KEPT_LABELS if key in found}


def owner(item) -> str:
    return str(labels(item).get(LABEL) or "")
