"""One document: which reader it has, and everything that the reader says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from margrave import yaml_text
from margrave.documents.deployment import read_deployment
from margrave.documents.description import read_description
from margrave.documents.site import read_site
from margrave.errors import DocumentError
from margrave.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from margrave.yaml_text import Parsed

DESCRIPTION_FILE: Final = "margo.yaml"


class Kind(StrEnum):
    """The documents that people write."""

    DESCRIPTION = "application description"
    DEPLOYMENT = "deployment"
    SITE = "site"


_READERS: Final[Mapping[Kind, Callable[[bytes, str], object]]] = {
    Kind.DESCRIPTION: read_description,
    Kind.DEPLOYMENT: read_deployment,
    Kind.SITE: read_site,
}


@dataclass(frozen=True)
class Read:
    """A document as far as it could be read: without findings of severity error it is whole."""

    file: str
    kind: Kind
    findings: tuple[Finding, ...]
    document: Any = None
    parsed: Parsed | None = None

    def finding(
        self, path: Sequence[str | int], message: str, cure: str, code: str = "invalid"
    ) -> Finding:
        """A further finding at a place of the document."""
        assert self.parsed is not None, "rules are for documents that were read"
        return self.parsed.finding(path, message, cure, code)


def kind_of(parts: Sequence[str]) -> Kind:
    """By the path's parts: margo.yaml, what lies below sites/, and else a deployment.

    The nearer folder decides, so that a repository may lie below a folder called sites.
    """
    if parts[-1] == DESCRIPTION_FILE:
        return Kind.DESCRIPTION
    above = [part for part in parts[:-1] if part in ("sites", "deployments")]
    return Kind.SITE if above[-1:] == ["sites"] else Kind.DEPLOYMENT


def read(kind: Kind, data: bytes, file: str) -> Read:
    """The document with its findings: surprises of the text, and what the reader refuses."""
    try:
        parsed = yaml_text.parse(data, file)
    except DocumentError as error:
        return Read(file, kind, _placed(error.findings, file))
    try:
        document = _READERS[kind](data, file)
    except DocumentError as error:
        return Read(file, kind, _placed([*parsed.warnings, *error.findings], file), None, parsed)
    return Read(file, kind, _placed(parsed.warnings, file), document, parsed)


def _placed(findings: Iterable[Finding], file: str) -> tuple[Finding, ...]:
    """Each once, in the order of places, and none without its file."""
    told = dict.fromkeys(one if one.file else replace(one, file=file) for one in findings)
    return tuple(sorted(told, key=lambda one: one.order))
