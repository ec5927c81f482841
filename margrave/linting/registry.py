"""Rules between the packages of an app registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from margrave.documents.description import ApplicationDescription
    from margrave.findings import Finding
    from margrave.linting.reading import Read


def check(packages: Iterable[Read]) -> Iterator[Finding]:
    """Each version of an application stands once, so that its content is one and the same."""
    first: dict[tuple[str, str], str] = {}
    for package in packages:
        if package.document is None:
            continue
        description: ApplicationDescription = package.document
        key = (description.id, description.version)
        if key in first:
            words = f"version {key[1]} of {key[0]} stands in {first[key]} too"
            cure = "give one of them another version, or remove it"
            yield package.finding(("metadata", "version"), words, cure, "twice")
        first.setdefault(key, package.file)
