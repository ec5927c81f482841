# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Containers of others whose names a package claims: refused, or, when asked, taken over.

What is taken over stands aside, stopped and under another name, until the release is healthy; when
that fails it comes back. Where it stands is told by its name alone, so a killed call loses nothing.
"""

from __future__ import annotations

from ansible_collections.margrave.edge.plugins.module_utils import _model
from ansible_collections.margrave.edge.plugins.module_utils._containers import (
    DEPLOYMENT,
    Container,
)
from ansible_collections.margrave.edge.plugins.module_utils._engine import Engine
from ansible_collections.margrave.edge.plugins.module_utils._errors import EngineError
from ansible_collections.margrave.edge.plugins.module_utils._request import short_of


class Foreign:
    """What is not one deployment's own."""

    def __init__(self, engine: Engine, deployment: str, none_aside: bool = False) -> None:
        self.engine = engine
        self.deployment = deployment
        # The deployment's lock keeps it so until this call sets something aside.
        self._none_aside = none_aside

    @property
    def _mark(self) -> str:
        return f".before-{short_of(self.deployment)}"

    def in_the_way(self, model: dict) -> list[Container]:
        """Containers of others that have a name which the model claims."""
        claimed = _claimed(model)
        if not claimed:
            return []
        return [
            one
            for one in self.engine.containers()
            if one.name in claimed and one.labels.get(DEPLOYMENT) != self.deployment
        ]

    def refuse(self, component: str, model: dict) -> None:
        """Refuse a model that claims what is another's."""
        names = [one.name for one in self.in_the_way(model)]
        if names:
            raise EngineError(
                "name-taken",
                f"components.{component}: container {', '.join(names)} is there already and is not"
                " this deployment's",
                "remove or rename it, leave container_name to Compose, or say adopt: true",
            )

    def set_aside(self, model: dict) -> None:
        """Stop what is in the way and give it another name."""
        for one in self.in_the_way(model):
            self._none_aside = False
            self.engine.stop(one.id)
            self.engine.rename(one.id, one.name + self._mark)

    def give_back(self, model: dict | None = None) -> None:
        """Let those run again that stand aside, and whose names nobody claims any more."""
        everything = self._aside()
        if not everything:
            return
        taken = {one.name for one in self.engine.containers()}
        taken |= _claimed(model) if model else set()
        for one in everything:
            name = one.name[: -len(self._mark)]
            if name not in taken:
                self.engine.rename(one.id, name)
                self.engine.start(one.id)

    def remove(self) -> None:
        """Remove what stands aside: what took its place is healthy. Volumes stay."""
        for one in self._aside():
            self.engine.remove_container(one.id)

    def _aside(self) -> list[Container]:
        if self._none_aside:
            return []
        # By name, or the engine would have to look at all that it runs, on each update.
        marked = self.engine.containers(named=self._mark)
        found = [one for one in marked if one.name.endswith(self._mark)]
        self._none_aside = not found
        return found


def _claimed(model: dict) -> set[str]:
    named = (service.get("container_name") for service in _model.services(model).values())
    return {str(name) for name in named if name}
