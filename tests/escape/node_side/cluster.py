"""Listings of the node's Kubernetes: all objects, and the containers of pods."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess

import kernel

# Without a cache of its own the listing would differ by what it wrote itself.
KUBECTL = [
    *("kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf"),
    *("--cache-dir", "/run/margrave-listing-cache"),
]
RELEASE = "meta.helm.sh/release-name"
# Kinds that change all the time without any action.
PULSE = ("events", "leases")
VOLATILE = ("managedFields", "resourceVersion", "generation", "creationTimestamp")


class Cluster:
    """The node's cluster; `deployments` are those under test, by their Helm releases."""

    def __init__(self, deployments: dict) -> None:
        self.deployments = deployments
        self.own = set(deployments.values())
        # What the server makes up for each request, such as ComponentStatus, has no uid.
        everything = ((item["metadata"].get("uid"), item) for item in self._all())
        self.by_uid = {uid: item for uid, item in everything if uid}
        self.pods, self._spaces = self._pods()

    def objects(self):
        """Yield all objects with owner and content, without their status."""
        for item in self.by_uid.values():
            meta = {key: text for key, text in item["metadata"].items() if key not in VOLATILE}
            plain = {**item, "metadata": meta, "status": None}
            text = json.dumps(plain, sort_keys=True)
            name = f"{item['kind']} {meta.get('namespace', '')}/{meta['name']}"
            yield name, [self._owner(item), hashlib.sha256(text.encode()).hexdigest()]

    def spaces(self) -> set:
        """Return the mount namespaces of all containers."""
        return self._spaces

    def foreign_data(self):
        """Yield nothing: volumes of others are folders of the node, and listed with it."""
        yield from ()

    def reach(self):
        """Yield what pods of the deployments under test have beyond a plain pod's."""
        mine = {uid for uid in self.pods if self._owner(self.by_uid.get(uid)) in self.own}
        others = [(pids[0], uid) for uid, pids in self.pods.items() if uid not in mine]
        for uid in sorted(mine):
            roots = (f"/var/lib/kubelet/pods/{uid}", "/run/containerd", "/var/lib/containerd")
            reach = kernel.Reach(others, roots, filtered=False)
            name = self.by_uid[uid]["metadata"]["name"]
            for pid in self.pods[uid]:
                for words in reach.of(pid):
                    yield f"{name}: {words}", 1

    def shown(self):
        """Yield texts of the deployments under test by place."""
        for item in self.by_uid.values():
            if self._owner(item) not in self.own:
                continue
            meta = item["metadata"]
            yield f"{item['kind']} {meta['name']}", json.dumps(item)
            if item["kind"] == "Pod":
                words = ["-n", meta["namespace"], "logs", meta["name"], "--all-containers"]
                yield f"the output of {meta['name']}", _run(*words)

    def _owner(self, item) -> str:
        """Return the deployment of an object or of its owner, or else the Helm release."""
        while item is not None:
            meta = item["metadata"]
            release = (meta.get("annotations") or {}).get(RELEASE)
            if release:
                return str(self.deployments.get(release, release))
            if item["kind"] == "Secret" and (meta.get("labels") or {}).get("owner") == "helm":
                return str(self.deployments.get(meta["labels"]["name"], meta["labels"]["name"]))
            made_by = (meta.get("ownerReferences") or [{}])[0].get("uid")
            if item["kind"] == "Endpoints":
                made_by = self._service(meta)
            if item["kind"] == "IPAddress":
                made_by = self._service(item["spec"]["parentRef"])
            item = self.by_uid.get(made_by)
        return ""

    def _service(self, meta):
        """Return the Service that these words name, as those of its Endpoints and addresses do."""
        for uid, item in self.by_uid.items():
            same = (item["metadata"].get("namespace"), item["metadata"]["name"])
            if item["kind"] == "Service" and same == (meta.get("namespace"), meta["name"]):
                return uid
        return None

    @staticmethod
    def _all() -> list:
        kinds = _run("api-resources", "--verbs=list", "-o", "name").split()
        names = ",".join(kind for kind in kinds if kind.split(".")[0] not in PULSE)
        return json.loads(_run("get", names, "-A", "-o", "json") or '{"items": []}')["items"]

    def _pods(self) -> tuple:
        """Return a process of each pod for each mount namespace, and all of their namespaces."""
        found, seen = {}, set()
        pods = dict(self._containers())
        for pid in kernel.pids():
            try:
                with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
                    match = re.search(r"k8s\.io/([0-9a-f]{64})", file.read())
            except OSError:
                continue
            space = kernel.space(pid, "mnt")
            if match and space not in seen:
                seen.add(space)
                # A pod's sandbox is a container that Kubernetes does not list.
                if match[1] in pods:
                    found.setdefault(pods[match[1]], []).append(pid)
        return found, seen

    def _containers(self):
        """Yield the id of each container with the uid of its pod."""
        for uid, item in self.by_uid.items():
            status = item.get("status") or {}
            for kind in (
                "initContainerStatuses",
                "containerStatuses",
                "ephemeralContainerStatuses",
            ):
                for container in status.get(kind) or ():
                    yield container.get("containerID", "").rpartition("/")[2], uid


def _run(*words: str) -> str:
    return subprocess.run([*KUBECTL, *words], capture_output=True, text=True).stdout
