"""Secrets and configs of each kind, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

OWNED = {"uid": "1000", "gid": "1000", "mode": 0o440}


class Kind(StrEnum):
    """Origin of the text of a secret or a config."""

    FILE = "file"  # a file of the package
    LITERAL = "literal"  # written into compose.yaml
    VARIABLE = "variable"  # written into compose.yaml, with a variable in it
    ENVIRONMENT = "environment"  # the value of a variable


@dataclass(frozen=True, order=True)
class Text:
    """A secret or a config; the version stands for its value."""

    group: str  # secrets or configs
    name: str
    kind: Kind
    version: int = 1

    @property
    def value(self) -> str:
        """Return the text that a container has to hold."""
        return f"{self.name} {self.kind} v{self.version}"

    @property
    def variable(self) -> str:
        """Return the variable that carries the value."""
        return f"VALUE_OF_{self.name.upper()}"

    @property
    def path(self) -> str:
        """Return the file of the package that carries the value."""
        return f"texts/{self.name}.txt"

    def target(self, owned: bool) -> str:
        """Return the path in the container where Compose puts it."""
        name = f"own_{self.name}" if owned else self.name
        return f"/run/secrets/{name}" if self.group == "secrets" else f"/{name}"

    def grant(self, owned: bool) -> str | dict[str, Any]:
        """Return the entry below `secrets` or `configs` of a service."""
        if not owned:
            return self.name
        target = f"own_{self.name}" if self.group == "secrets" else f"/own_{self.name}"
        return {"source": self.name, "target": target, **OWNED}

    def definition(self) -> dict[str, str]:
        """Return the entry below `secrets` or `configs`."""
        return {
            Kind.FILE: {"file": f"./{self.path}"},
            Kind.LITERAL: {"content": self.value},
            Kind.VARIABLE: {"content": "${" + self.variable + "}"},
            Kind.ENVIRONMENT: {"environment": self.variable},
        }[self.kind]
