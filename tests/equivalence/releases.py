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
    """Version of an application, with the values an operator gives it."""

    services: tuple[Service, ...]
    texts: tuple[Text, ...] = ()
    files: tuple[tuple[str, int], ...] = ()  # name and version
    greeting: int = 1
    moved: int = 1  # what the moving tag names when the release is installed
    internal: tuple[str, ...] = ()  # networks without a way out
    broken: bool = False  # its first service ends at once

    # -- rendering ------------------------------------------------------------------------------

    def compose(self) -> dict[str, Any]:
        """Return the content of compose.yaml, with its variables."""
        model: dict[str, Any] = {
            "services": {service.name: self._service(service) for service in self.services},
            "x-release": {"moved": self.moved} if any(s.moving for s in self.services) else {},
        }
        for group in ("secrets", "configs"):
            used = {text.name: text.definition() for text in self._used() if text.group == group}
            model.update({group: used} if used else {})
        networks = {name for service in self.services for name in service.networks}
        volumes = {name for service in self.services for name in service.volumes}
        if networks:
            model["networks"] = {name: self._network(name) for name in sorted(networks)}
        if volumes:
            model["volumes"] = {name: {} for name in sorted(volumes)}
        return model

    def variables(self) -> dict[str, str]:
        """Return the values of the variables that compose.yaml names."""
        carried = (Kind.VARIABLE, Kind.ENVIRONMENT)
        values = {text.variable: text.value for text in self._used() if text.kind in carried}
        if any("greeting" in service.environment for service in self.services):
            values["GREETING"] = self._greeting
        return values

    def package_files(self) -> dict[str, str]:
        """Return the texts of the files beside compose.yaml, by path."""
        files = {text.path: f"{text.value}\n" for text in self._used() if text.kind is Kind.FILE}
        files.update((path_of(name), file_text(name, version)) for name, version in self.files)
        return files

    def write(self, folder: Path) -> Path:
        """Write the component's folder."""
        texts = {"compose.yaml": yaml.safe_dump(self.compose()), **self.package_files()}
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return folder

    # -- comparing ------------------------------------------------------------------------------

    def fingerprint(self, name: str) -> str:
        """Return all that reaches the containers of a service; equal ones need no restart."""
        service = self.service(name)
        texts = [
            [text.group, text.name, text.kind, text.value]
            for text in self._used()
            if text.name in service.texts
        ]
        files = [file_text(*file) for file in self.files if file[0] in self._seen(service)]
        return json.dumps(
            [
                self._service(service),
                self._greeting if "greeting" in service.environment else None,
                texts,
                files,
                [self._network(network) for network in service.networks],
                self.moved if service.moving else None,
            ],
            sort_keys=True,
        )

    def __str__(self) -> str:
        """Return all that is not a default, in a line."""
        parts = [service.brief() for service in self.services]
        parts += [f"{text.name} v{text.version}" for text in self._used() if text.version > 1]
        used = {name for service in self.services for name in self._seen(service)}
        parts += [f"{name} v{version}" for name, version in self.files if name in used]
        parts += [f"{network} is internal" for network in self.internal]
        parts += [f"greeting v{self.greeting}"] if self.greeting > 1 else []
        parts += (
            [f"tag names v{self.moved}"] if any(service.moving for service in self.services) else []
        )
        return "; ".join(parts + (["broken"] if self.broken else []))

    def unchanged(self, other: Release) -> set[str]:
        """Return the services that are the same in both and wait only for such services."""
        mine, others = ({service.name for service in release.services} for release in (self, other))
        changed = {
            name for name in mine & others if self.fingerprint(name) != other.fingerprint(name)
        }
        return (mine & others) - self.with_dependents(changed | mine - others)

    def with_dependents(self, names: set[str]) -> set[str]:
        """Return these services and those that wait for them: Compose 2.26 replaces both."""
        affected = set(names)
        for service in self.services:  # a service waits only for the service before it
            before = self._before(service)
            if service.waits and before is not None and before.name in affected:
                affected.add(service.name)
        return affected

    def expected(self, name: str) -> dict[str, str]:
        """Return the texts that a container of the service has to hold, by path."""
        service = self.service(name)
        texts = {
            text.target(service.owned): f"{text.value}\n" if text.kind is Kind.FILE else text.value
            for text in self._used()
            if text.name in service.texts
        }
        return {**texts, **dict(self._files_of(service))}

    def service(self, name: str) -> Service:
        """Return the service of this name."""
        return next(service for service in self.services if service.name == name)

    # -- within ---------------------------------------------------------------------------------

    @property
    def _greeting(self) -> str:
        return f'hello "{self.greeting}" for $5'

    def _used(self) -> list[Text]:
        names = {name for service in self.services for name in service.texts}
        return [text for text in self.texts if text.name in names]

    def _network(self, name: str) -> dict[str, Any]:
        return {"internal": True} if name in self.internal else {}

    def _mounted(self, service: Service) -> set[str]:
        """Return the names of the package files that the service mounts."""
        if SHARED in service.files:
            return {*service.files, *(name for name, _ in self.files if name.startswith(SHARED))}
        return set(service.files)

    def _seen(self, service: Service) -> set[str]:
        """Return the names of the package files that reach the service."""
        return self._mounted(service) | ({SETTING} if service.setting else set())

    def _files_of(self, service: Service) -> Iterator[tuple[str, str]]:
        for name, version in self.files:
            if name in self._mounted(service):
                yield f"/mounted/{path_of(name)[len('files/') :]}", file_text(name, version)

    def _service(self, service: Service) -> dict[str, Any]:
        ends = self.broken and service is self.services[0]
        model: dict[str, Any] = {
            "image": f"{REGISTRY}/{MOVING if service.moving else STILL}",
            "command": ["/bin/false"] if ends else ["/bin/idle", str(service.argument)],
            "stop_grace_period": "1s",
        }
        for trait in service.traits:
            model.update(TRAITS[trait])
        shape = {} if ends else SHAPES[service.shape]
        model.update({**shape, "labels": {**model.get("labels", {}), **shape.get("labels", {})}})
        model.update(self._environment(service))
        if service.setting:
            model["env_file"] = [f"./{path_of(SETTING)}"]
        if service.twice and not service.port:
            model["deploy"] = {"replicas": 2}
        for group in ("secrets", "configs"):
            mine = [text for text in self.texts if text.group == group]
            granted = [text.grant(service.owned) for text in mine if text.name in service.texts]
            model.update({group: granted} if granted else {})
        mounts = [f"./{path_of(name)}:/mounted/{path_of(name)[6:]}:ro" for name in service.files]
        mounts += [f"{name}:/data/{name}" for name in service.volumes]
        model.update({"volumes": mounts} if mounts else {})
        if service.networks:
            model["networks"] = {
                name: {"aliases": [f"{service.name}-{name}"]} for name in service.networks
            }
        if service.port:
            model["ports"] = [f"{PORTS[service.name]}:8000"]
        if service.check and service.shape is not Shape.ONCE:
            model["healthcheck"] = dict(CHECK)
        before = self._before(service)
        if service.waits and before is not None:
            model["depends_on"] = {before.name: {"condition": condition(before)}}
        return model

    def _environment(self, service: Service) -> dict[str, Any]:
        values = {name.upper(): f"{name} of {service.name}" for name in service.environment}
        if "greeting" in service.environment:
            values["GREETING"] = "${GREETING}"
        return {"environment": values} if values else {}

    def _before(self, service: Service) -> Service | None:
        place = self.services.index(service)
        return self.services[place - 1] if place else None
