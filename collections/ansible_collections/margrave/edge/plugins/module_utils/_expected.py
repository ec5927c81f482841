# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is expected of a component's containers, and what is noted of them once they are healthy."""

from __future__ import annotations

from ansible_collections.margrave.edge.plugins.module_utils import _compare, _health, _model
from ansible_collections.margrave.edge.plugins.module_utils._containers import (
    NUMBER,
    REPLACES,
    Container,
)
from ansible_collections.margrave.edge.plugins.module_utils._release import Part, Release


def twins(mine: list[Container]) -> list[Container]:
    """Containers that were to replace others which are still there: whoever made them was killed.

    Compose would end and replace both at once, and they want one name.
    """
    found = []
    for one in mine:
        rest = [other for other in mine if other is not one and other not in found]
        made_twice = any(_place(other) == _place(one) for other in rest)
        if one.state == "created" and REPLACES in one.labels and made_twice:
            found.append(one)
    return found


def _place(one: Container) -> tuple[str, str]:
    return one.service, one.labels.get(NUMBER, "")


def unfit(part: Part, model: dict, mine: list[Container]) -> set[str]:
    """Services whose containers Compose would leave: sick, half made, changed, without a mount."""
    return {
        one.service
        for one in mine
        if one.service in _model.services(model)
        and (
            one.health == "unhealthy"
            or one.state in ("created", "dead")
            or one.lost
            or _compare.made_otherwise(part, one)
        )
    }


def judge(model: dict, release: Release, mine: list[Container], prove: float = 0) -> _health.Judge:
    """What to expect of a component's services, by what they say and how they were before.

    A release that has to `prove` itself runs for so many seconds without any restart.
    """
    return _health.Judge(
        services={name: _restart(one) for name, one in _model.services(model).items()},
        grace=prove or float(release.health.get("grace", 5)),
        strict=prove > 0,
        restarts_before={one.id: one.restarts for one in mine},
        ran_before=frozenset(one.id for one in mine if one.state == "running"),
    )


def _restart(service: dict) -> str:
    """When a service's containers are started again, as `restart` has it."""
    if service.get("restart"):
        return str(service["restart"])
    told = (service.get("deploy") or {}).get("restart_policy") or {}
    condition, most = str(told.get("condition") or ""), told.get("max_attempts")
    plain = {"any": "always", "none": "no"}.get(condition, condition)
    return f"{plain}:{most}" if plain == "on-failure" and most else plain


def note(part: Part, model: dict, found: list[Container]) -> None:
    """Keep what the healthy containers were made from: later looks compare with it."""
    part.services = {}
    for service in _model.services(model):
        mine = [one for one in found if one.service == service]
        part.services[service] = {
            "restart": _restart(_model.services(model)[service]),
            "hash": mine[0].config_hash if mine else "",
            "count": len(mine),
            "finished": bool(mine) and all(one.state == "exited" for one in mine),
            "facets": mine[0].facets if mine else {},
            "sources": list(mine[0].sources) if mine else [],
        }
