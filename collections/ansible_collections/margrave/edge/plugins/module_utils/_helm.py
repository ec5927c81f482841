# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Helm's own work: fetch a chart, render it, make a release of it, go back, take it off."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from ansible_collections.margrave.edge.plugins.module_utils._errors import (
    ConfigError,
    EdgeError,
    EngineError,
    HealthError,
)
from ansible_collections.margrave.edge.plugins.module_utils._kubernetes import (
    Cluster,
    last_words,
)
from ansible_collections.margrave.edge.plugins.module_utils._programs import NOBODY, Ran
from ansible_collections.margrave.edge.plugins.module_utils._pull_errors import pull_error
from ansible_collections.margrave.edge.plugins.module_utils._types import Any

PULL_LIMIT = 600.0
# What Helm says of a chart, as far as it is plain text on a line.
ABOUT = re.compile(
    r"^(name|version|appVersion): \"?([A-Za-z0-9][A-Za-z0-9._+-]*)\"?$", re.MULTILINE
)
CURE = "mend the chart or its values and publish the application again"


def pull(cluster: Cluster, repository: str, version: str, folder: str, login: dict | None) -> str:
    """Fetch a chart from an OCI registry; the path of its file."""
    words = ["pull", repository, "--version", version, "--destination", folder]
    if login and login.get("insecure"):
        words.append("--plain-http")
    with _logins(login) as (path, handles):
        ran = cluster.helm([*words, "--registry-config", path], PULL_LIMIT, handles)
    if ran.code != 0:
        raise pull_error(f"{repository}:{version}", last_words(ran.err) or "nothing came in time")
    found = [name for name in os.listdir(folder) if name.endswith(".tgz")]
    return os.path.join(folder, found[0])


@contextmanager
def _logins(login: dict | None) -> Iterator[tuple[str, tuple[int, ...]]]:
    """A file of logins that has no name and is gone with whoever holds it, however he ends."""
    auths = {}
    if login and login.get("username"):
        pair = f"{login['username']}:{login.get('password') or ''}"
        auths[login["host"]] = {"auth": base64.b64encode(pair.encode()).decode()}
    handle = os.memfd_create("logins")
    try:
        os.write(handle, json.dumps({"auths": auths}).encode())
        yield f"/proc/self/fd/{handle}", (handle,)
    finally:
        os.close(handle)


def template(cluster: Cluster, name: str, namespace: str, chart: str, values: str) -> str:
    """Return the manifest of a chart, rendered without access to the cluster.

    The chart cannot look anything up, whatever its templates do: Helm has no way into the cluster,
    runs as nobody, and can read the chart and its values alone. What the cluster offers is given.
    """
    offers = [word for each in cluster.api_versions() for word in ("--api-versions", each)]
    with handed_over(chart, values) as (paths, handles):
        words = ["template", name, paths[0], "--namespace", namespace, "--values", paths[1]]
        words += ["--skip-tests", "--kube-version", cluster.version(), *offers]
        ran = cluster.helm_alone(words, handles)
    if ran.code != 0:
        raise _render_error(ran)
    return ran.out


def describe(cluster: Cluster, chart: str) -> dict[str, str]:
    """Return the name and the versions that a chart has."""
    with handed_over(chart) as (paths, handles):
        ran = cluster.helm_alone(["show", "chart", paths[0]], handles)
    if ran.code != 0:
        raise _render_error(ran)
    return dict(ABOUT.findall(ran.out))


@contextmanager
def handed_over(*paths: str) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """Files and folders as paths of a process that inherits the handles."""
    handles, shown = [], []
    try:
        for path in paths:
            above, name = os.path.split(path)
            whole = os.path.isdir(path)
            handles.append(os.open(above, os.O_RDONLY) if whole else _copy_in_memory(path))
            # Helm resolves a link to where it leads, which only root may enter; so a folder is
            # reached as one of those below a link.
            shown.append(f"/proc/self/fd/{handles[-1]}" + (f"/{name}" if whole else ""))
        yield shown, tuple(handles)
    finally:
        for handle in handles:
            os.close(handle)


def _copy_in_memory(path: str) -> int:
    handle = os.memfd_create("copy")
    with open(path, "rb") as file:
        data = memoryview(file.read())
    while data:
        data = data[os.write(handle, data) :]
    if os.geteuid() == 0:
        os.fchown(handle, NOBODY, NOBODY)
    return handle


def _upgrade(name: str, namespace: str, chart: str, adopt: bool) -> list[str]:
    words = ["upgrade", name, chart, "--install", "--namespace", namespace]
    # What it does not state comes from the chart, never from the release before.
    words += ["--reset-values", "--skip-crds", "--create-namespace", "--history-max", "10"]
    return [*words, "--take-ownership"] if adopt else words


def rehearse(cluster: Cluster, name: str, namespace: str, chart: str, adopt: bool) -> None:
    """Have the API server check what an upgrade would make; nothing is made."""
    ran = cluster.helm([*_upgrade(name, namespace, chart, adopt), "--dry-run=server"])
    if ran.code != 0:
        raise _render_error(ran)


def upgrade(
    cluster: Cluster,
    name: str,
    namespace: str,
    chart: str,
    label: str,
    adopt: bool,
    limit: float,
) -> None:
    """Make the release; waiting for its health is another's."""
    words = [*_upgrade(name, namespace, chart, adopt), "--labels", label]
    _must(cluster.helm([*words, "--timeout", f"{limit:.0f}s"], limit), "upgrade", limit)


def rollback(cluster: Cluster, name: str, namespace: str, number: int, limit: float) -> None:
    """Make an earlier state of the release run again."""
    words = ["rollback", name, str(number), "--namespace", namespace, "--history-max", "10"]
    _must(cluster.helm([*words, "--timeout", f"{limit:.0f}s"], limit), "rollback", limit)


def uninstall(cluster: Cluster, name: str, namespace: str) -> None:
    """Take a release off, and wait until all of it is gone; none there is fine."""
    words = ["uninstall", name, "--namespace", namespace, "--ignore-not-found", "--wait"]
    ran = cluster.helm([*words, "--cascade", "foreground", "--timeout", "280s"], 300.0)
    if ran.code != 0:
        raise EngineError(
            "uninstall-failed",
            f"release {name}: {last_words(ran.err) or 'was not gone in time'}",
            "look at the node: helm list -A, kubectl get pods -A; the next call tries again",
        )


def history(cluster: Cluster, name: str, namespace: str) -> list[dict]:
    """The release's states, oldest first; empty when there is none."""
    ran = cluster.helm(["history", name, "--namespace", namespace, "-o", "json", "--max", "20"])
    if ran.code == 0:
        found: list[dict] = json.loads(ran.out)
        return found
    if "not found" in ran.err:
        return []
    raise EngineError("helm-failed", f"release {name}: {last_words(ran.err)}", "try helm by hand")


def manifest(cluster: Cluster, name: str, namespace: str, number: int) -> str:
    """Return the manifest of a state of the release, or nothing where Helm has none."""
    words = ["get", "manifest", name, "--namespace", namespace, "--revision", str(number)]
    ran = cluster.helm(words)
    return ran.out if ran.code == 0 else ""


def releases(cluster: Cluster, label: str) -> list[tuple[str, str]]:
    """Names and namespaces of all releases with the label, in whatever state they are."""
    ran = cluster.helm(["list", "--all-namespaces", "--all", "--selector", label, "-o", "json"])
    _must(ran, "list", 0)
    found: list[dict[str, Any]] = json.loads(ran.out or "[]")
    return [(one["name"], one["namespace"]) for one in found]


def unlock(cluster: Cluster, name: str, namespace: str) -> None:
    """Drop states that a killed helm left pending: it would refuse every work on the release.

    We hold the deployment's lock, so nobody works on it. What was made of them stays, and the
    next upgrade takes it over, as it bears the release's name.
    """
    pending = [
        f"sh.helm.release.v1.{name}.v{one['revision']}"
        for one in history(cluster, name, namespace)
        if str(one.get("status", "")).startswith("pending")
    ]
    cluster.delete("secret", namespace, pending)


# What Helm says where it fails, and whose trouble it is.
SIGNS = (
    (
        EngineError,
        "foreign-object",
        "remove or rename it, or say adopt: true to take it over",
        ("cannot be imported into the current release", "invalid ownership metadata"),
    ),
    (
        EngineError,
        "kubernetes-away",
        "look at the node: systemctl status k3s, kubectl get nodes",
        ("kubernetes cluster unreachable", "connection refused", "i/o timeout", "server is not"),
    ),
    (EngineError, "port-taken", "give the service another port", ("port is already allocated",)),
)


def _known(words: str) -> EdgeError | None:
    lower = words.lower()
    for error, code, cure, signs in SIGNS:
        if any(sign in lower for sign in signs):
            return error(code, words, cure)
    return None


def _render_error(ran: Ran) -> EdgeError:
    words = re.sub(r"^Error: ", "", last_words(ran.err)) or "it was not rendered in time"
    return _known(words) or ConfigError("chart", f"the chart: {words}", CURE)


def _must(ran: Ran, what: str, limit: float) -> None:
    if ran.code is None:
        raise HealthError(
            "start-timeout",
            f"helm {what} had not ended after {limit:.0f} s",
            "look at the node: kubectl get pods -A, kubectl get events -A",
        )
    if ran.code != 0:
        words = re.sub(r"^Error: ", "", last_words(ran.err))
        raise _known(words) or EngineError("helm-failed", f"helm {what}: {words}", CURE)
