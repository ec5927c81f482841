"""What a push brings to main, checked while Git still holds it in quarantine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from controller.gate import checking
from controller.gate.git_command import GitCommand, GitFailed
from controller.gate.shelf import FOLDER, Shelf
from margrave.digest import File
from margrave.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_FILES: Final = ("100644", "100755")
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

    def findings(self, old: str | None, new: str) -> list[Finding]:
        """What refuses the new head; files that the push leaves alone are not looked at."""
        if old is not None and self._run("merge-base", old, new).strip() != old.encode():
            cure = "fetch, rebase and push again"
            return [Finding("", "main only moves forward", cure, file="refs/heads/main")]
        entries = self._entries(old, new)
        found = [self._unfit(path, mode) for path, (mode, _) in entries.items()]
        findings = [one for one in found if one is not None]
        sources: dict[str, str] = {}
        blobs = self._git.blobs({blob for _, blob in entries.values()}, self._extra)
        for path, (mode, blob) in entries.items():
            data = blobs.get(blob)
            if mode in _FILES and data is not None:
                findings += checking.check_file(path, data, self._shelf)
                if path.startswith("deployments/"):
                    sources |= {one.decode(): path for one in checking.SOURCE.findall(data)}
        touched = {_folder(path) for path in entries if path.startswith("components/")}
        sources |= self._orphaned(old, new)
        findings += self._components(new, sources, touched)
        return sorted(findings, key=lambda one: one.order)

    def _entries(self, old: str | None, new: str) -> dict[str, tuple[str, str]]:
        """Paths that the push writes, each with its mode and blob."""
        roots = ("deployments", "sites", "components")
        if old is None:
            listed = self._run("ls-tree", "-r", "-z", "--full-tree", new, "--", *roots)
            pairs = [line.partition("\t") for line in _texts(listed)]
            return {path: (about.split()[0], about.split()[2]) for about, _, path in pairs}
        listed = self._run("diff-tree", "-r", "-z", "--no-renames", old, new, "--", *roots)
        texts = _texts(listed)
        found = {}
        for about, path in zip(texts[::2], texts[1::2], strict=True):
            _, mode, _, blob, status = about.split()
            if status != "D":
                found[path] = (mode, blob)
        return found

    def _orphaned(self, old: str | None, new: str) -> dict[str, str]:
        """Components that the push takes away, with a document that still names each."""
        if old is None:
            return {}
        listed = self._run(
            "diff-tree", "-r", "-z", "--no-renames", "--name-only", "--diff-filter=D",
            old, new, "--", "components",
        )  # fmt: skip
        found = {}
        for source in {_folder(path) for path in _texts(listed)}:
            try:
                named = self._run("grep", "-l", "-z", "-F", "-e", source, new, "--", "deployments")
            except GitFailed as error:
                if error.words:
                    raise
                continue  # grep says with its status alone that nothing names it
            found[source] = _texts(named)[0].partition(":")[2]
        return found

    def _unfit(self, path: str, mode: str) -> Finding | None:
        if mode not in _FILES:
            return Finding("", "is a link or a submodule", "put the file itself here", file=path)
        return None

    def _components(
        self, new: str, sources: Mapping[str, str], touched: Iterable[str]
    ) -> list[Finding]:
        """Components that documents name must be there, and hold what their name says."""
        findings = []
        for source in sorted({*sources, *touched}):
            files = self._git_folder(new, source)
            file = sources.get(source, source)
            if not files and source in sources:
                words = f"names {source}, which is not in the repository"
                findings.append(Finding("", words, "push the component with it", file=file))
            elif files:
                wrong = checking.check_component(source, files)
                if wrong:
                    cure = "name the folder by margrave app digest"
                    findings.append(Finding("", wrong, cure, file=source))
        return findings

    def _git_folder(self, commit: str, folder: str) -> dict[str, File]:
        listed = self._run("ls-tree", "-r", "-z", "--full-tree", commit, "--", folder)
        lines = [line.partition("\t") for line in _texts(listed)]
        entries = {path: about.split() for about, _, path in lines}
        files = {path: one for path, one in entries.items() if one[0] in _FILES}
        blobs = self._git.blobs({one[2] for one in files.values()}, self._extra)
        return {
            path.removeprefix(f"{folder}/"): File(blobs[one[2]] or b"", one[0] == "100755")
            for path, one in files.items()
        }

    def _run(self, *arguments: str) -> bytes:
        return self._git(*arguments, extra=self._extra)


def _folder(path: str) -> str:
    """The component that a path is in."""
    return "/".join(path.split("/")[:2])


def _texts(listed: bytes) -> list[str]:
    return [one for one in listed.decode("utf-8", "surrogateescape").split("\0") if one]
