"""A deployment's values against the schemas of its application, where the catalogue knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from margrave import yaml_text
from margrave.parameters import check_value

if TYPE_CHECKING:
    from margrave.documents.deployment import Deployment
    from margrave.documents.description import ApplicationDescription
    from margrave.findings import Finding

REFERENCE: Final = "secret://"  # a secret's name, whose value only the site knows


def findings(
    description: ApplicationDescription, document: Deployment, data: bytes, file: str
) -> list[Finding]:
    """Values that the schemas do not allow. A parameter that no schema is for is its author's own
    matter: people add some by hand, with targets of their own."""
    wrong = [
        (("spec", "parameters", name, "value"), words, cure)
        for name, value in document.values.items()
        if name in description.settings and not _is_reference(value)
        for words, cure in check_value(description.settings[name][1], value)
    ]
    if not wrong:
        return []
    parsed = yaml_text.parse(data, file)
    return [parsed.finding(path, words, cure, "value") for path, words, cure in wrong]


def _is_reference(value: object) -> bool:
    return isinstance(value, str) and value.startswith(REFERENCE)
