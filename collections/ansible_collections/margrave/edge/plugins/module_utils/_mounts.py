# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Mounts from a deployment's folder: create, restore, and keep them while they are in use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from ansible_collections.margrave.edge.plugins.module_utils import (
    _content,
    _host_paths,
    _materialize,
    _model,
    _release,
)
from ansible_collections.margrave.edge.plugins.module_utils._archive import unpack
from ansible_collections.margrave.edge.plugins.module_utils._containers import Container
from ansible_collections.margrave.edge.plugins.module_utils._files import (
    read_json,
    remove_tree,
)
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
from ansible_collections.margrave.edge.plugins.module_utils._record import record


def materialized(folder: Folder, release: str, component: str, resolved: dict) -> dict:
    """Return the model of a component with its mounts where they outlive the release."""
    content = _release.component_folder(folder, release, component)
    store = _content.Store(folder)
    model, environment = resolved["model"], resolved["environment"]
    return _materialize.materialized(component, model, content, environment, store.place)


def restore(folder: Folder, release: str, component: str, model: dict) -> None:
    """Recreate removed content; podman would mount an empty folder instead."""
    if not missing(folder, model):
        return
    resolved = read_json(_release.resolved_path(folder, release, component))
    if resolved is not None:
        materialized(folder, release, component, resolved)
    for path in missing(folder, model):
        raise _release.incomplete(path)


def missing(folder: Folder, model: dict) -> list[str]:
    """Return the paths in the deployment's folder that the model mounts and that do not exist."""
    own = (path for path in _model.host_paths(model) if path.startswith(folder.path + "/"))
    return [path for path in own if not os.path.exists(path)]


def refill(folder: Folder, release: str, component: str, archive: bytes) -> None:
    """Restore missing files of a package if a mount is missing; leave existing files untouched.

    Containers created by an older version mount these files directly, and could write to them: no
    link that they planted is followed.
    """
    model = read_json(_release.model_path(folder, release, component)) or {}
    if not missing(folder, model):
        return
    place = _release.component_folder(folder, release, component)
    fresh = place + ".new"
    remove_tree(fresh)
    os.makedirs(fresh, mode=0o755)
    unpack(component, archive, fresh)
    for source, _folders, names in os.walk(fresh):
        target = os.path.normpath(os.path.join(place, os.path.relpath(source, fresh)))
        _host_paths.refuse_links([target], [place])
        os.makedirs(target, mode=0o755, exist_ok=True)
        for name in names:
            if not os.path.lexists(os.path.join(target, name)):
                os.rename(os.path.join(source, name), os.path.join(target, name))
    remove_tree(fresh)


@record
class InUse:
    """Mount sources in use by containers and kept releases; `look` inspects the containers."""

    folder: Folder
    look: Callable[[], list[Container]]

    def releases(self, names: Iterable[str]) -> set[str]:
        """Return the releases whose folders are mounted by containers of an older version."""
        older = {name: self.folder.release(name) + "/" for name in names if self._is_older(name)}
        paths = self._by_containers() if older else []
        return {name for name in older if any(path.startswith(older[name]) for path in paths)}

    def remove_other_content(self) -> None:
        """Remove contents that neither a kept release nor a container mounts."""
        contents = set(self.folder.kept_contents())
        used = self._by_releases()
        if contents - {self.folder.content_of(path) for path in used}:
            _content.Store(self.folder).remove_all_but([*used, *self._by_containers()])

    def _is_older(self, name: str) -> bool:
        release = _release.load(self.folder, name)
        return release is None or not release.policy_table

    def _by_containers(self) -> list[str]:
        return [path for container in self.look() for path in container.sources]

    def _by_releases(self) -> list[str]:
        return [
            path
            for release in _release.all_of(self.folder)
            for part in release.parts
            for path in _model.host_paths(
                read_json(_release.model_path(self.folder, release.release, part.name)) or {}
            )
        ]
