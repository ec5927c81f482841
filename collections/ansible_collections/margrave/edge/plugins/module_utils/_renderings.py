# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A call's charts: each is rendered once, checked, and installed as it was checked."""

from __future__ import annotations

import json
import os

from ansible_collections.margrave.edge.plugins.module_utils import (
    _chart_policy,
    _charted,
    _charts,
    _helm,
    _release,
    _rendering,
    _shared_labels,
)
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._claims import Claims
from ansible_collections.margrave.edge.plugins.module_utils._digests import sha256
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._kubernetes import Cluster
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
from ansible_collections.margrave.edge.plugins.module_utils._record import record
from ansible_collections.margrave.edge.plugins.module_utils._release import Part, Release


@record
class Renderings:
    """Rendered charts of one deployment."""

    call: Call
    cluster: Cluster

    def render(self, folder: Folder, release: str, part: Part) -> list[dict]:
        """Return a component's objects; an attempt before this one may have rendered them."""
        path = _release.rendered_path(folder, release, part.name)
        inputs = self._inputs(folder, release, part)
        objects = _rendering.load(path)
        if objects is None or _rendering.inputs_of(path) != inputs:
            chart = _charts.path_in(_release.component_folder(folder, release, part.name))
            _charts.check(part.name, chart)
            objects = self._rendered(folder, release, part, self.call.request.namespace)
            _rendering.store(path, _helm.describe(self.cluster, chart), objects, inputs)
        return objects

    def check_staged(self, folder: Folder, release: str) -> None:
        """Check all components of a release that is being made ready."""
        names = [wanted.name for wanted in self.call.request.components]
        paths = {name: _release.rendered_path(folder, release, name) for name in names}
        namespace = self.call.request.namespace
        projects = {name: self.call.project(name) for name in names}
        components = {name: _rendering.load(path) or [] for name, path in paths.items()}
        policy = dict(self.call.request.policy)
        _chart_policy.check(components, policy, namespace, projects.values())
        for name, objects in components.items():
            self._refuse_foreign_claims(name, namespace, objects)
        if policy.get("privileged") != "allow":
            self._refuse_shared_labels(namespace, components)
        for name, path in paths.items():
            self._rehearse(projects[name], namespace, path)

    def check(self, folder: Folder, release: Release, part: Part) -> None:
        """Check a component of a release that was made ready before."""
        namespace = release.namespace
        components = {each.name: self.objects_of(folder, release, each) for each in release.parts}
        path = _release.rendered_path(folder, release.release, part.name)
        # A release of a version that kept no rendered charts runs on as it is; the table of allowed
        # fields holds for its next change.
        is_former = not _rendering.inputs_of(path)
        if not (is_former and folder.linked("current") == release.release):
            projects = [each.project for each in release.parts]
            policy = dict(self.call.request.policy)
            _chart_policy.check(components, policy, namespace, projects)
        if os.path.isdir(path):
            self._rehearse(part.project, namespace, path)

    def _refuse_foreign_claims(self, component: str, namespace: str, objects: list[dict]) -> None:
        """Refuse names by which a stateful set would get another deployment's data."""
        request, opened = self.call.request, self.call.request.policy.get("host_paths") or []
        ours = Claims(self.cluster, self.call.folder, request.deployment, request.project(""))
        patterns = [name for name in _charted.claims(objects) if "*" in name]
        found = [
            name for name in ours.foreign(namespace, patterns) if f"volume:{name}" not in opened
        ]
        if found and not request.adopt:
            raise ConfigError(
                "policy",
                f"components.{component}: volumeClaimTemplates: {', '.join(found)} is there and not"
                " of this deployment (allowed by volume:NAME in host_paths, or adopt: true)",
                "rename the stateful set, or open the claim in the policy of sites/<site>.yaml",
            )

    def _refuse_shared_labels(self, namespace: str, components: dict[str, list[dict]]) -> None:
        """Refuse labels and selectors by which deployments would get each other's traffic."""
        others = [
            each
            for each in self.cluster.items(_shared_labels.KINDS, namespace)
            if not self._is_ours(each)
        ]
        found = [
            f"components.{component}: {finding} (allowed by privileged: allow)"
            for component, objects in components.items()
            for finding in _shared_labels.findings(objects, others)
        ]
        if found:
            more = [f"and {len(found) - _chart_policy.MOST} more"]
            shown = found[: _chart_policy.MOST] + more * (len(found) > _chart_policy.MOST)
            raise ConfigError(
                "policy",
                "; ".join(shown),
                "give pods and selectors the label app.kubernetes.io/instance:"
                " {{ .Release.Name }}, or deploy into a namespace of its own",
            )

    def _is_ours(self, found: dict) -> bool:
        metadata = found["metadata"]
        made_by = (metadata.get("annotations") or {}).get(_shared_labels.MADE_BY, "")
        # What a Deployment or a CronJob made has the labels of its template.
        is_made = bool(metadata.get("ownerReferences"))
        return is_made or str(made_by).startswith(self.call.request.project(""))

    def chart_of(self, folder: Folder, release: Release, part: Part) -> str:
        """Return the folder of the chart that prints the component's objects."""
        self.objects_of(folder, release, part)
        return _release.rendered_path(folder, release.release, part.name)

    def objects_of(self, folder: Folder, release: Release, part: Part) -> list[dict]:
        """Return a ready component's objects, of an earlier version's release as Helm has them."""
        path = _release.rendered_path(folder, release.release, part.name)
        objects = _rendering.load(path)
        if objects is not None:
            return objects
        text = ""
        if part.number:
            text = _helm.manifest(self.cluster, part.project, release.namespace, part.number)
        if text:
            objects = self.cluster.as_objects(text, release.namespace)
        else:
            objects = self._rendered(folder, release.release, part, release.namespace)
        if not self.call.check:
            chart = _charts.path_in(_release.component_folder(folder, release.release, part.name))
            _rendering.store(path, _helm.describe(self.cluster, chart), objects)
        return objects

    def _rendered(self, folder: Folder, release: str, part: Part, namespace: str) -> list[dict]:
        chart = _charts.path_in(_release.component_folder(folder, release, part.name))
        values = _release.values_path(folder, release, part.name)
        if not os.path.exists(values):
            raise _release.incomplete(values)
        text = _helm.template(self.cluster, part.project, namespace, chart, values)
        return self.cluster.as_objects(text, namespace)

    def _inputs(self, folder: Folder, release: str, part: Part) -> str:
        """Return a digest of all that decides what a component is rendered to."""
        with open(_release.values_path(folder, release, part.name), encoding="utf-8") as file:
            values = file.read()
        inputs = [part.digest, part.project, self.call.request.namespace, values]
        return sha256(json.dumps(inputs).encode()).hexdigest()

    def _rehearse(self, project: str, namespace: str, path: str) -> None:
        _helm.rehearse(self.cluster, project, namespace, path, self.call.request.adopt)
