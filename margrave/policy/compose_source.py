"""Compose files as their author wrote them, read into the model that Compose resolves them to."""

from __future__ import annotations

import posixpath
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from margrave.errors import DocumentError
from margrave.policy import compose_normalize as normalize
from margrave.policy.compose_bounds import PARTS
from margrave.policy.compose_paths import DEPTH, FILE, MOST_FILES, flat, many
from margrave.policy.compose_values import Finding
from margrave.policy.variables import UnreadableTemplate, filled, from_env_file
from margrave.yaml_text import COUNT_LIMIT, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT: Final = "project"
# The package's folder in resolved paths: no author can write it.
ROOT: Final = f"/package-{secrets.token_hex(8)}"
# Characters of all that is read and filled in; each use of a file or of a shared value counts.
READ_LIMIT: Final = 2 * 1024 * 1024
# Reading a line of variables takes longer than reading YAML, and each file takes some time.
_WEIGHT_OF_VARIABLES: Final = 16
_WEIGHT_OF_FILE: Final = 256
RESOURCES: Final = ("networks", "volumes", "configs", "secrets")


class _TooMuch(Exception):
    """More to read than a controller should read of one component."""


@dataclass
class Source:
    """The files of one component, with the deployment's variables."""

    files: Mapping[str, str]
    findings: list[Finding] = field(default_factory=list)
    _read: int = 0
    _characters: int = READ_LIMIT
    _values: int = COUNT_LIMIT
    # Files that services extend, by name, folder and the identity of their variables.
    _extended: dict[tuple[str, str, int], tuple[Any, dict[str, Any]]] = field(default_factory=dict)

    def model(self, variables: Mapping[str, str]) -> dict[str, Any]:
        """Return the resolved model; what cannot be resolved is a finding."""
        known = {**variables, "COMPOSE_PROJECT_NAME": PROJECT}
        try:
            known = {**self._env_file(".env", known), **known}
            model = self._file(FILE, "", known, ())
        except _TooMuch as error:
            self.findings.append(Finding(FILE, str(error), None))
            model = {}
        return {**model, "name": PROJECT}

    def _charge(self, characters: int, values: int = 0) -> None:
        """Count what is read; what grows by repetition ends here."""
        self._characters -= characters
        self._values -= values
        if self._characters < 0 or self._values < 0:
            raise _TooMuch("has, with the files that it names, more than can be checked")

    def _file(
        self, name: str, folder: str, variables: Mapping[str, str], above: tuple[str, ...]
    ) -> dict[str, Any]:
        """Return a file's model with all that it includes and extends."""
        model = self._part(name, folder, variables)
        services = model.get("services")
        if isinstance(services, dict):
            if len(services) > PARTS["services"]:
                raise _TooMuch(f"has more than {PARTS['services']} services")
            chain = _Extending(self, name, folder, variables, services)
            model["services"] = {key: chain.extended(key, ()) for key in services}
        for entry in many(model.pop("include", None)):
            self._include(model, entry, folder, variables, (*above, name))
        return model

    def _part(self, name: str, folder: str, variables: Mapping[str, str]) -> dict[str, Any]:
        """Return one file alone, filled in and in long form."""
        value = self._value(name)
        if not isinstance(value, dict):
            return {}
        model: dict[str, Any] = {}
        for key, part in flat(value).items():
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

    def _part_to_extend(
        self, name: str, folder: str, variables: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return a file alone, read once for all services of a file that extend it."""
        key = (name, folder, id(variables))
        if key not in self._extended:
            # The variables are kept, so that no others get their identity.
            self._extended[key] = variables, self._part(name, folder, variables)
        return self._extended[key][1]

    def _value(self, name: str) -> Any:
        self._read += 1
        if self._read > MOST_FILES:
            if self._read == MOST_FILES + 1:
                self.findings.append(Finding(name, "is one file too many", None))
            return None
        if name not in self.files:
            self.findings.append(Finding(name, "is not in the package", None))
            return None
        self._charge(len(self.files[name]))
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
        self._charge(len(value) if isinstance(value, str) else 1, 1)
        if isinstance(value, dict):
            return {
                key: self._filled(part, variables, f"{where}.{key}")
                for key, part in flat(value).items()
            }
        if isinstance(value, list):
            return [
                self._filled(part, variables, f"{where}[{number}]")
                for number, part in enumerate(value)
            ]
        if not isinstance(value, str) or "$" not in value:
            return value
        try:
            text = filled(value, variables)
            self._charge(len(text))
            return text
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
        paths = [_joined(folder, path) for path in many(part.get("path"))]
        if not paths or len(above) > DEPTH or any(path in above for path in paths):
            self.findings.append(Finding(f"{above[-1]}: include", "cannot be resolved", None))
            return
        base = posixpath.dirname(paths[0])
        if "project_directory" in part:
            base = _joined(folder, part["project_directory"])
        env_files = [_joined(folder, path) for path in many(part.get("env_file"))]
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
        self._charge(_WEIGHT_OF_FILE)
        if path not in self.files:
            return {}
        self._charge(_WEIGHT_OF_VARIABLES * len(self.files[path]))
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
        for path in many(service["label_file"]):
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
            services = self.source._part_to_extend(file, base, self.variables).get("services")
            known = services if isinstance(services, dict) else {}
            chain = _Extending(self.source, file, base, self.variables, known)
        mark = f"{self.file}: services.{name}.extends"
        wanted = str(part.get("service"))
        if wanted not in chain.services or mark in above or len(above) > DEPTH:
            self.source.findings.append(Finding(mark, "cannot be resolved", None))
            return own
        return normalize.merged(chain.extended(wanted, (*above, mark)), own)


def _joined(folder: str, path: Any) -> str:
    return posixpath.normpath(posixpath.join(folder, str(path)))
