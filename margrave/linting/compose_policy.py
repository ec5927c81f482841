"""What the Compose files of a component ask of a node that a site does not allow by default."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from margrave.errors import DocumentError
from margrave.policy import compose_findings
from margrave.policy.compose_paths import FILE
from margrave.yaml_text import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from margrave.findings import Finding

# A site's policy that says nothing: images of any registry, and no more.
DEFAULT_POLICY: Final[Mapping[str, Any]] = {"registries": ["*"]}
_STEP: Final = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


def findings(files: Mapping[str, bytes], variables: Mapping[str, str]) -> Iterator[Finding]:
    """Yield a warning for each key that a site would have to open, an error for what none can.

    `variables` are the defaults of the package's parameters.
    """
    try:
        parsed = parse(files[FILE], FILE)
    except (DocumentError, KeyError):
        return  # the other rules report what cannot be read
    texts = {name: data.decode("utf-8", "replace") for name, data in files.items()}
    for path, reason, opens in compose_findings(texts, variables, DEFAULT_POLICY):
        message = f"{path}: {reason}"
        if opens is None:
            yield parsed.finding(_steps(path), message, "no policy of a site allows it", "policy")
        else:
            cure = f"it runs only at sites whose policy opens it: {opens}"
            yield parsed.finding(_steps(path), message, cure).as_warning("policy")


def _steps(path: str) -> list[str | int]:
    """Return a path of the check as keys and indexes."""
    return [int(index) if index else key for index, key in _STEP.findall(path)]
