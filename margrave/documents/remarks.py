"""What is allowed in Margo's documents, and yet worth a look: warnings that refuse nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from margrave.documents._reading import OURS, is_foreign
from margrave.documents._walk import EACH, mapping, part, texts, walk
from margrave.documents.generations import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from margrave.documents._walk import Path
    from margrave.findings import Finding
    from margrave.yaml_text import Parsed

# Where the standard lets anybody extend a document.
_EXTENSIBLE: Final[Mapping[Kind, tuple[tuple[object, ...], ...]]] = {
    Kind.DESCRIPTION: (
        (),
        ("deploymentProfiles", EACH),
        ("deploymentProfiles", EACH, "components", EACH),
    ),
    Kind.DEPLOYMENT: (
        ("spec",),
        ("spec", "deploymentProfile"),
        ("spec", "deploymentProfile", "components", EACH),
    ),
    Kind.CAPABILITIES: ((),),
}
# What the text says that a catalogue's files should be.
_ENDINGS: Final = {
    "descriptionFile": (".md",),
    "licenseFile": (".txt", ".md", ".pdf"),
    "releaseNotes": (".md", ".pdf"),
}
_PROFILE_TYPE: Final[Path] = ("spec", "deploymentProfile", "type")
_CATALOG: Final = ("metadata", "catalog", "application")


def remarks(kind: Kind, parsed: Parsed) -> list[Finding]:
    """All of them, as warnings, in the order of their places."""
    found = [*_extensions(kind, parsed), *_OTHERS.get(kind, _none)(parsed)]
    return sorted(found, key=lambda one: one.order)


def _extensions(kind: Kind, parsed: Parsed) -> Iterator[Finding]:
    for place in _EXTENSIBLE.get(kind, ()):
        for path, below in walk(parsed.value, *place):
            for key in mapping(below):
                if is_foreign(key):
                    words = "is kept as it is, and means nothing to Margrave"
                    yield _warning(parsed, (*path, key), words, "", "extension")


def _description(parsed: Parsed) -> Iterator[Finding]:
    for key, endings in _ENDINGS.items():
        for path, text in texts(parsed.value, *_CATALOG, key):
            if not text.lower().endswith(endings):
                cure = f"name a file that ends with {' or '.join(endings)}"
                yield _warning(parsed, path, f'"{text[:80]}" should be another kind of file', cure)


def _deployment(parsed: Parsed) -> Iterator[Finding]:
    strategy: Path = ("spec", OURS, "strategy", "update")
    update = part(parsed.value, strategy)
    if update == "start-first" and part(parsed.value, _PROFILE_TYPE) == "compose":
        words = "is more than Compose can: it stops the old one first"
        yield _warning(parsed, strategy, words, "write auto")


def _capabilities(parsed: Parsed) -> Iterator[Finding]:
    for path, _ in walk(parsed.value, "labels", EACH):
        if "/" not in str(path[-1]) and "." not in str(path[-1]):
            words = "is a name that others may use for something else"
            yield _warning(parsed, path, words, f"write such as example.com/{path[-1]}")


def _problem(parsed: Parsed) -> Iterator[Finding]:
    if part(parsed.value, ("status",)) == 422 and not part(parsed.value, ("errors",)):
        yield _warning(parsed, (), "does not say which fields are wrong", "add errors")


def _none(_: Parsed) -> Iterator[Finding]:
    return iter(())


_OTHERS: Final[Mapping[Kind, Callable[[Parsed], Iterator[Finding]]]] = {
    Kind.DESCRIPTION: _description,
    Kind.DEPLOYMENT: _deployment,
    Kind.CAPABILITIES: _capabilities,
    Kind.PROBLEM: _problem,
}


def _warning(parsed: Parsed, path: Path, message: str, cure: str, code: str = "advice") -> Finding:
    return parsed.finding(path, message, cure).as_warning(code)
