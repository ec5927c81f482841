# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The node's Kubernetes as its own programs tell of it: kubectl for objects, helm for releases."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator

from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError, EngineError
from ansible_collections.margrave.edge.plugins.module_utils._programs import Programs, Ran, find
from ansible_collections.margrave.edge.plugins.module_utils._record import record
from ansible_collections.margrave.edge.plugins.module_utils._types import Any

HELMS = ("/usr/local/bin/helm", "/usr/bin/helm", "/snap/bin/helm")
KUBECTLS = (
    "/usr/local/bin/kubectl",
    "/usr/bin/kubectl",
    "/var/lib/rancher/rke2/bin/kubectl",
    "/snap/bin/kubectl",
)
# Where k3s, RKE2 and kubeadm leave the administrator's way in; the first is for all others.
CONFIGS = (
    "/etc/margrave/kubeconfig",
    "/etc/rancher/k3s/k3s.yaml",
    "/etc/rancher/rke2/rke2.yaml",
    "/etc/kubernetes/admin.conf",
)
# Both programs keep caches of what the server can do; nothing in them is worth a disk.
SCRATCH = "/run/margrave/kubernetes"
# A place that is not there, and where nobody can make one.
NOWHERE = "/proc/self/nowhere"
LOOK_LIMIT = 60.0


@record
class Place:
    """The programs and the way in, as they are on this node."""

    helm: str
    kubectl: str
    config: str


@record
class Cluster:
    """The node's Kubernetes under one call's lock."""

    place: Place
    programs: Programs

    def helm(
        self, arguments: list[str], limit: float = LOOK_LIMIT, handles: tuple[int, ...] = ()
    ) -> Ran:
        """Start helm."""
        command = [self.place.helm, *arguments, "--kubeconfig", self.place.config]
        environment = {"HOME": SCRATCH, "KUBECACHEDIR": SCRATCH, "HELM_PLUGINS": NOWHERE}
        for kind in ("CACHE", "CONFIG", "DATA"):
            environment[f"HELM_{kind}_HOME"] = SCRATCH
        return self.programs.run(command, limit, environment, handles)

    def helm_alone(self, arguments: list[str], handles: tuple[int, ...]) -> Ran:
        """Start helm as a user who can read nothing of the node, without a way into the cluster.

        The handles are all that it can read.
        """
        environment = dict.fromkeys(("HOME", "KUBECONFIG", "HELM_PLUGINS"), NOWHERE)
        for kind in ("CACHE", "CONFIG", "DATA"):
            environment[f"HELM_{kind}_HOME"] = NOWHERE
        command = [self.place.helm, *arguments]
        return self.programs.run(
            command, LOOK_LIMIT, environment, handles, as_nobody=True, folder="/"
        )

    def kubectl(self, arguments: list[str], given: bytes = b"", limit: float = LOOK_LIMIT) -> str:
        """What kubectl prints; EngineError when it fails."""
        ran = self._kubectl(arguments, given, limit)
        if ran.code != 0:
            raise _refused(arguments, ran)
        return ran.out

    def _kubectl(self, arguments: list[str], given: bytes = b"", limit: float = LOOK_LIMIT) -> Ran:
        command = [self.place.kubectl, f"--kubeconfig={self.place.config}", *arguments]
        environment = {"HOME": SCRATCH, "KUBECACHEDIR": SCRATCH}
        return self.programs.run(command, limit, environment, given=given)

    def as_objects(self, manifest: str, namespace: str) -> list[dict]:
        """What a manifest says, as values; nothing is made of it."""
        if not manifest.strip():
            return []
        arguments = ["create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-"]
        try:
            out = self.kubectl([*arguments, "-n", namespace], manifest.encode())
        except EngineError as error:
            raise ConfigError(
                "chart-unreadable",
                f"the rendered chart: {error.message}",
                "mend the chart and publish the application again",
            ) from error
        return list(_flat(_values(out)))

    def live(self, objects: Iterable[dict]) -> list[dict]:
        """Those of the objects that are there, as they are now."""
        names = [
            {
                "apiVersion": one["apiVersion"],
                "kind": one["kind"],
                "metadata": {key: one["metadata"][key] for key in _named(one)},
            }
            for one in objects
        ]
        if not names:
            return []
        asked = json.dumps({"apiVersion": "v1", "kind": "List", "items": names})
        out = self.kubectl(["get", "--ignore-not-found", "-o", "json", "-f", "-"], asked.encode())
        return list(_flat(_values(out)))

    def items(self, kind: str, namespace: str) -> list[dict]:
        """All objects of a kind in a namespace."""
        out = self.kubectl(["get", kind, "-n", namespace, "-o", "json"])
        return list(_flat(_values(out)))

    def replace(self, objects: Iterable[dict]) -> None:
        """Make objects that are there exactly what is given."""
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        self.kubectl(["replace", "-f", "-"], text.encode())

    def everywhere(self, kind: str) -> list[dict]:
        """All objects of a kind in all namespaces."""
        return list(_flat(_values(self.kubectl(["get", kind, "-A", "-o", "json"]))))

    def label(self, kind: str, namespace: str, name: str, label: str) -> None:
        """Put a label on an object, over another value of it."""
        self.kubectl(["label", kind, name, "-n", namespace, "--overwrite", label])

    def delete(self, kind: str, namespace: str, names: Iterable[str]) -> None:
        """Remove objects by name; gone already is fine."""
        names = list(names)
        if names:
            self.kubectl(
                ["delete", kind, "-n", namespace, "--ignore-not-found", *names], limit=300.0
            )

    def api_versions(self) -> list[str]:
        """All that the server offers, as charts ask for it: `apps/v1`, `apps/v1/Deployment`."""
        found = set(self.kubectl(["api-versions"]).split())
        asked = ["api-resources", "--no-headers"]
        ran = self._kubectl(asked)
        # With an extension of the API away, kubectl lists all others and fails.
        if not ran.out:
            raise _refused(asked, ran)
        for line in ran.out.splitlines():
            version, _namespaced, kind = line.split()[-3:]
            found.add(f"{version}/{kind}")
        return sorted(found)

    def version(self) -> str:
        """The server's version, or nothing when it does not answer."""
        try:
            told = json.loads(self.kubectl(["version", "-o", "json"], limit=15.0))
        except (EngineError, ValueError):
            return ""  # told by the check that asked
        return str((told.get("serverVersion") or {}).get("gitVersion") or "").lstrip("v")

    def helm_version(self) -> str:
        """Helm's version."""
        ran = self.helm(["version", "--short"])
        return ran.out.strip().lstrip("v").partition("+")[0] if ran.code == 0 else ""


def detect() -> Place | None:
    """Helm, kubectl and a way in, when all three are here."""
    helm, kubectl = find(*HELMS), find(*KUBECTLS)
    config = next((path for path in CONFIGS if os.path.exists(path)), None)
    return Place(helm, kubectl, config) if helm and kubectl and config else None


def required() -> Place:
    """The same, or EngineError that names what is missing."""
    place = detect()
    if place is not None:
        return place
    lacking = [
        *([] if find(*HELMS) else ["helm"]),
        *([] if find(*KUBECTLS) else ["kubectl"]),
        *([] if any(os.path.exists(one) for one in CONFIGS) else ["a kubeconfig"]),
    ]
    raise EngineError(
        "no-kubernetes",
        f"this node cannot run Helm components: {' and '.join(lacking)} missing",
        f"install k3s and helm 3.13 or newer, or put a kubeconfig at {CONFIGS[0]}",
    )


def _refused(arguments: list[str], ran: Ran) -> EngineError:
    return EngineError(
        "kubernetes-refused",
        f"kubectl {arguments[0]}: {last_words(ran.err) or 'no answer in time'}",
        "look at the node: kubectl get nodes,pods -A",
    )


def last_words(err: str) -> str:
    """The last that a program said, without warnings."""
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    told = [one for one in lines if not re.match(r"(W\d{4} |WARNING|warning:|I\d{4} )", one)]
    return " ".join((told or lines)[-3:])[:1000]


def key(one: dict) -> str:
    """An object's name within its namespace: `Deployment/web`."""
    return f"{one['kind']}/{one['metadata']['name']}"


def _named(one: dict) -> list[str]:
    return [name for name in ("name", "namespace") if one["metadata"].get(name)]


def _values(text: str) -> Iterator[Any]:
    """The JSON values that stand one after the other in a text."""
    decoder, place = json.JSONDecoder(), 0
    while text[place:].strip():
        place += len(text[place:]) - len(text[place:].lstrip())
        value, place = decoder.raw_decode(text, place)
        yield value


def _flat(values: Iterable[Any]) -> Iterator[dict]:
    """The objects, those within lists too: a list must not hide what it holds."""
    for value in values:
        if isinstance(value, dict) and str(value.get("kind", "")).endswith("List"):
            yield from _flat(value.get("items") or [])
        elif isinstance(value, dict):
            yield value
