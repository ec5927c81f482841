"""Variables of a component's Compose files: set by no parameter, or never used."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from margrave.findings import did_you_mean
from margrave.linting.compose_reading import mappings
from margrave.policy.compose_paths import FILE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from margrave.findings import Finding
    from margrave.linting.compose_reading import ComposeFile

# Set by Compose itself.
_PREDEFINED: Final = frozenset({"COMPOSE_PROJECT_NAME"})
_VARIABLE: Final = re.compile(
    r"\$(?:(?P<escaped>\$)|(?P<plain>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)(?P<rest>[^{}]*))"
)
_ENV_LINE: Final = re.compile(r"^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=", re.MULTILINE)


@dataclass(frozen=True)
class Variables:
    """Variables that are set when nodes resolve the files."""

    parameters: frozenset[str]
    env_file: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        """Every name that has a value."""
        return self.parameters | self.env_file | _PREDEFINED


def findings(
    compose_files: Sequence[ComposeFile], files: Mapping[str, bytes], parameters: Collection[str]
) -> Iterator[Finding]:
    """Yield what is wrong between the files' variables and the parameters that set them."""
    variables = Variables(frozenset(parameters), _env_file_names(files))
    yield from _unset_variables(compose_files, variables)
    yield from _unused_parameters(compose_files, variables)


def _unset_variables(
    compose_files: Sequence[ComposeFile], variables: Variables
) -> Iterator[Finding]:
    """Find variables without a default that no parameter sets."""
    for file in compose_files:
        for path, text in _texts(file.parsed.value, ()):
            for name, required in _open_variables(text, variables.names):
                cure = did_you_mean(name, variables.parameters) if variables.parameters else ""
                cure = cure or f"add a parameter for it, or a default: ${{{name}:-value}}"
                finding = file.finding(path, f"${name} is set by no parameter", cure)
                yield finding if required else finding.as_warning("component")


def _unused_parameters(
    compose_files: Sequence[ComposeFile], variables: Variables
) -> Iterator[Finding]:
    """Find parameters whose variable the Compose files never use."""
    used = {name for file in compose_files for name in _used_in(file)}
    for name in sorted(variables.parameters - used):
        message = f"a parameter sets ${name}, which {FILE} never uses"
        cure = did_you_mean(name, used) if used else f"use ${{{name}}}, or remove the parameter"
        yield compose_files[0].finding((), message, cure).as_warning("advice")


def _used_in(file: ComposeFile) -> Iterator[str]:
    """Yield names that values interpolate, or that a key passes on by name."""
    for _path, text in _texts(file.parsed.value, ()):
        yield from _names_in(text)
    for kind in ("configs", "secrets"):
        for _name, definition in mappings(file.content.get(kind)):
            yield str(definition.get("environment"))
    for _name, service in file.services():
        environment = service.get("environment")
        if isinstance(environment, dict):
            yield from (str(name) for name, value in environment.items() if value is None)
        for entry in environment if isinstance(environment, list) else ():
            yield str(entry)  # with a value it holds a `=`, and is no name


def _open_variables(text: str, known: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Yield variables that stay without a value, and whether Compose would stop for them."""
    for match in _VARIABLE.finditer(text):
        name, rest = match["plain"] or match["braced"], match["rest"] or ""
        if match["escaped"] or name is None or name in known:
            continue
        operator = rest[:1] if rest[:1] in "-+?" else rest[:2]
        if operator in ("", ":?", "?"):
            yield name, operator != ""


def _names_in(text: str) -> set[str]:
    names = (match["plain"] or match["braced"] for match in _VARIABLE.finditer(text))
    return {name for name in names if name}


def _texts(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield every text below a value with its place; Compose interpolates no keys."""
    if isinstance(value, str):
        if "$" in value:
            yield path, value
    elif isinstance(value, dict):
        for key, below in value.items():
            yield from _texts(below, (*path, str(key)))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from _texts(below, (*path, index))


def _env_file_names(files: Mapping[str, bytes]) -> frozenset[str]:
    """Return the names that the component's own .env sets."""
    return frozenset(_ENV_LINE.findall(files.get(".env", b"").decode("utf-8", "replace")))
