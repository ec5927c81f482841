"""One document: which reader it has, and everything that the reader says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from margrave import yaml_text
from margrave.documents import generations
from margrave.documents.capabilities import read_capabilities
from margrave.documents.deployment import read_deployment
from margrave.documents.description import read_description
from margrave.documents.manifest import read_manifest
from margrave.documents.problem import read_problem
from margrave.documents.remarks import remarks
from margrave.documents.site import read_site
from margrave.documents.status import read_status
from margrave.documents.trust_bundle import read_discovery, read_trust_bundle
from margrave.errors import DocumentError
from margrave.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from margrave.yaml_text import Parsed

DESCRIPTION_FILE: Final = "margo.yaml"


class Kind(StrEnum):
    """The documents that people write, and those that devices and fleet managers exchange."""

    DESCRIPTION = "application description"
    DEPLOYMENT = "deployment"
    SITE = "site"
    MANIFEST = "desired-state manifest"
    CAPABILITIES = "report of capabilities"
    STATUS = "report of status"
    PROBLEM = "problem"
    TRUST_BUNDLE = "trust bundle"
    DISCOVERY = "discovery document"

    @property
    def with_article(self) -> str:
        """The name as a sentence needs it."""
        return f"{'an' if self.value[0] == 'a' else 'a'} {self.value}"


_READERS: Final[Mapping[Kind, Callable[[bytes, str], object]]] = {
    Kind.DESCRIPTION: read_description,
    Kind.DEPLOYMENT: read_deployment,
    Kind.SITE: read_site,
    Kind.MANIFEST: read_manifest,
    Kind.CAPABILITIES: read_capabilities,
    Kind.STATUS: read_status,
    Kind.PROBLEM: read_problem,
    Kind.TRUST_BUNDLE: read_trust_bundle,
    Kind.DISCOVERY: read_discovery,
}
# The standard's kinds by their names there; they are the ones that have older shapes.
GENERATIONS: Final[Mapping[Kind, generations.Kind]] = {
    kind: generations.Kind[kind.name] for kind in Kind if kind is not Kind.SITE
}
_KINDS: Final = {found: kind for kind, found in GENERATIONS.items()}


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


def kind_in(data: bytes) -> Kind | None:
    """By what the document holds; None when it is of no kind that is known."""
    try:
        found = generations.kind_of(yaml_text.parse(data).value)
    except DocumentError:
        return None
    return _KINDS[found] if found else None


def read(kind: Kind, data: bytes, file: str) -> Read:
    """The document with its findings: surprises of the text, and what the reader refuses."""
    try:
        parsed = yaml_text.parse(data, file)
    except DocumentError as error:
        return Read(file, kind, _placed(error.findings, file))
    try:
        document = _READERS[kind](data, file)
    except DocumentError as error:
        told = _of_another(kind, parsed, data) or error.findings
        return Read(file, kind, _placed([*parsed.warnings, *told], file), None, parsed)
    advice = remarks(GENERATIONS[kind], parsed) if kind in GENERATIONS else []
    return Read(file, kind, _placed([*parsed.warnings, *advice], file), document, parsed)


def _of_another(kind: Kind, parsed: Parsed, data: bytes) -> list[Finding]:
    """What is wrong with a document of another kind than its place wants; else nothing."""
    name = generations.kind_of(parsed.value)
    found = _KINDS[name] if name else kind
    if kind is Kind.SITE or found is kind:
        return []
    description = found is Kind.DESCRIPTION
    cure = f"name it {DESCRIPTION_FILE}" if description else "put it elsewhere"
    words = f"is {found.with_article}, where {kind.with_article} belongs"
    return [parsed.finding((), words, cure, "place"), *read(found, data, parsed.file).findings]


def _placed(findings: Iterable[Finding], file: str) -> tuple[Finding, ...]:
    """Each once, in the order of places, and none without its file."""
    told = dict.fromkeys(one if one.file else replace(one, file=file) for one in findings)
    return tuple(sorted(told, key=lambda one: one.order))
