"""Compose releases as values: rendered into packages, compared service by service.

A release is hashable and small on purpose. Hypothesis shrinks it, a fresh install of it is looked
up by it, and what each container has to hold follows from it without asking the product.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.equivalence.services import (
    CHECK,
    MOVING,
    PORTS,
    REGISTRY,
    SETTING,
    SHAPES,
    SHARED,
    STILL,
    TRAITS,
    Service,
    Shape,
    condition,
    file_text,
    path_of,
)
from tests.equivalence.texts import Kind, Text


@dataclass(frozen=True)
class Release:
    """What an author publishes as one version, with the values an operator gives it."""

    services: tuple[Service, ...]
    texts: tuple[Text, ...] = ()
    files: tuple[tuple[str, int], ...] = ()  # name and version
    greeting: int = 1
    moved: int = 1  # what the moving tag names when the release is installed
    internal: tuple[str, ...] = ()  # networks without a way out
    broken: bool = False  # its first service ends at once

    # -- rendering ------------------------------------------------------------------------------

    def compose(self) -> dict[str, Any]:
        """The content of compose.yaml, with its variables."""
        model: dict[str, Any] = {
            "services": {one.name: self._service(one) for one in self.services},
            "x-release": {"moved": self.moved} if any(s.moving for s in self.services) else {},
        }
        for group in ("secrets", "configs"):
            used = {one.name: one.definition() for one in self._used() if one.group == group}
            model.update({group: used} if used else {})
        networks = {name for one in self.services for name in one.networks}
        volumes = {name for one in self.services for name in one.volumes}
        if networks:
            model["networks"] = {name: self._network(name) for name in sorted(networks)}
        if volumes:
            model["volumes"] = {name: {} for name in sorted(volumes)}
        return model

    def variables(self) -> dict[str, str]:
        """Values of the variables that compose.yaml names."""
        carried = (Kind.VARIABLE, Kind.ENVIRONMENT)
        values = {one.variable: one.value for one in self._used() if one.kind in carried}
        if any("greeting" in one.environment for one in self.services):
            values["GREETING"] = self._greeting
        return values

    def package_files(self) -> dict[str, str]:
        """Texts of the files beside compose.yaml, by path."""
        found = {one.path: f"{one.value}\n" for one in self._used() if one.kind is Kind.FILE}
        found.update((path_of(name), file_text(name, version)) for name, version in self.files)
        return found

    def write(self, folder: Path) -> Path:
        """Write the component's folder."""
        texts = {"compose.yaml": yaml.safe_dump(self.compose()), **self.package_files()}
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return folder

    # -- comparing ------------------------------------------------------------------------------

    def fingerprint(self, name: str) -> str:
        """All that reaches the containers of a service: equal ones need no restart."""
        service = self.service(name)
        texts = [
            [one.group, one.name, one.kind, one.value]
            for one in self._used()
            if one.name in service.texts
        ]
        files = [file_text(*one) for one in self.files if one[0] in self._seen(service)]
        return json.dumps(
            [
                self._service(service),
                self._greeting if "greeting" in service.environment else None,
                texts,
                files,
                [self._network(one) for one in service.networks],
                self.moved if service.moving else None,
            ],
            sort_keys=True,
        )

    def __str__(self) -> str:
        """Return all that is not a default, in a line."""
        parts = [one.brief() for one in self.services]
        parts += [f"{one.name} v{one.version}" for one in self._used() if one.version > 1]
        used = {name for one in self.services for name in self._seen(one)}
        parts += [f"{name} v{version}" for name, version in self.files if name in used]
        parts += [f"{one} is internal" for one in self.internal]
        parts += [f"greeting v{self.greeting}"] if self.greeting > 1 else []
        parts += [f"tag names v{self.moved}"] if any(one.moving for one in self.services) else []
        return "; ".join(parts + (["broken"] if self.broken else []))

    def unchanged(self, other: Release) -> set[str]:
        """Names of the services that are the same in both, and wait for such services alone."""
        mine, others = ({one.name for one in release.services} for release in (self, other))
        changed = {
            name for name in mine & others if self.fingerprint(name) != other.fingerprint(name)
        }
        return (mine & others) - self.with_dependents(changed | mine - others)

    def with_dependents(self, names: set[str]) -> set[str]:
        """These services and those that wait for them: Compose 2.26 makes both anew."""
        found = set(names)
        for one in self.services:  # a service waits for the one before it alone
            before = self._before(one)
            if one.waits and before is not None and before.name in found:
                found.add(one.name)
        return found

    def expected(self, name: str) -> dict[str, str]:
        """Texts that a container of the service has to find, by path."""
        service = self.service(name)
        found = {
            one.target(service.owned): f"{one.value}\n" if one.kind is Kind.FILE else one.value
            for one in self._used()
            if one.name in service.texts
        }
        return {**found, **dict(self._files_of(service))}

    def service(self, name: str) -> Service:
        """The service of this name."""
        return next(one for one in self.services if one.name == name)

    # -- within ---------------------------------------------------------------------------------

    @property
    def _greeting(self) -> str:
        return f'hello "{self.greeting}" for $5'

    def _used(self) -> list[Text]:
        names = {name for one in self.services for name in one.texts}
        return [one for one in self.texts if one.name in names]

    def _network(self, name: str) -> dict[str, Any]:
        return {"internal": True} if name in self.internal else {}

    def _mounted(self, service: Service) -> set[str]:
        """Names of the package files that the service mounts."""
        if SHARED in service.files:
            return {*service.files, *(name for name, _ in self.files if name.startswith(SHARED))}
        return set(service.files)

    def _seen(self, service: Service) -> set[str]:
        """Names of the package files that reach the service."""
        return self._mounted(service) | ({SETTING} if service.setting else set())

    def _files_of(self, service: Service) -> Iterator[tuple[str, str]]:
        for name, version in self.files:
            if name in self._mounted(service):
                yield f"/mounted/{path_of(name)[len('files/') :]}", file_text(name, version)

    def _service(self, one: Service) -> dict[str, Any]:
        ends = self.broken and one is self.services[0]
        model: dict[str, Any] = {
            "image": f"{REGISTRY}/{MOVING if one.moving else STILL}",
            "command": ["/bin/false"] if ends else ["/bin/idle", str(one.argument)],
            "stop_grace_period": "1s",
        }
        for trait in one.traits:
            model.update(TRAITS[trait])
        shape = {} if ends else SHAPES[one.shape]
        model.update({**shape, "labels": {**model.get("labels", {}), **shape.get("labels", {})}})
        model.update(self._environment(one))
        if one.setting:
            model["env_file"] = [f"./{path_of(SETTING)}"]
        if one.twice and not one.port:
            model["deploy"] = {"replicas": 2}
        for group in ("secrets", "configs"):
            mine = [text for text in self.texts if text.group == group]
            granted = [text.grant(one.owned) for text in mine if text.name in one.texts]
            model.update({group: granted} if granted else {})
        mounts = [f"./{path_of(name)}:/mounted/{path_of(name)[6:]}:ro" for name in one.files]
        mounts += [f"{name}:/data/{name}" for name in one.volumes]
        model.update({"volumes": mounts} if mounts else {})
        if one.networks:
            model["networks"] = {name: {"aliases": [f"{one.name}-{name}"]} for name in one.networks}
        if one.port:
            model["ports"] = [f"{PORTS[one.name]}:8000"]
        if one.check and one.shape is not Shape.ONCE:
            model["healthcheck"] = dict(CHECK)
        before = self._before(one)
        if one.waits and before is not None:
            model["depends_on"] = {before.name: {"condition": condition(before)}}
        return model

    def _environment(self, one: Service) -> dict[str, Any]:
        values = {name.upper(): f"{name} of {one.name}" for name in one.environment}
        if "greeting" in one.environment:
            values["GREETING"] = "${GREETING}"
        return {"environment": values} if values else {}

    def _before(self, one: Service) -> Service | None:
        place = self.services.index(one)
        return self.services[place - 1] if place else None
