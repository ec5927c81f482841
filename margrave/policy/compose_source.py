"""Compose files as their author wrote them, read into the model that Compose resolves them to."""

from __future__ import annotations

import posixpath
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from margrave.errors import DocumentError
from margrave.policy import compose_normalize as normalize
from margrave.policy.compose_values import Finding
from margrave.policy.variables import UnreadableTemplate, filled, from_env_file
from margrave.yaml_text import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FILE: Final = "compose.yaml"
PROJECT: Final = "project"
# The package's folder in resolved paths: no author can write it.
ROOT: Final = f"/package-{secrets.token_hex(8)}"
RESOURCES: Final = ("networks", "volumes", "configs", "secrets")
_MOST_FILES: Final = 50  # that include and extend each other; more is nobody's intent
_DEPTH: Final = 8


@dataclass
class Source:
    """The files of one component, with the deployment's variables."""

    files: Mapping[str, str]
    findings: list[Finding] = field(default_factory=list)
    _read: int = 0

    def model(self, variables: Mapping[str, str]) -> dict[str, Any]:
        """Return the resolved model; what cannot be resolved is a finding."""
        known = {**variables, "COMPOSE_PROJECT_NAME": PROJECT}
        known = {**self._env_file(".env", known), **known}
        model = self._file(FILE, "", known, ())
        return {**model, "name": PROJECT}

    def _file(
        self, name: str, folder: str, variables: Mapping[str, str], above: tuple[str, ...]
    ) -> dict[str, Any]:
        """Return a file's model with all that it includes and extends."""
        model = self._part(name, folder, variables)
        services = model.get("services")
        if isinstance(services, dict):
            chain = _Extending(self, name, folder, variables, services)
            model["services"] = {key: chain.extended(key, ()) for key in services}
        for entry in _many(model.pop("include", None)):
            self._include(model, entry, folder, variables, (*above, name))
        return model

    def _part(self, name: str, folder: str, variables: Mapping[str, str]) -> dict[str, Any]:
        """Return one file alone, filled in and in long form."""
        value = self._value(name)
        if not isinstance(value, dict):
            return {}
        model: dict[str, Any] = {}
        for key, part in _flat(value).items():
            model[key] = self._filled(part, variables, f"{name}: {key}")

        def locate(path: str) -> str:
            return normalize.located(path, folder, ROOT)

        if isinstance(model.get("services"), dict):
            model["services"] = {
                key: normalize.service(self._with_label_files(part, folder), locate)
                for key, part in model["services"].items()
            }
        for kind in RESOURCES:
            if isinstance(model.get(kind), dict):
                model[kind] = {
                    key: normalize.resource(kind, key, part, PROJECT, locate)
                    for key, part in model[kind].items()
                }
        return model

    def _value(self, name: str) -> Any:
        self._read += 1
        if self._read > _MOST_FILES:
            if self._read == _MOST_FILES + 1:
                self.findings.append(Finding(name, "is one file too many", None))
            return None
        if name not in self.files:
            self.findings.append(Finding(name, "is not in the package", None))
            return None
        try:
            value = parse(self.files[name], name).value
        except DocumentError as error:
            self.findings.append(Finding(name, error.findings[0].message, None))
            return None
        if not isinstance(value, dict):
            self.findings.append(Finding(name, "is not a mapping", None))
        return value

    def _filled(self, value: Any, variables: Mapping[str, str], where: str) -> Any:
        """Return a value with variables filled in and `<<` merged."""
        if isinstance(value, dict):
            return {
                key: self._filled(part, variables, f"{where}.{key}")
                for key, part in _flat(value).items()
            }
        if isinstance(value, list):
            return [
                self._filled(part, variables, f"{where}[{number}]")
                for number, part in enumerate(value)
            ]
        if not isinstance(value, str) or "$" not in value:
            return value
        try:
            return filled(value, variables)
        except UnreadableTemplate as error:
            self.findings.append(Finding(where, str(error), None))
            return None

    def _include(
        self,
        model: dict[str, Any],
        entry: Any,
        folder: str,
        variables: Mapping[str, str],
        above: tuple[str, ...],
    ) -> None:
        """Add what an entry of `include` names to the model."""
        part = entry if isinstance(entry, dict) else {"path": entry}
        paths = [_joined(folder, path) for path in _many(part.get("path"))]
        if not paths or len(above) > _DEPTH or any(path in above for path in paths):
            self.findings.append(Finding(f"{above[-1]}: include", "cannot be resolved", None))
            return
        base = posixpath.dirname(paths[0])
        if "project_directory" in part:
            base = _joined(folder, part["project_directory"])
        env_files = [_joined(folder, path) for path in _many(part.get("env_file"))]
        known = dict(variables)
        for path in env_files or [_joined(base, ".env")]:
            known = {**self._env_file(path, known), **known}
        included: dict[str, Any] = {}
        for path in paths:
            included = normalize.merged(included, self._file(path, base, known, above))
        for kind in ("services", "models", *RESOURCES):
            self._add(model, kind, included.get(kind), above[-1])

    def _add(self, model: dict[str, Any], kind: str, parts: Any, name: str) -> None:
        if not isinstance(parts, dict):
            return
        if not isinstance(model.get(kind), dict):
            model[kind] = {}
        for key, part in parts.items():
            if key in model[kind] and model[kind][key] != part:
                where = f"{name}: {kind}.{key}"
                self.findings.append(Finding(where, "is declared in an included file, too", None))
            model[kind][key] = part

    def _env_file(self, path: str, variables: Mapping[str, str]) -> dict[str, str]:
        if path not in self.files:
            return {}
        try:
            return from_env_file(self.files[path], variables)
        except UnreadableTemplate as error:
            self.findings.append(Finding(path, str(error), None))
            return {}

    def _with_label_files(self, service: Any, folder: str) -> Any:
        """Return a service with the labels that its `label_file` holds."""
        if not isinstance(service, dict) or "label_file" not in service:
            return service
        labels: dict[str, Any] = {}
        for path in _many(service["label_file"]):
            labels.update(self._env_file(_joined(folder, path), {}))
        return {
            **service,
            "labels": {**labels, **(normalize.key_values(service.get("labels")) or {})},
        }


@dataclass
class _Extending:
    """The services of one file, and what they extend."""

    source: Source
    file: str
    folder: str
    variables: Mapping[str, str]
    services: dict[str, Any]

    def extended(self, name: str, above: tuple[str, ...]) -> Any:
        """Return a service with all that it extends."""
        service = self.services.get(name)
        if not isinstance(service, dict) or "extends" not in service:
            return service
        own = {key: part for key, part in service.items() if key != "extends"}
        extends = service["extends"]
        part = extends if isinstance(extends, dict) else {"service": extends}
        file = _joined(self.folder, part["file"]) if part.get("file") else self.file
        chain = self
        if file != self.file:
            base = posixpath.dirname(file)
            services = self.source._part(file, base, self.variables).get("services")
            known = services if isinstance(services, dict) else {}
            chain = _Extending(self.source, file, base, self.variables, known)
        mark = f"{self.file}: services.{name}.extends"
        wanted = str(part.get("service"))
        if wanted not in chain.services or mark in above or len(above) > _DEPTH:
            self.source.findings.append(Finding(mark, "cannot be resolved", None))
            return own
        return normalize.merged(chain.extended(wanted, (*above, mark)), own)


def _joined(folder: str, path: Any) -> str:
    return posixpath.normpath(posixpath.join(folder, str(path)))


def _many(value: Any) -> list[Any]:
    """Return one value or a list of them as a list."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _flat(mapping: dict[str, Any]) -> dict[str, Any]:
    """Return a mapping with what it merges by `<<`; its own keys win."""
    return dict(_pairs(mapping))


def _pairs(mapping: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for part in reversed(_many(mapping.get("<<"))):
        if isinstance(part, dict):
            yield from _pairs(part)
    for key, value in mapping.items():
        if key != "<<":
            yield key, value
