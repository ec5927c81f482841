# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The container engine, podman or Docker, behind its API socket: what is there, pull, remove."""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Callable, Iterable

from ansible_collections.margrave.edge.plugins.module_utils._containers import (
    Container,
    bare,
    bind_sources,
    facets,
    from_docker,
    from_podman,
    nameless,
)
from ansible_collections.margrave.edge.plugins.module_utils._errors import EngineError
from ansible_collections.margrave.edge.plugins.module_utils._pull_errors import (
    pull_error,
    pull_silent,
)
from ansible_collections.margrave.edge.plugins.module_utils._record import record, replace
from ansible_collections.margrave.edge.plugins.module_utils._socket_http import (
    Answer,
    SocketHttp,
    quoted,
)

# The oldest API that podman 4 and Docker 20.10 both serve.
API = "/v1.40"
LIBPOD = "/v4.0.0/libpod"
# A registry that tells nothing of an image for this long does not hear us.
FIRST_SILENCE = 30.0
# Later a pull tells of its progress every second, but for a large layer that is being unpacked.
PULL_SILENCE = 120.0

# Podman's words for a manifest that it read and that is a single image's.
NO_LIST = b"parsing manifest blob"


@record
class Engine:
    """One engine on this node."""

    name: str
    socket: str

    @property
    def http(self) -> SocketHttp:
        """Requests to it."""
        return SocketHttp(self.socket)

    @property
    def host(self) -> str:
        """As DOCKER_HOST wants it."""
        return "unix://" + self.socket

    def version(self) -> str:
        """The engine's version."""
        value = self._get(f"{API}/version")
        return str(value.get("Version", "")) if isinstance(value, dict) else ""

    def containers(self, labels: Iterable[str] = (), named: str = "") -> list[Container]:
        """All containers, running or not, with every one of the labels and this in their name."""
        filters = _filters(labels, named)
        if self.name == "podman":
            # Docker's own form lacks health in podman's answer; this one has it, in one request.
            found = self._get(f"{LIBPOD}/containers/json?all=true&filters={filters}")
            return [from_podman(one) for one in _mappings(found)]
        found = self._get(f"{API}/containers/json?all=1&filters={filters}")
        return [from_docker(one) for one in _mappings(found)]

    def closely(self, container: Container) -> Container:
        """The same with what it was made with; one that is gone meanwhile stays as it was seen."""
        answer = self.http.request("GET", f"{API}/containers/{container.id}/json")
        if answer.status == 404:
            return container
        value = _checked(answer, f"container {container.name}").value()
        told = value if isinstance(value, dict) else {}
        restarts = int(told.get("RestartCount") or container.restarts)
        sources = bind_sources(told)
        lost = tuple(path for path in sources if not os.path.exists(path))
        found = {
            "facets": facets(told),
            "nameless": nameless(told),
            "sources": sources,
            "lost": lost,
        }
        return replace(container, restarts=restarts, **found)

    def counted(self, container: Container) -> Container:
        """Return a container with what the engine's list leaves out of how it has fared.

        Docker's list lacks the count of restarts, and both lists lack whether memory ran out. What
        runs undisturbed, or for long, needs no request.
        """
        ended = container.state != "running" and container.exit_code
        if container.runs_long or (self.name == "podman" and not (container.restarts or ended)):
            return container
        answer = self.http.request("GET", f"{API}/containers/{container.id}/json")
        value = answer.value() if answer.status == 200 else None
        told = value if isinstance(value, dict) else {}
        state = told.get("State") or {}
        return replace(
            container,
            restarts=int(told.get("RestartCount") or container.restarts),
            pid=int(state.get("Pid") or 0),
            exit_code=int(state.get("ExitCode") or container.exit_code),
            oom_killed=bool(state.get("OOMKilled")),
        )

    def addresses(self, container: Container) -> list[str]:
        """Where a running container is reached from the node."""
        answer = self.http.request("GET", f"{API}/containers/{container.id}/json")
        told = answer.value() if answer.status == 200 else None
        told = told if isinstance(told, dict) else {}
        if (told.get("HostConfig") or {}).get("NetworkMode") == "host":
            return ["127.0.0.1"]
        networks = (told.get("NetworkSettings") or {}).get("Networks") or {}
        return [one["IPAddress"] for one in networks.values() if (one or {}).get("IPAddress")]

    def networks(self, labels: Iterable[str]) -> list[dict]:
        """Networks with these labels: Name, Id, Labels."""
        return _mappings(self._get(f"{API}/networks?filters={_filters(labels)}"))

    def volumes(self, labels: Iterable[str]) -> list[dict]:
        """Volumes with these labels: Name, Labels."""
        value = self._get(f"{API}/volumes?filters={_filters(labels)}")
        return _mappings(value.get("Volumes") if isinstance(value, dict) else None)

    def image(self, reference: str) -> str | None:
        """The id of an image that is here, or None."""
        # Podman works out more for Docker's form than for its own, half as much again.
        form = LIBPOD if self.name == "podman" else API
        answer = self.http.request("GET", f"{form}/images/{quoted(reference, '/:@')}/json")
        if answer.status == 404:
            return None
        value = _checked(answer, f"image {reference}").value()
        return bare(str(value.get("Id", ""))) if isinstance(value, dict) else None

    def digest(self, image_id: str, reference: str) -> str:
        """Return the digest under which the reference's repository has the image, or nothing."""
        answer = self.http.request("GET", f"{API}/images/{quoted(image_id, ':')}/json")
        value = _checked(answer, f"image {reference}").value()
        names = (value.get("RepoDigests") or []) if isinstance(value, dict) else []
        repository = repository_of(reference)
        for repository_here, _at, digest in (str(name).partition("@") for name in sorted(names)):
            if f"/{repository_here}".endswith(f"/{repository}"):
                return digest
        return ""

    def store(self) -> str:
        """The folder that holds images and containers."""
        value = self._get(f"{API}/info")
        return str(value.get("DockerRootDir") or "/") if isinstance(value, dict) else "/"

    def pull(self, reference: str, login: dict | None, heard: Callable[[bytes], None]) -> None:
        """Fetch an image; raises the error of the class that the failure belongs to.

        Each line of its progress is told, and each second without one an empty line.
        """
        headers = {"X-Registry-Auth": _auth(login)} if login and login.get("username") else {}
        target = f"{API}/images/create?fromImage={quoted(reference)}"
        last, patience = time.monotonic(), FIRST_SILENCE
        for status, line in self.http.lines("POST", target, headers):
            heard(line)
            self._refuse(reference, status, line)
            if line:
                last, patience = time.monotonic(), PULL_SILENCE
            elif time.monotonic() - last > patience:
                raise pull_silent(reference, patience)

    @staticmethod
    def _refuse(reference: str, status: int, line: bytes) -> None:
        """A pull can fail in its status or in any line of its progress."""
        if status >= 400:
            raise pull_error(reference, Answer(status, line).message() or f"status {status}")
        if b'"error' in line:
            raise pull_error(reference, Answer(status, line).message())

    def check_manifest(
        self, reference: str, login: dict | None, heard: Callable[[bytes], None]
    ) -> None:
        """Ask the registry for an image's manifest; raise what a pull would fail with.

        Nothing of the image is fetched. Podman lacks Docker's request for it; its own one reads the
        manifest and then refuses those that are no lists.
        """
        headers = {"X-Registry-Auth": _auth(login)} if login and login.get("username") else {}
        name = quoted(without_tag(reference), "/:@")
        target = f"{API}/distribution/{name}/json"
        if self.name == "podman":
            target = f"{LIBPOD}/manifests/{quoted(without_tag(reference))}/json"
        answer, end = Answer(0, b""), time.monotonic() + FIRST_SILENCE
        for status, line in self.http.lines("GET", target, headers):
            heard(line)
            answer = Answer(status, answer.body + line)
            if time.monotonic() > end:
                raise pull_silent(reference, FIRST_SILENCE)
        if answer.status >= 400 and NO_LIST not in answer.body:
            raise pull_error(reference, answer.message() or f"status {answer.status}")

    def remove_image(self, reference: str) -> bool:
        """Remove an image by its name; one in use, or gone, is left alone."""
        target = f"{API}/images/{quoted(reference, '/:@')}"
        return self.http.request("DELETE", target).status == 200

    def stop(self, container: str) -> None:
        """Stop a container in its own time; one that is stopped or gone is fine."""
        answer = self.http.request("POST", f"{API}/containers/{container}/stop", timeout=120.0)
        if answer.status not in (204, 304, 404):
            _checked(answer, f"stopping container {container[:12]}")

    def start(self, container: str) -> None:
        """Start a container; one that runs is fine."""
        answer = self.http.request("POST", f"{API}/containers/{container}/start")
        if answer.status != 304:
            _checked(answer, f"starting container {container[:12]}")

    def rename(self, container: str, name: str) -> None:
        """Give a container another name."""
        target = f"{API}/containers/{container}/rename?name={quoted(name)}"
        _checked(self.http.request("POST", target), f"renaming container {container[:12]}")

    def remove_container(self, container: str) -> None:
        """Remove a container; its volumes stay, the anonymous ones too."""
        target = f"{API}/containers/{container}?force=true&v=false"
        self._remove(target, f"container {container[:12]}")

    def remove_network(self, name: str) -> None:
        """Remove a network."""
        self._remove(f"{API}/networks/{quoted(name)}", f"network {name}")

    def remove_volume(self, name: str) -> None:
        """Remove a volume and what is in it."""
        self._remove(f"{API}/volumes/{quoted(name)}", f"volume {name}")

    def _remove(self, target: str, what: str) -> None:
        answer = self.http.request("DELETE", target)
        if answer.status != 404:
            _checked(answer, f"removing {what}")

    def _get(self, target: str) -> object:
        return _checked(self.http.request("GET", target), target).value()


def repository_of(reference: str) -> str:
    """Return an image's name without tag and digest."""
    folder, slash, last = reference.partition("@")[0].rpartition("/")
    return folder + slash + last.partition(":")[0]


def without_tag(reference: str) -> str:
    """Return an image's name without its tag where a digest names it: podman refuses both."""
    _name, at, digest = reference.partition("@")
    return f"{repository_of(reference)}@{digest}" if at else reference


def _filters(labels: Iterable[str], named: str = "") -> str:
    names = {"name": [named]} if named else {}
    return quoted(json.dumps({"label": list(labels), **names}))


def _mappings(value: object) -> list[dict]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _auth(login: dict) -> str:
    text = json.dumps(
        {
            "username": login.get("username") or "",
            "password": login.get("password") or "",
            "serveraddress": login["host"],
        }
    )
    return base64.urlsafe_b64encode(text.encode()).decode()


def _checked(answer: Answer, what: str) -> Answer:
    if answer.status >= 400:
        raise EngineError(
            "engine-refused",
            f"{what}: the container engine answered {answer.status}: {answer.message()}",
            "look at its journal: journalctl -u podman -u docker",
        )
    return answer
