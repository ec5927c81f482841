"""What a package is: a margo.yaml and the component folders that it names."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from margrave import chart_files, digest
from margrave.compose_files import CANNOT_BE_READ, strays
from margrave.documents.description import read_description
from margrave.errors import DocumentError, MargraveError, UnsafeArchive
from margrave.findings import Finding, Severity
from margrave.linting import compose
from margrave.yaml_text import SIZE_LIMIT, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from controller.catalog.trees import Entry, Tree
    from margrave.digest import File
    from margrave.documents.description import ApplicationDescription

LOG = logging.getLogger(__name__)

FILE: Final = "margo.yaml"
COMPOSE: Final = "compose.yaml"
_REPORT: Final = "correct the package, and report the error: the controller's log has it"


@dataclass(frozen=True)
class Package:
    """One version of one application as its folder has it now."""

    folder: str
    app: str
    version: str
    text: str
    name: str = ""
    about: str = ""
    description: dict[str, Any] = field(default_factory=dict)
    components: Mapping[str, bytes] = field(default_factory=dict)  # path to canonical archive
    findings: tuple[Finding, ...] = ()
    mark: str = ""  # of every file in its folder; the same mark is the same package
    known: str = ""  # its digest, where the contents are not at hand any more

    @property
    def usable(self) -> bool:
        """Whether it may be deployed."""
        return not any(one.severity is Severity.ERROR for one in self.findings)

    @property
    def digest(self) -> str:
        """Over everything that a deployment of it could use."""
        if self.known:
            return self.known
        parts = {path: digest.of_bytes(data) for path, data in self.components.items()}
        return digest.of_bytes(digest.canonical_json({"text": self.text, "components": parts}))

    @property
    def remembered(self) -> Package:
        """The same without its contents: enough to know it again."""
        return replace(self, text="", description={}, components={}, known=self.digest)


def read_packages(
    tree: Tree, unchanged: Callable[[str, str], Package | None] = lambda *_: None
) -> list[Package]:
    """Every package below the tree, in the order of folders; broken ones with their findings.

    `unchanged` gives the package that a folder held when it had that mark: it is not read again.
    """
    entries = {entry.path: entry for entry in tree.entries()}
    folders = [
        str(PurePosixPath(path).parent)
        for path in sorted(entries)
        if PurePosixPath(path).name == FILE
    ]
    found = []
    for folder in ("" if one == "." else one for one in folders):
        mark = _mark(folder, entries)
        package = unchanged(folder, mark) or replace(_read_alone(folder, entries), mark=mark)
        found.append(package)
    return found


def _read_alone(folder: str, entries: Mapping[str, Entry]) -> Package:
    """Read a package; an error that nobody foresaw is a finding of it, and the next one is read."""
    try:
        return _read(folder, entries)
    except (MargraveError, OSError):
        raise  # the source cannot be read: no package is to blame
    except Exception as error:
        file = f"{folder}/{FILE}".lstrip("/")
        LOG.exception("%s cannot be read", file)
        text = f"{type(error).__name__}: {error}".encode("ascii", "backslashreplace").decode()
        finding = Finding("", f"the package cannot be read: {text[:300]}", _REPORT, file=file)
        return _broken(folder, _small(entries[file]), (finding,))


def _small(entry: Entry) -> bytes:
    """Return a file's bytes, for what they say of id and version; none of one that is too large."""
    return entry.read().data if entry.read is not None and entry.size <= SIZE_LIMIT else b""


def _mark(folder: str, entries: Mapping[str, Entry]) -> str:
    """Over all that the package can use: nothing of it lies outside of its folder."""
    below = f"{folder}/" if folder else ""
    inside = {path: one.mark for path, one in entries.items() if path.startswith(below)}
    return digest.of_bytes(digest.canonical_json(inside))


def _read(folder: str, entries: Mapping[str, Entry]) -> Package:
    file = f"{folder}/{FILE}".lstrip("/")
    entry = entries[file]
    if entry.read is None:
        finding = Finding("", "is a link", "put the file itself here", file=file)
        return Package(folder, _slug(folder), "", "", findings=(finding,))
    if entry.size > SIZE_LIMIT:  # told before it is in memory
        finding = Finding("", f"is larger than {SIZE_LIMIT} bytes", "split it", file=file)
        return _broken(folder, b"", (finding,))
    data = entry.read().data
    try:
        description = read_description(data, file)
    except DocumentError as error:
        return _broken(folder, data, error.findings)
    return _whole(folder, data.decode("utf-8-sig"), description, entries)


def _whole(
    folder: str, text: str, description: ApplicationDescription, entries: Mapping[str, Entry]
) -> Package:
    components: dict[str, bytes] = {}
    findings: list[Finding] = []
    file = f"{folder}/{FILE}".lstrip("/")
    for number, profile in enumerate(description.profiles):
        for place, component in enumerate(profile.components):
            pointer = f"/deploymentProfiles/{number}/components/{place}/x-margrave-extensions/path"
            if component.path is None or component.path in components:
                continue
            inner = f"{folder}/{component.path}".strip("/").removesuffix("/.")
            try:
                files = _files(inner, entries)
                components[component.path] = digest.archive(files)
            except UnsafeArchive as error:
                findings.append(Finding(pointer, error.message, error.cure, file=file))
                continue
            texts = {path: one.data for path, one in files.items()}
            made = [Finding(pointer, *one, file=file) for one in _wrong(profile.type, texts)]
            if profile.type == "compose" and COMPOSE in texts:
                made += [
                    replace(finding, file=f"{inner}/{finding.file}")
                    for finding in compose.findings(texts, description.pointers(component.name))
                ]
            if profile.type == "helm":
                advice = chart_files.remarks(texts, description.pointers(component.name))
                made += [
                    Finding(pointer, str(one), one.cure, file=file).as_warning("advice")
                    for one in advice
                ]
            findings += made
    return Package(
        folder,
        description.id,
        description.version,
        text,
        description.metadata.name,
        description.metadata.description or "",
        dict(description.raw),
        components,
        tuple(findings),
    )


def _wrong(kind: str, files: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """What is wrong with a component's files, and what would help."""
    if kind == "helm":
        return [(str(one), one.cure) for one in chart_files.flaws(files)]
    if kind != "compose":
        return []
    if COMPOSE not in files:
        return [(f"there is no {COMPOSE} in it", "put one at its root")]
    return [
        (f"{where}: {words}", cure)
        for where, words, cure in strays(files)
        if not words.startswith(CANNOT_BE_READ)  # reported at its line, with the other rules
    ]


def _files(folder: str, entries: Mapping[str, Entry]) -> dict[str, File]:
    """A component's files by their path inside it."""
    inside = [entry for path, entry in entries.items() if path.startswith(f"{folder}/")]
    if folder in entries:
        raise UnsafeArchive(f'"{folder}" is no folder', "keep the component in a folder")
    if not inside:
        raise UnsafeArchive(f'there is no folder "{folder}"', "add it, or correct the path")
    if sum(entry.size for entry in inside) > digest.ARCHIVE_LIMIT:
        raise UnsafeArchive(f'"{folder}" is larger than {digest.ARCHIVE_LIMIT} bytes', "use images")
    files = {}
    for entry in inside:
        if entry.read is None:
            raise UnsafeArchive(f'"{entry.path}" is a link or a device', "keep regular files only")
        files[entry.path.removeprefix(f"{folder}/")] = entry.read()
    return files


def _broken(folder: str, data: bytes, findings: tuple[Finding, ...]) -> Package:
    """A package that cannot be read, under the id and version that it seems to have."""
    text = data.decode("utf-8", "replace")
    package = Package(folder, _slug(folder), "", text, findings=findings)
    try:
        raw = parse(data).value
    except DocumentError:
        return package
    if not isinstance(raw, dict):
        return package
    found = raw.get("metadata")
    metadata: dict[str, Any] = found if isinstance(found, dict) else {}
    return replace(
        package,
        app=_text(raw.get("id")) or package.app,
        version=_text(metadata.get("version")),
        name=_text(metadata.get("name")),
        about=_text(metadata.get("description")),
        description=raw,
    )


def _text(value: object) -> str:
    return value[:200] if isinstance(value, str) else ""


def _slug(folder: str) -> str:
    """The folder as an application's id, when the description gives none."""
    return re.sub(r"[^a-z0-9]+", "-", folder.lower()).strip("-")[:200] or "unreadable"
