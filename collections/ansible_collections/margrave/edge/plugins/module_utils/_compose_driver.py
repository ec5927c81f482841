# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compose components on podman or Docker Engine."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from functools import cached_property

from ansible_collections.margrave.edge.plugins.module_utils import (
    _compare,
    _expected,
    _health,
    _host_paths,
    _images,
    _manifests,
    _materialize,
    _model,
    _mounts,
    _policy,
    _probes,
    _release,
    _run_model,
    _stability,
    _subnets,
)
from ansible_collections.margrave.edge.plugins.module_utils._archive import unpack
from ansible_collections.margrave.edge.plugins.module_utils._baseline import (
    Baseline,
    Disturbance,
)
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._compose import (
    Compose,
    env_file,
    find,
)
from ansible_collections.margrave.edge.plugins.module_utils._containers import (
    COMPONENT,
    DEPLOYMENT,
    PROJECT,
    REVISION,
    Container,
)
from ansible_collections.margrave.edge.plugins.module_utils._driver import Remains
from ansible_collections.margrave.edge.plugins.module_utils._engine import Engine
from ansible_collections.margrave.edge.plugins.module_utils._engines import holding, required
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._files import read_json, write_plain
from ansible_collections.margrave.edge.plugins.module_utils._foreign import Foreign
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
from ansible_collections.margrave.edge.plugins.module_utils._record import record, replace
from ansible_collections.margrave.edge.plugins.module_utils._release import Part, Release
from ansible_collections.margrave.edge.plugins.module_utils._request import Wanted


@record
class ComposeDriver:
    """One deployment's containers, networks and volumes."""

    call: Call
    profile = "compose"

    @cached_property
    def engine(self) -> Engine:
        """The container engine that it runs on, or is to; EngineError when it is not there."""
        return required(_release.engine_of(self.call.folder) or holding(self.label))

    @property
    def engine_name(self) -> str:
        """What a release notes of it."""
        return self.engine.name

    @cached_property
    def compose(self) -> Compose:
        """Docker Compose; EngineError when there is none."""
        return find(self.engine, self.call.programs, self.call.layout.programs)

    @cached_property
    def _foreign(self) -> Foreign:
        # Who ends well has removed what stood aside, or had given it back.
        none_aside = self.call.journal.follows_success
        return Foreign(self.engine, self.call.request.deployment, none_aside)

    @property
    def label(self) -> str:
        """The label that all of this deployment's things carry."""
        return f"{DEPLOYMENT}={self.call.request.deployment}"

    # -- looking ------------------------------------------------------------------------------

    def look(self, closely: bool = False) -> list[Container]:
        """The deployment's containers as they are now; closely costs a request for each."""
        found = self.engine.containers([self.label])
        return [self.engine.closely(one) for one in found] if closely else found

    def drift(self, release: Release, seen: Iterable[Container]) -> list[_compare.Drift]:
        """How containers differ from a release that ran healthy."""
        return _compare.drift(release, seen)

    def health(self, release: Release | None, seen: Iterable[Container]) -> str:
        """healthy, degraded or unknown."""
        return _compare.health(release, seen)

    @cached_property
    def _restarts(self) -> dict[str, int]:
        """Restarts of the containers that this call has made run, when they were healthy."""
        return {}

    def restarts(
        self, _release: Release, seen: Iterable[Container] | None = None
    ) -> dict[str, int]:
        """How often each container has restarted so far."""
        return self._restarts if seen is None else {one.id: one.restarts for one in seen}

    def disturbances(
        self, release: Release, seen: Iterable[Container], baseline: Baseline | None
    ) -> list[Disturbance]:
        """What happened to containers since the release was found healthy."""
        return _stability.disturbances(release, [*map(self.engine.counted, seen)], baseline)

    # -- making ready -------------------------------------------------------------------------

    def kept(self, _stored: Release) -> dict[str, bytes]:
        """Nothing: content travels with each call, and images are the engine's to keep."""
        return {}

    def stage(self, folder: Folder, one: Wanted, archive: bytes, _current: Release | None) -> Part:
        """Unpack, resolve, hold against the policy, and keep all content that is mounted."""
        release = self.call.request.release or ""
        resolved = self._resolved(folder, one, archive)
        path = _release.resolved_path(folder, release, one.name)
        write_plain(path, _run_model.written(resolved))
        model = _mounts.materialized(folder, release, one.name, resolved)
        self._models[one.name] = model
        return Part(
            name=one.name,
            digest=one.digest,
            project=self.call.project(one.name),
            timeout=one.timeout,
            images={
                name: {
                    "reference": service["image"],
                    "policy": service.get("pull_policy") or "",
                    "id": "",
                    "ours": False,
                }
                for name, service in _model.services(model).items()
                if service.get("image")
            },
            volumes=_model.volume_names(model),
        )

    @cached_property
    def _models(self) -> dict[str, dict]:
        """Models of this call's release whose images are not known yet, by component."""
        return {}

    def _keep_models(self, release: Release, current: Release | None) -> None:
        """Write the models that Compose will run, now that it is known which images they mean."""
        folder = self.call.folder
        for part in release.parts:
            model = self._models.pop(part.name, None)
            if model is None:
                continue
            before = _run_model.stored(folder, current, part.name) if current else None
            ours = {
                DEPLOYMENT: self.call.request.deployment,
                REVISION: release.revision,
                COMPONENT: part.name,
            }
            model = _model.pinned(model, part.images)
            model = _model.labelled(model, ours, before, self._existing(model, before))
            _run_model.store(folder, release, part.name, model)

    def _resolved(self, folder: Folder, one: Wanted, archive: bytes) -> dict:
        """Unpack a component, let Compose resolve it, and hold the result against the policy."""
        release = self.call.request.release or ""
        content = _release.component_folder(folder, release, one.name)
        os.makedirs(content, mode=0o755)
        unpack(one.name, archive, content)
        if not os.path.exists(os.path.join(content, "compose.yaml")):
            raise ConfigError(
                "no-compose-file",
                f"components.{one.name}: has no compose.yaml at its root",
                "put it there and publish the application again",
            )
        variables = _release.env_path(folder, release, one.name)
        write_plain(variables, env_file(one.variables))
        project = self.call.project(one.name)
        model = self.compose.resolve(project, content, variables)
        _policy.check(one.name, model, content, dict(self.call.request.policy))
        _host_paths.check(model, dict(self.call.request.policy), folder.path)
        _subnets.check(
            one.name,
            model,
            dict(self.call.request.policy),
            lambda: self.engine.networks([self.label]),
            _subnets.node_routes,
        )
        _probes.check(one.name, _model.services(model))
        if not self.call.request.adopt:
            self._foreign.refuse(one.name, model)
        names = _materialize.variables(model)
        known = {name: one.variables[name] for name in names if name in one.variables}
        rest = names - known.keys()
        if rest and os.path.exists(os.path.join(content, ".env")):
            known.update(self.compose.values(project, content, variables, rest))
        return {"model": model, "environment": known}

    def _existing(self, model: dict, before: dict | None) -> _model.Existing:
        """Labels to keep: as the model before gave them, else as the engine tells them."""
        known, wanted = _model.made(before or {}), _model.made(model)
        if known.covers(wanted):
            return known
        networks, volumes = self.engine.networks, self.engine.volumes
        return _model.Existing(
            networks=_labels(networks([self.label]) if wanted.networks else []),
            volumes=_labels(volumes([self.label]) if wanted.volumes else []),
        )

    def refuse(self, folder: Folder, release: Release, part: Part) -> None:
        """Hold what the author wrote against the policy of now."""
        resolved = read_json(_release.resolved_path(folder, release.release, part.name)) or {}
        # An older version kept the model that Compose runs, and nothing else.
        model = (
            resolved.get("model") or _run_model.stored(self.call.folder, release, part.name) or {}
        )
        content = _release.component_folder(folder, release.release, part.name)
        _policy.check_stored(part.name, model, content, dict(self.call.request.policy))

    def missing(self, release: Release) -> list[str]:
        """Images that are not here."""
        return _images.missing(self.engine, release)

    def check_images(self, release: Release) -> None:
        """Ask the registries for the manifests of images that are not here."""
        _manifests.check(self.call, self.engine, self.missing(release))

    def fetch(self, release: Release) -> bool:
        """Pull the images that are not here or have to be newer, and write what Compose runs."""
        folder = self.call.folder
        inherited: set[str] = set()
        if self._models and folder.linked("next") == release.release:
            ahead = _release.load(folder, release.release)
            if ahead is not None and ahead.inputs == release.inputs:
                inherited = _images.inherit(release, ahead)
        prepared = set() if self.call.kind == "prefetch" else inherited
        current = _release.load(folder, folder.linked("current"))
        fetched = _images.fetch(self.call, self.engine, release, current, prepared)
        self._keep_models(release, current)
        return fetched

    # -- switching ----------------------------------------------------------------------------

    def end_others(self, release: Release, seen: Iterable[Container]) -> None:
        """End components that the release does not have: they may hold ports that it needs."""
        kept = {part.project for part in release.parts}
        projects = {one.labels[PROJECT] for one in seen if PROJECT in one.labels}
        self.end(projects - kept)

    def run(self, release: Release, part: Part, seen: Iterable[Container]) -> None:
        """Let Compose make what differs, and wait until all of it is healthy."""
        path = _release.model_path(self.call.folder, release.release, part.name)
        model = _run_model.runnable(self.call.folder, self.engine, release, part)
        mine = [one for one in seen if one.component == part.name]
        prove = self.call.proving
        limit = float(part.timeout or release.health.get("timeout", 60)) + prove
        with self.call.result.timed("switch"):
            twins = _expected.twins(mine)
            for twin in twins:
                self.engine.remove_container(twin.id)
            mine = [one for one in mine if one not in twins]
            if self.call.request.adopt and self.call.stoppable:
                self._foreign.set_aside(model)
            start = time.monotonic()
            content = _release.component_folder(self.call.folder, release.release, part.name)
            self._check_host_paths(release, model)
            self.compose.up(part.project, content, path, limit, _expected.unfit(part, model, mine))
            self._foreign.give_back(model)
        with self.call.result.timed("health"):
            found = _health.wait(
                _expected.judge(model, release, mine, prove),
                lambda: self._watched(part.project, closely=prove > 0),
                start + limit,
                limit,
                self.call.safe_point,
            )
        looked_at = [self._looked_at(one, mine) for one in found]
        self._restarts.update({one.id: one.restarts for one in looked_at})
        _expected.note(part, model, looked_at)

    def _check_host_paths(self, release: Release, model: dict) -> None:
        """Refuse links, but let go back, and let run what an older version installed.

        Both need no policy of now that names their paths.
        """
        waived = not (self.call.stoppable and release.policy_table)
        policy = dict(self.call.request.policy)
        _host_paths.check(model, policy, self.call.folder.path, waived)

    def _looked_at(self, one: Container, before: Iterable[Container]) -> Container:
        """A container closely looked at; what was left alone is made of what it was before."""
        known = next((other for other in before if other.id == one.id and other.facets), None)
        if known is None:
            return self.engine.closely(one)
        restarts = max(one.restarts, known.restarts)  # Docker's list does not count them
        return replace(one, facets=known.facets, sources=known.sources, restarts=restarts)

    def _watched(self, project: str, *, closely: bool) -> list[Container]:
        """One component's containers; Docker's list does not count how often one was restarted."""
        found = self.engine.containers([self.label, f"{PROJECT}={project}"])
        if self.engine.name == "docker":
            found = [
                self.engine.closely(one) if closely or one.health != "healthy" else one
                for one in found
            ]
        return [self._probed(one) for one in found]

    def _probed(self, one: Container) -> Container:
        """A container that says nothing of its health, with what its probe says."""
        probe = _probes.of(one.labels)
        if probe is None or one.health or one.state != "running":
            return one
        passes = probe.passes(self.engine.addresses(one))
        return replace(one, health="healthy" if passes else "starting")

    def proven(self) -> None:
        """What stood aside for this release is not needed any more."""
        self._foreign.remove()

    # -- ending -------------------------------------------------------------------------------

    def end(self, projects: Iterable[str]) -> None:
        """Let Compose stop things in the order it knows."""
        for project in sorted(projects):
            self.compose.down(project)
        self._foreign.give_back()

    def discard(self, projects: Iterable[str]) -> None:
        """End components that this call alone has made, with their anonymous volumes.

        No later container gets those, and no label leads to them.
        """
        anonymous = {name for one in self.look(closely=True) for name in one.nameless}
        releases = _release.all_of(self.call.folder)
        self.end(projects)
        for volume in sorted(anonymous - _run_model.volume_names(self.call.folder, releases)):
            self.engine.remove_volume(volume)

    def remains(self) -> Remains:
        """What carries the label, and the volumes without a name that containers have."""
        seen = self.look(closely=True)
        volumes = {one["Name"] for one in self.engine.volumes([self.label])}
        volumes.update(name for one in seen for name in one.nameless)
        return Remains(bool(seen or self.engine.networks([self.label])), sorted(volumes))

    def sweep(self, volumes: Iterable[str]) -> None:
        """End projects, then remove what carries our label and Compose did not know any more."""
        self.end({one.labels.get(PROJECT, "") for one in self.look()} - {""})
        for container in self.look():
            self.engine.stop(container.id)
            self.engine.remove_container(container.id)
        for network in self.engine.networks([self.label]):
            self.engine.remove_network(network["Name"])
        for volume in volumes:
            self.engine.remove_volume(volume)

    def spare(self) -> list[str]:
        """Images that were fetched for its releases and that nothing else needs."""
        releases = _release.all_of(self.call.folder)
        ending = self.call.request.deployment
        return _images.unused(self.call.layout, self.engine, releases, ending)

    def tidy(self, dropped: Iterable[Release], ending: bool = False) -> list[str]:
        """Remove images and content of these releases that nothing else needs."""
        self._in_use.remove_other_content()
        without = self.call.request.deployment if ending else ""
        return _images.remove_unused(self.call.layout, self.engine, dropped, without)

    def mounted(self, names: Iterable[str]) -> set[str]:
        """Return those of the releases whose folders containers still mount."""
        return self._in_use.releases(names)

    @property
    def _in_use(self) -> _mounts.InUse:
        return _mounts.InUse(self.call.folder, lambda: self.look(closely=True))


def _labels(things: Iterable[dict]) -> dict[str, dict]:
    return {one["Name"]: one.get("Labels") or {} for one in things}
