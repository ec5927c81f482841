# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Helm components on the node's Kubernetes."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable
from functools import cached_property

from ansible_collections.margrave.edge.plugins.module_utils import (
    _baseline,
    _chart_policy,
    _chart_source,
    _charted,
    _helm,
    _helm_wait,
    _kubernetes,
    _objects,
    _pod_stability,
    _pulls,
    _release,
    _values,
)
from ansible_collections.margrave.edge.plugins.module_utils._baseline import (
    Baseline,
    Disturbance,
)
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._claims import Claims
from ansible_collections.margrave.edge.plugins.module_utils._compare import Drift
from ansible_collections.margrave.edge.plugins.module_utils._containers import DEPLOYMENT
from ansible_collections.margrave.edge.plugins.module_utils._cri import Images
from ansible_collections.margrave.edge.plugins.module_utils._driver import Remains
from ansible_collections.margrave.edge.plugins.module_utils._files import write_plain
from ansible_collections.margrave.edge.plugins.module_utils._kubernetes import Cluster, key
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
from ansible_collections.margrave.edge.plugins.module_utils._pull_errors import pull_mismatch
from ansible_collections.margrave.edge.plugins.module_utils._record import record
from ansible_collections.margrave.edge.plugins.module_utils._release import Part, Release
from ansible_collections.margrave.edge.plugins.module_utils._renderings import Renderings
from ansible_collections.margrave.edge.plugins.module_utils._request import Wanted


@record
class HelmDriver:
    """One deployment's Helm releases and their objects."""

    call: Call
    profile = "helm"
    engine_name = "kubernetes"

    @cached_property
    def cluster(self) -> Cluster:
        """The node's Kubernetes; EngineError when it, helm or kubectl is missing."""
        return Cluster(_kubernetes.required(), self.call.programs)

    @property
    def label(self) -> str:
        """The label that all of this deployment's releases carry."""
        return f"{DEPLOYMENT}={self.call.request.deployment}"

    # -- looking ------------------------------------------------------------------------------

    def look(self, closely: bool = False) -> list[dict]:
        """The objects of all releases that are kept here, as they are now, always in whole."""
        del closely
        return self.cluster.live(self._stated().values())

    def _stated(self) -> dict[str, dict]:
        """What the kept releases consist of, by namespace and name."""
        folder = self.call.folder
        return {
            _charted.place(one): one
            for release in _release.all_of(folder)
            for part in release.parts
            for one in _charted.stored(folder, release, part)
        }

    def drift(self, release: Release, seen: Iterable[dict]) -> list[Drift]:
        """How objects differ from what they were when the release was healthy."""
        left = {_charted.place(one): one for one in seen}
        found = []
        for part in release.parts:
            for name, known in sorted(part.services.items()):
                one = left.pop(name, None)
                found += [
                    Drift(part.name, name, what, detail)
                    for what, detail in _charted.differs(known, one)
                ]
        # A claim outlives the release that made it: that is what it is kept for.
        extra = (
            [one for one in left.values() if one["kind"] != _charted.CLAIM]
            if release.proven
            else []
        )
        return found + [
            Drift("", key(one), "extra", f"{key(one)} is not part of the release") for one in extra
        ]

    def health(self, release: Release | None, seen: Iterable[dict]) -> str:
        """healthy, degraded, or unknown where nothing was proven."""
        if release is None or not release.proven:
            return "unknown"
        return "degraded" if self.drift(release, seen) else "healthy"

    def restarts(self, release: Release, _seen: Iterable[dict] | None = None) -> dict[str, int]:
        """How often each container of the release's namespace has restarted so far."""
        return _objects.restarts(self._pods(release.namespace))

    def disturbances(
        self, release: Release, seen: Iterable[dict], baseline: Baseline | None
    ) -> list[Disturbance]:
        """What happened to pods since the release was found healthy."""
        pods = _objects.pods_of(list(seen), self._pods(release.namespace))
        wall = time.time()
        booted = wall - (_baseline.now() - _baseline.machine_started())
        return _pod_stability.disturbances(pods, baseline, wall, booted)

    # -- making ready -------------------------------------------------------------------------

    def kept(self, stored: Release) -> dict[str, bytes]:
        """Charts from registries that are whole on the disk."""
        return _chart_source.kept(self.call.folder, stored)

    def stage(self, folder: Folder, one: Wanted, archive: bytes, _current: Release | None) -> Part:
        """Fetch the chart, write the values, render, and with the last component check all."""
        request = self.call.request
        if one.repository:
            _chart_policy.check_source(one.name, one.repository, dict(request.policy))
        release = request.release or ""
        content = _release.component_folder(folder, release, one.name)
        login = request.logins.get(one.repository.split("/")[2]) if one.repository else None
        digest = _chart_source.put(self.cluster, one, archive, content, login)
        values = json.dumps(_values.nested(one.values), sort_keys=True)
        write_plain(_release.values_path(folder, release, one.name), values.encode())
        part = Part(
            name=one.name,
            digest=digest,
            project=self.call.project(one.name),
            timeout=one.timeout,
        )
        objects = self._renderings.render(folder, release, part)
        stated = {"objects": [_charted.address_of(each) for each in objects]}
        model = _release.model_path(folder, release, one.name)
        write_plain(model, json.dumps(stated, sort_keys=True).encode())
        part.images = _charted.images(objects)
        part.volumes = _charted.claims(objects)
        if one.name == request.components[-1].name:
            # Components may refer to each other's objects, so they are checked together.
            self._renderings.check_staged(folder, release)
        return part

    @property
    def _renderings(self) -> Renderings:
        return Renderings(self.call, self.cluster)

    def refuse(self, folder: Folder, release: Release, part: Part) -> None:
        """Hold what the stored chart was rendered to against the policy of now."""
        self._renderings.check(folder, release, part)

    @cached_property
    def _images(self) -> Images:
        return Images(self.call.programs, self.call.request.logins)

    def mounted(self, _names: Iterable[str]) -> set[str]:
        """Return nothing: pods mount nothing of a release's folder."""
        return set()

    def missing(self, release: Release) -> list[str]:
        """Images that are not here, where the node can tell."""
        return self._images.missing(release.references())

    def check_images(self, release: Release) -> None:
        """Warn of images that are not here: only a pull would tell whether they exist."""
        for reference in self.missing(release):
            self.call.result.warn(f"image {reference} is not on the node and was not looked for")

    def fetch(self, release: Release) -> bool:
        """Pull images where the node has a way to; elsewhere the kubelet does later."""
        absent = self.missing(release)
        if absent:
            _pulls.fetch(self.call, self._images, absent)
            for reference in self._images.missing(absent):
                raise pull_mismatch(reference)
        return bool(absent)

    # -- switching ----------------------------------------------------------------------------

    def end_others(self, release: Release, _seen: Iterable[dict]) -> None:
        """Take off Helm's releases that this one does not have: Helm itself knows of more."""
        kept = {part.project for part in release.parts}
        for name, namespace in _helm.releases(self.cluster, self.label):
            if name not in kept or namespace != release.namespace:
                _helm.uninstall(self.cluster, name, namespace)

    def run(self, release: Release, part: Part, seen: Iterable[dict]) -> None:
        """Let Helm make what differs, and wait until all of it is ready."""
        limit = float(part.timeout or release.health.get("timeout", 60)) + self.call.proving
        namespace = release.namespace
        with self.call.result.timed("switch"):
            _helm.unlock(self.cluster, part.project, namespace)
            before = _objects.restarts(self._pods(namespace))
            start = time.monotonic()
            self._make(release, part, list(seen), limit)
        with self.call.result.timed("health"):
            stated = _charted.stored(self.call.folder, release, part)
            found = _helm_wait.wait(
                self.cluster, self.call, stated, before, start + limit, release, limit
            )
        part.number = int(_helm.history(self.cluster, part.project, namespace)[-1]["revision"])
        part.services = {
            _charted.place(one): _objects.facets(one)
            for one in found
            if one["kind"] != "Job"  # a job that is done may be cleaned up by the cluster
        }
        _charted.forget_replicas(part, stated)

    def _make(self, release: Release, part: Part, seen: list[dict], limit: float) -> None:
        """Nothing when Helm has it so, back where Helm was so before, else an upgrade."""
        name, namespace = part.project, release.namespace
        past = _helm.history(self.cluster, name, namespace)
        last = past[-1] if past else {}
        known = part.number and any(int(one["revision"]) == part.number for one in past)
        if known and int(last["revision"]) == part.number and last["status"] == "deployed":
            drift = [one for one in self.drift(release, seen) if one.component == part.name]
            if not drift:
                return
            self._put_back(release, part, drift, seen)
        elif known:
            _helm.rollback(self.cluster, name, namespace, part.number, limit)
            return
        chart = self._renderings.chart_of(self.call.folder, release, part)
        adopt = self.call.request.adopt
        _helm.upgrade(self.cluster, name, namespace, chart, self.label, adopt, limit)

    def _put_back(self, release: Release, part: Part, drift: list[Drift], seen: list[dict]) -> None:
        """Undo changes by hand; Helm would leave what was added to an object."""
        changed = {each.service for each in drift if each.what not in _charted.WHOLE}
        live = {_charted.place(each): each for each in seen}
        name, namespace = part.project, release.namespace
        objects = [
            _charted.as_rendered(each, live[_charted.place(each)], name, namespace)
            for each in self._renderings.objects_of(self.call.folder, release, part)
            if _charted.place(each) in changed and each["kind"] in _charted.REPLACEABLE
        ]
        if objects:
            self.cluster.replace(objects)

    def _pods(self, namespace: str) -> list[dict]:
        return self.cluster.items("pods", namespace)

    def proven(self) -> None:
        """Nothing: what was taken over has become the release's own."""

    # -- ending -------------------------------------------------------------------------------

    def end(self, projects: Iterable[str]) -> None:
        """Take Helm's releases of these names off."""
        wanted = set(projects)
        for name, namespace in _helm.releases(self.cluster, self.label):
            if name in wanted:
                _helm.uninstall(self.cluster, name, namespace)

    def discard(self, projects: Iterable[str]) -> None:
        """End components that this call alone has made; claims carry their own labels and stay."""
        self.end(projects)

    def remains(self) -> Remains:
        """Helm's releases that carry the label, and the deployment's claims."""
        there = _helm.releases(self.cluster, self.label)
        claims = sorted(name for _namespace, name in self._claims.found())
        if not there and not claims:
            _forget_caches()  # to find nothing leaves nothing either
        return Remains(bool(there), claims)

    @property
    def _claims(self) -> Claims:
        request = self.call.request
        return Claims(self.cluster, self.call.folder, request.deployment, request.project(""))

    def sweep(self, volumes: Iterable[str]) -> None:
        """Take off all releases that carry the label, then these claims; namespaces stay."""
        doomed, claims = set(volumes), self._claims.found()
        self._claims.keep(one for one in claims if one[1] not in doomed)
        for name, namespace in _helm.releases(self.cluster, self.label):
            _helm.unlock(self.cluster, name, namespace)
            _helm.uninstall(self.cluster, name, namespace)
        self._claims.remove(one for one in claims if one[1] in doomed)
        _forget_caches()

    def spare(self) -> list[str]:
        """Nothing, for the same reason as below."""
        return []

    def tidy(self, _dropped: Iterable[Release], ending: bool = False) -> list[str]:  # noqa: ARG002
        """Nothing: the kubelet removes images that no pod needs by itself."""
        return []


def _forget_caches() -> None:
    """What kubectl and Helm noted of the server; another call notes it anew."""
    shutil.rmtree(_kubernetes.SCRATCH, ignore_errors=True)
