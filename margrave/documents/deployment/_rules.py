"""What no single key of a deployment can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from margrave.documents import constraints
from margrave.documents._profiles import (
    component_names_once,
    pointer_rules,
    target_rules,
    value_rules,
)
from margrave.documents._reading import OURS
from margrave.documents._walk import EACH, mapping, part, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from margrave.documents._walk import Path
    from margrave.findings import Finding
    from margrave.yaml_text import Parsed

_PROFILE: Final[Path] = ("spec", "deploymentProfile")
_PARAMETERS: Final[Path] = ("spec", "parameters")


def rules(parsed: Parsed) -> Iterator[Finding]:
    """All of them."""
    value = parsed.value
    yield from component_names_once(parsed, _PROFILE)
    names = {name for _, name in texts(value, *_PROFILE, "components", EACH, "name")}
    yield from target_rules(parsed, _PARAMETERS, names)
    kind = part(value, (*_PROFILE, "type"))
    yield from pointer_rules(parsed, _PARAMETERS, names if kind == "compose" else set())
    yield from value_rules(parsed, _PARAMETERS, names if kind == "helm" else set())
    yield from constraints.rules(parsed, _PROFILE)
    ours = mapping(part(value, ("spec", OURS)))
    if ours.get("priority") == "urgent" and not ours.get("reason"):
        path = ("spec", OURS, "priority")
        yield parsed.finding(path, "urgent needs a reason", "add reason")
