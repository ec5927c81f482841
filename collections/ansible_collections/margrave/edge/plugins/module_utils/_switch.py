# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make a release run and prove its health: what install, update, heal and going back all do."""

from __future__ import annotations

import time

from ansible_collections.margrave.edge.plugins.module_utils import _health, _model, _release
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._containers import PROJECT, Container
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError, EdgeError
from ansible_collections.margrave.edge.plugins.module_utils._files import read_json
from ansible_collections.margrave.edge.plugins.module_utils._release import Part, Release


def make_run(call: Call, release: Release) -> None:
    """Bring every component of the release up, in order, each healthy before the next begins."""
    before = call.containers()
    with call.result.timed("switch"):
        take_down_others(call, release, before)
    for part in release.parts:
        try:
            _component(call, release, part, before)
        except EdgeError as error:
            call.result.component(part.name, "FAILED", error.as_dict())
            raise
        call.result.component(part.name, "INSTALLED")


def take_down_others(call: Call, release: Release, containers: list[Container]) -> None:
    """End components that the release does not have: they may hold ports that it needs."""
    kept = {part.project for part in release.parts}
    projects = {one.labels[PROJECT] for one in containers if PROJECT in one.labels}
    for project in sorted(projects - kept):
        call.compose.down(project)


def _component(call: Call, release: Release, part: Part, before: list[Container]) -> None:
    path = _release.model_path(call.folder, release.release, part.name)
    model = read_json(path)
    if model is None:
        raise ConfigError(
            "release-incomplete",
            f"{path}: is missing",
            "install the release again: its content travels with the call",
        )
    mine = [one for one in before if one.component == part.name]
    limit = float(part.timeout or release.health.get("timeout", 60))
    with call.result.timed("switch"):
        _clear_the_way(call, mine)
        start = time.monotonic()
        content = _release.component_folder(call.folder, release.release, part.name)
        call.compose.up(part.project, content, path, limit)
    with call.result.timed("health"):
        found = _health.wait(
            _judge(model, release, mine),
            lambda: call.project_containers(part.project),
            start + limit,
            limit,
            call.safe_point,
        )
    _note(part, model, found)


def _clear_the_way(call: Call, mine: list[Container]) -> None:
    """Remove what Compose would leave as it is: the sick, and what a killed call left half made."""
    for one in mine:
        if one.health == "unhealthy" or one.state in ("created", "dead"):
            call.engine.remove_container(one.id)


def _judge(model: dict, release: Release, mine: list[Container]) -> _health.Judge:
    return _health.Judge(
        services={
            name: str(service.get("restart") or "")
            for name, service in _model.services(model).items()
        },
        grace=float(release.health.get("grace", 5)),
        restarts_before={one.id: one.restarts for one in mine},
        ran_before=frozenset(one.id for one in mine if one.state == "running"),
    )


def _note(part: Part, model: dict, found: list[Container]) -> None:
    """Keep what the healthy containers were made from: later looks compare with it."""
    part.services = {}
    for service in _model.services(model):
        mine = [one for one in found if one.service == service]
        part.services[service] = {
            "hash": mine[0].config_hash if mine else "",
            "count": len(mine),
            "finished": bool(mine) and all(one.state == "exited" for one in mine),
        }
