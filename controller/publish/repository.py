"""The deployments repository as the controller has it: a bare one, its own or a remote's copy."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, Final

from controller.gate.git_command import BRANCH, GitCommand, GitFailed
from controller.publish.ancestry import Ancestry
from controller.publish.building import NAME, Note, build
from controller.publish.remote import Remote
from controller.publish.touches import FORM, Touch, read_log
from margrave import commits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from controller.settings import ControllerSettings
    from margrave.digest import File

ROOTS: Final = ("deployments", "sites", "secrets")
LOCK_SECONDS: Final = 5
_LOCKS: Final = ("config.lock", "HEAD.lock", "packed-refs.lock", f"{BRANCH}.lock")
_MANY: Final = 100  # files: then a list of the whole tree costs less than as many walks down it
_PACKING_SECONDS: Final = 3600
_NO_OBJECT: Final = "0" * 40
_HOOK: Final = """#!/bin/sh
# Documents with errors are refused while what was pushed is still in quarantine.
: "${MARGRAVE_PYTHON:?push over the controller\'s HTTP address}"
exec "$MARGRAVE_PYTHON" -m controller.gate.pre_receive
"""


class TooLarge(Enum):
    """Stands for the content of a file that is larger than its reader takes."""

    INSTANCE = "too large"


class Repository:
    """Reads commits and trees, and moves the branch when nobody else has."""

    def __init__(self, settings: ControllerSettings) -> None:
        self.folder = settings.repository
        self.git = GitCommand(self.folder)
        self.ancestry = Ancestry(self.git)
        self._remote = Remote(self.folder, settings.git) if settings.git.remote else None

    @property
    def own(self) -> bool:
        """Whether the controller itself serves it."""
        return self._remote is None

    def prepare(self) -> None:
        """Make it, or make sure it is as it should be."""
        self._unlock()
        if not (self.folder / "HEAD").is_file():
            self.folder.mkdir(parents=True, exist_ok=True)
            self.git("init", "--quiet", "--bare", f"--initial-branch={BRANCH.split('/')[-1]}")
        for key, value in (
            ("receive.denyNonFastForwards", "true"),
            ("receive.denyDeletes", "true"),
            ("receive.fsckObjects", "true"),
            ("http.receivepack", "true"),
            ("http.getanyfile", "false"),
            ("uploadpack.allowFilter", "true"),
            ("transfer.hideRefs", "refs/margrave"),  # what is being built is nobody's yet
        ):
            self.git("config", key, value)
        hook = self.folder / "hooks" / "pre-receive"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(_HOOK, encoding="utf-8")
        hook.chmod(0o755)
        self._sweep()
        if self.own and self.head() is None:
            # A branch from the start: a clone of an empty repository surprises everybody.
            note = Note("Begin", NAME, datetime.now(UTC))
            self.advance(None, build(self.git, None, {}, note))

    def reached(self, wanted: Mapping[str, str]) -> set[str]:
        """Return the references that are at their commit; of no commit (zeros): that are gone.

        Main counts also when it is beyond its commit: others push to it meanwhile.
        """
        listed = self.git.text("for-each-ref", "--format=%(objectname) %(refname)")
        lines = (line.partition(" ") for line in listed.split("\n"))
        there = {name: commit for commit, _, name in lines if name}
        found = {name for name, commit in wanted.items() if there.get(name, _NO_OBJECT) == commit}
        main = wanted.get(BRANCH)
        if main is not None and BRANCH in there and self.contains(there[BRANCH], main):
            found.add(BRANCH)
        return found

    def refresh(self) -> str | None:
        """The head as it is now where it is published; None before the first commit.

        Of a repository elsewhere it is fetched and not yet taken: `adopt` does that.
        """
        return self._remote.fetch() if self._remote is not None else self.head()

    def adopt(self, commit: str) -> None:
        """Stand by a head that was fetched, or pushed."""
        if self._remote is not None:
            self.git("update-ref", BRANCH, commit)

    def keep(self, commit: str) -> None:
        """Hold on to a commit that no branch leads to any more."""
        self.git("update-ref", f"refs/kept/{commit}", commit)

    def head(self) -> str | None:
        """The head that the controller stands by."""
        found = self.git.text("for-each-ref", "--format=%(objectname)", BRANCH)
        return found or None

    def advance(self, old: str | None, new: str) -> bool:
        """Make a commit the head if the head is still the old one; False when it is not.

        Of a repository elsewhere it is not yet taken here: `adopt` does that.
        """
        return self._remote.push(new) if self._remote else self._moved(old, new)

    def proposals(self) -> dict[str, str]:
        """Branches that wait to be merged, each with its head; none in its own repository."""
        return self._remote.proposals() if self._remote is not None else {}

    def propose(self, name: str, commit: str | None, old: str | None) -> bool:
        """Move such a branch, or remove it (None), if it is still at `old`."""
        assert self._remote is not None, "branches are for a repository elsewhere"
        return self._remote.propose(name, commit, old)

    def bring_back(self, commit: str) -> bool:
        """Make the branch anew where it is gone; False when somebody else did."""
        return self._remote.push(commit) if self._remote else self._moved(None, commit)

    def has(self, commit: str) -> bool:
        """Whether the commit is here."""
        return self.git.holds("cat-file", "-e", f"{commit}^{{commit}}")

    def commit_id(self, text: str) -> str | None:
        """Return the whole id of the commit with that id or unambiguous beginning of one."""
        try:
            return self.git.text(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{text}^{{commit}}"
            )
        except GitFailed:
            return None

    def contains(self, later: str, commit: str) -> bool:
        """Whether a commit is the later one or leads to it; False when one is not here."""
        return self.git.holds("merge-base", "--is-ancestor", commit, later)

    def paths(self, commit: str, roots: Iterable[str] = ROOTS) -> dict[str, str]:
        """Files below the folders, with their object ids."""
        listed = self.git("ls-tree", "-r", "-z", "--full-tree", commit, "--", *roots)
        found = {}
        for line in listed.decode("utf-8", "surrogateescape").split("\0"):
            about, _, path = line.partition("\t")
            if path and about.split()[1] == "blob":
                found[path] = about.split()[2]
        return found

    def changed(self, old: str, new: str, roots: Iterable[str] = ROOTS) -> set[str]:
        """Paths below the folders that differ between two commits."""
        listed = self.git(
            "diff-tree", "-r", "-z", "--no-renames", "--name-only", old, new, "--", *roots
        )
        return {path for path in listed.decode("utf-8", "surrogateescape").split("\0") if path}

    def read(self, commit: str, path: str) -> bytes | None:
        """A file's bytes at a commit, or None."""
        return self.read_many([f"{commit}:{path}"])[f"{commit}:{path}"]

    def read_many(self, names: Iterable[str]) -> dict[str, bytes | None]:
        """Blobs by their names (ids, or `commit:path`), None for what is not there."""
        return self.git.blobs(names)

    def read_paths(self, commit: str, paths: Iterable[str]) -> dict[str, bytes | None]:
        """Files' bytes at a commit by path; of many, Git finds the places in one go."""
        names = self._names(commit, paths)
        blobs = self.read_many({name for name in names.values() if name})
        return {path: blobs.get(name) if name else None for path, name in names.items()}

    def read_bounded(
        self, commit: str, paths: Iterable[str], most: int
    ) -> dict[str, bytes | TooLarge | None]:
        """Return files' bytes as read_paths does, without reading what is larger than `most`."""
        names = self._names(commit, paths)
        sizes = self.git.sizes({name for name in names.values() if name})
        blobs = self.git.blobs(
            name for name, size in sizes.items() if size is not None and size <= most
        )
        found: dict[str, bytes | TooLarge | None] = {}
        for path, name in names.items():
            large = (sizes.get(name) or 0) > most
            found[path] = TooLarge.INSTANCE if large else blobs.get(name)
        return found

    def _names(self, commit: str, paths: Iterable[str]) -> dict[str, str]:
        """Return for each path the name by which Git finds its content; empty where there is none.

        Of many paths, Git finds the places in one go.
        """
        wanted = sorted(paths)
        if len(wanted) < _MANY:
            return {path: f"{commit}:{path}" for path in wanted}
        there = self.paths(commit, sorted({path.split("/")[0] for path in wanted}))
        return {path: there.get(path, "") for path in wanted}

    def touches(self, old: str | None, new: str) -> dict[str, Touch]:
        """For each path below the sites' folders, the commit after `old` that last changed it."""
        span = f"{old}..{new}" if old else new
        log = self.git(
            "log", "-z", "-m", "--first-parent", "--no-renames", "--name-only", FORM, span,
            "--", *ROOTS,
        )  # fmt: skip
        return read_log(log)

    def versions(self, commit: str, path: str) -> Iterator[tuple[str, bytes]]:
        """A file's earlier contents, newest first, each with the commit that wrote it."""
        listed = self.git.text("log", "--first-parent", "--format=%H", commit, "--", path)
        for one in listed.splitlines():
            data = self.read(one, path)
            if data is not None:
                yield one, data

    def folder_at(self, commit: str, folder: str) -> dict[str, File]:
        """A folder's files at a commit; empty when it is not there."""
        return self.git.files(commit, folder) if self.has(commit) else {}

    def naming(self, commit: str, text: str) -> set[str]:
        """Deployment documents that hold a text."""
        try:
            found = self.git(
                "grep", "-l", "-z", "-F", "-e", text, commit, "--", "deployments"
            ).decode("utf-8", "surrogateescape")
        except GitFailed as error:
            if error.words:
                raise
            return set()  # grep says with its status alone that there is none
        return {name.partition(":")[2] for name in found.split("\0") if name}

    def commit_of_request(self, request: str, head: str, sites: Collection[str] = ()) -> str | None:
        """Return the commit that names a request and changes all of its sites, or None.

        Whoever pushes may name any request in a commit, but can change only their own sites.
        """
        named = self.git.text(
            "log", "--format=%H", "--fixed-strings",
            f"--grep={commits.REQUEST}: {request}", head,
        )  # fmt: skip
        for commit in named.splitlines():
            folders = {path.rpartition("/")[0] for path in self._changed_by(commit)}
            if all(f"deployments/{site}" in folders for site in sites):
                return commit
        return None

    def _changed_by(self, commit: str) -> set[str]:
        """Return the paths that a commit changes, compared with its first parent."""
        listed = self.git(
            "log", "-1", "-z", "-m", "--first-parent", "--no-renames", "--name-only", "--format=",
            commit,
        )  # fmt: skip
        return {path.strip() for path in listed.decode("utf-8", "replace").split("\0")}

    def tidy(self) -> None:
        """Pack what many small commits left behind, on one core: others publish meanwhile."""
        settings = ("gc.auto=2000", "gc.autoDetach=false", "pack.threads=1")
        given = [word for setting in settings for word in ("-c", setting)]
        self.git(*given, "gc", "--auto", "--quiet", seconds=_PACKING_SECONDS)

    def _moved(self, old: str | None, new: str) -> bool:
        return self.git.holds("update-ref", BRANCH, new, old or _NO_OBJECT)

    def _unlock(self) -> None:
        """Remove locks that a power cut left: Git itself holds one for some milliseconds."""
        for name in _LOCKS:
            lock = self.folder / name
            while lock.exists():
                with suppress(FileNotFoundError):
                    if time.time() - lock.stat().st_mtime > LOCK_SECONDS:
                        lock.unlink()
                        continue
                time.sleep(0.2)

    def _sweep(self) -> None:
        """Remove the references of commits that were being built when the process ended."""
        listed = self.git.text("for-each-ref", "--format=delete %(refname)", "refs/margrave")
        if listed:
            self.git("update-ref", "--stdin", stdin=f"{listed}\n".encode())
