"""What a push brings to main, checked while Git still holds it in quarantine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from controller.gate import checking
from controller.gate.git_command import FILES, GitCommand, GitFailed, texts
from controller.gate.shelf import FOLDER, Shelf
from margrave.digest import ARCHIVE_LIMIT
from margrave.findings import Finding
from margrave.yaml_text import SIZE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SITES: Final = "MARGRAVE_SITES"  # the variable that tells the hook whose push it is
_ROOTS: Final = ("deployments", "sites", "secrets", "components")
_MAIN: Final = "refs/heads/main"
# Who made a commit is shown to people: a name that does something to a screen is none.
_TOLD: Final = "--format=%H %an%cn%(trailers:key=Margrave-Actor)%(trailers:key=Margrave-Request)"
_CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")  # a trailer ends with a new line
_QUARANTINE: Final = (
    "GIT_QUARANTINE_PATH",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
)


class Pushed:
    """The repository as it would be after the push."""

    def __init__(self, folder: str, environ: Mapping[str, str]) -> None:
        self._git = GitCommand(Path(folder).resolve())
        self._extra = {name: environ[name] for name in _QUARANTINE if name in environ}
        self._shelf = Shelf(Path(environ[FOLDER])) if FOLDER in environ else None
        self._sites = frozenset(environ[SITES].split(",")) if SITES in environ else None

    def findings(self, old: str | None, new: str) -> list[Finding]:
        """What refuses the new head; files that the push leaves alone are not looked at."""
        if old is not None and self._run("merge-base", old, new).strip() != old.encode():
            cure = "fetch, rebase and push again"
            return [Finding("", "main only moves forward", cure, file=_MAIN)]
        touched = self._touched(old, new)
        entries = {path: (mode, blob) for path, (mode, blob) in touched.items() if blob}
        findings = [*self._signed(old, new), *self._foreign(touched)]
        findings += [self._unfit(path) for path, (mode, _) in entries.items() if mode not in FILES]
        sources: dict[str, str] = {}
        for path, data in self._documents(entries).items():
            findings += _checked(path, data, self._shelf)
            if data is not None and path.startswith("deployments/"):
                sources |= {one.decode(): path for one in checking.SOURCE.findall(data)}
        written = {_folder(path) for path in entries if path.startswith("components/")}
        gone = {path for path in touched.keys() - entries if path.startswith("components/")}
        sources |= self._orphaned({_folder(path) for path in gone}, new)
        findings += self._components(new, sources, written)
        return sorted(findings, key=lambda one: one.order)

    def _documents(self, entries: Mapping[str, tuple[str, str]]) -> dict[str, bytes | None]:
        """Return the documents of the push by path; None for one that is too large to be read."""
        documents = {
            path: blob
            for path, (mode, blob) in entries.items()
            if mode in FILES and path.startswith(("deployments/", "sites/"))
        }
        sizes = self._git.sizes(set(documents.values()), self._extra)
        small = {blob for blob, size in sizes.items() if size is not None and size <= SIZE_LIMIT}
        blobs = self._git.blobs(small, self._extra)
        return {path: blobs.get(blob) for path, blob in documents.items()}

    def _touched(self, old: str | None, new: str) -> dict[str, tuple[str, str]]:
        """Paths that the push writes or takes away, with mode and blob; none where it is gone."""
        if old is None:
            listed = self._run("ls-tree", "-r", "-z", "--full-tree", new, "--", *_ROOTS)
            pairs = [line.partition("\t") for line in texts(listed)]
            return {path: (about.split()[0], about.split()[2]) for about, _, path in pairs}
        listed = self._run("diff-tree", "-r", "-z", "--no-renames", old, new, "--", *_ROOTS)
        told = texts(listed)
        found = {}
        for about, path in zip(told[::2], told[1::2], strict=True):
            _, mode, _, blob, status = about.split()
            found[path] = (mode, "" if status == "D" else blob)
        return found

    def _signed(self, old: str | None, new: str) -> list[Finding]:
        """Commits whose author cannot be shown to anybody as he is."""
        log = texts(self._run("log", "-z", _TOLD, f"{old}..{new}" if old else new, "--"))
        words = "holds a control character in a person's name or in a trailer of ours"
        cure = "git commit --amend --reset-author, with a user.name that can be read"
        return [
            Finding("", f"commit {commit[:12]} {words}", cure, file=_MAIN)
            for commit, _, names in (one.partition(" ") for one in log)
            if _CONTROL.search(names)
        ]

    def _foreign(self, touched: Iterable[str]) -> list[Finding]:
        """Paths of sites that a token which is limited to some does not have."""
        if self._sites is None:
            return []
        foreign = {path: checking.site_of(path) for path in touched}
        cure = f"leave it as it was; the token is for {', '.join(sorted(self._sites)) or 'no site'}"
        return [
            Finding("", f"is of the site {site}, which is not yours", cure, "forbidden", file=path)
            for path, site in foreign.items()
            if site is not None and site not in self._sites
        ]

    def _orphaned(self, gone: Iterable[str], new: str) -> dict[str, str]:
        """Components that the push takes from, with a document that still names each."""
        found = {}
        for source in gone:
            try:
                named = self._run("grep", "-l", "-z", "-F", "-e", source, new, "--", "deployments")
            except GitFailed as error:
                if error.words:
                    raise
                continue  # grep says with its status alone that nothing names it
            found[source] = texts(named)[0].partition(":")[2]
        return found

    def _unfit(self, path: str) -> Finding:
        return Finding("", "is a link or a submodule", "put the file itself here", file=path)

    def _components(
        self, new: str, sources: Mapping[str, str], touched: Iterable[str]
    ) -> list[Finding]:
        """Components that documents name must be there, and hold what their name says."""
        findings = []
        for source in sorted({*sources, *touched}):
            file = sources.get(source, source)
            if self._git.folder_size(new, source, self._extra) > ARCHIVE_LIMIT:
                words = f"is larger than {ARCHIVE_LIMIT} bytes"
                findings.append(Finding("", words, "put payload into an image", file=source))
                continue
            files = self._git.files(new, source, self._extra)
            if not files and source in sources:
                words = f"names {source}, which is not in the repository"
                findings.append(Finding("", words, "push the component with it", file=file))
            elif files:
                wrong = checking.check_component(source, files)
                if wrong:
                    cure = "name the folder by margrave app digest"
                    findings.append(Finding("", wrong, cure, file=source))
        return findings

    def _run(self, *arguments: str) -> bytes:
        return self._git(*arguments, extra=self._extra)


def _checked(path: str, data: bytes | None, shelf: Shelf | None) -> list[Finding]:
    """Return the findings of a document; an error that nobody foresaw is one of them."""
    if data is None:
        return [Finding("", f"is larger than {SIZE_LIMIT} bytes", "split it", file=path)]
    try:
        return checking.check_file(path, data, shelf)
    except Exception as error:  # noqa: BLE001 - whoever pushes reads which file it is
        words = f"cannot be checked: {type(error).__name__}: {error}"
        shown = "".join(one if one.isprintable() else " " for one in words)[:300]
        return [Finding("", shown, "correct the file, and report the error", "defect", file=path)]


def _folder(path: str) -> str:
    """The component that a path is in."""
    return "/".join(path.split("/")[:2])
