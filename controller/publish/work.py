"""One request as changes of files: documents, the components that they name, and the message."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from controller.gate import checking
from controller.gate.moulds import ID, PATH, SITE, Known, cast, mould_of
from controller.publish.building import Note
from controller.publish.changes import Change
from controller.store.words import Action
from margrave import commits
from margrave.digest import File
from margrave.documents.deployment import render
from margrave.errors import DocumentError, MargraveError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping
    from datetime import datetime

    from controller.publish.materials import Materials
    from controller.publish.repository import Repository
    from margrave.documents.deployment import Deployment

_MOST_SITES: Final = 5  # in a title; the files tell the rest


@dataclass(frozen=True, slots=True)
class Made:
    """What becomes of a document: its text, None when it goes, and what the message says of it."""

    text: bytes | None
    apps: frozenset[str] = frozenset()
    revisions: frozenset[str] = frozenset()
    version: str | None = None
    same: bool = False  # the change changes nothing of it


@dataclass
class Work:
    """What a commit for a request on top of `head` changes."""

    repository: Repository
    head: str | None
    request: Mapping[str, Any]
    materials: Materials
    files: dict[str, File | None] = field(default_factory=dict)
    documents: dict[str, bytes] = field(default_factory=dict)  # ours, as they will stand
    revisions: set[str] = field(default_factory=set)
    apps: set[str] = field(default_factory=set)
    version: str | None = None
    _known: Known[Made] = field(default_factory=Known)

    def prepare(self) -> dict[str, File | None]:
        """All files to write or (None) to remove."""
        change = Change(**self.request["change"])
        paths = {
            f"deployments/{one['site']}/{one['id']}.yaml": one["id"]
            for one in self.request["deployments"]
        }
        old = self._documents(paths)
        for path, deployment in paths.items():
            self._document(path, deployment, old[path], change)
        before = _sources(old.values())
        after = _sources(self.documents.values())
        for source in sorted(after - before):  # what a document named already is there
            self._bring(source, change)
        for source in sorted(before - after):
            self._drop(source, set(paths))
        return self.files

    def note(self, at: datetime) -> Note:
        """The commit's message."""
        trailers = {
            commits.REQUEST: self.request["id"],
            commits.ACTOR: self.request["actor"],
            commits.APP: ", ".join(sorted(self.apps)),
            commits.REVISION: ", ".join(sorted(self.revisions)),
            commits.TRACE: self.request["trace"] or "",
        }
        reason = self.request["reason"] or ""
        return Note(self._title(), self.request["actor"], at, reason, trailers)

    def _documents(self, paths: Iterable[str]) -> dict[str, bytes | None]:
        if self.head is None:
            return dict.fromkeys(paths)
        return self.repository.read_paths(self.head, paths)

    def _document(self, path: str, deployment: str, data: bytes | None, change: Change) -> None:
        change.check(path, data)
        made = self._like_others(path, deployment, data, change)
        if made is None:
            made = self._made(path, deployment, data, change)
        self.apps |= made.apps
        self.revisions |= made.revisions
        self.version = made.version or self.version
        if made.text is None:
            if data is not None:
                self.files[path] = None
        elif made.same and data is not None:
            self.documents[path] = data  # a person's own way of writing stays
        else:
            self.documents[path] = made.text
            self.files[path] = File(made.text)

    def _like_others(
        self, path: str, deployment: str, data: bytes | None, change: Change
    ) -> Made | None:
        """What becomes of the document by what became of one like it; None when that says nothing.

        Rollbacks bring each document its own content; what fails is told of the document itself.
        """
        mould = mould_of(path, data) if data is not None else None
        if change.kind == Action.ROLLBACK or (data is not None and mould is None):
            return None
        key: Hashable = mould
        alike = change
        if change.kind == Action.CREATE and data is None:
            target = dict(change.targets[deployment])
            node = target["device_id"].partition("/")[2]
            target |= {"id": ID, "device_id": f"{SITE}/{node}"}
            key = repr(sorted(target.items()))
            alike = replace(change, targets={ID: target})
        try:
            made = self._known.get(key, lambda: self._made(PATH, ID, mould, alike))
        except MargraveError:
            return None
        return made if made.text is None else replace(made, text=cast(made.text, path))

    def _made(self, path: str, deployment: str, data: bytes | None, change: Change) -> Made:
        """What becomes of one document, read and written anew."""
        raw, before = None, None
        if data is not None:
            raw, before = self._read(path, data, needed=change.kind != Action.DELETE)
        new = change.applied(deployment, raw, self.materials)
        if new is None:  # of what is deleted only the last revision can be told
            told = frozenset({before.application_id}) if before else frozenset()
            revisions = frozenset({before.revision}) if before else frozenset()
            return Made(None, told, revisions)
        rendered = render(new)
        document = checking.deployment_at(path, rendered)
        return Made(
            rendered,
            frozenset({document.application_id}),
            frozenset({document.revision}),
            document.version,
            same=data is not None and new == raw,
        )

    def _read(
        self, path: str, data: bytes, *, needed: bool
    ) -> tuple[Mapping[str, Any] | None, Deployment | None]:
        """A document as it stands; one that cannot be read can still be deleted."""
        try:
            document = checking.deployment_at(path, data)
        except DocumentError:
            if needed:
                raise
            return None, None
        return document.raw, document

    def _bring(self, source: str, change: Change) -> None:
        """A component's files, unless they are there already."""
        if self.head is not None and self.repository.paths(self.head, [source]):
            return
        files = self.materials.contents.get(source) or self._from_history(source, change)
        for name, file in files.items():
            self.files[f"{source}/{name}"] = file

    def _from_history(self, source: str, change: Change) -> dict[str, File]:
        for content in change.contents.values():
            commit = content.get("commit")
            files = self.repository.folder_at(commit, source) if commit else {}
            if files:
                return files
        return {}

    def _drop(self, source: str, ours: set[str]) -> None:
        """Remove a component that no document names any more."""
        if self.head is None:
            return
        others = self.repository.naming(self.head, source) - ours
        if not others and self.repository.paths(self.head, [source]):
            self.files[source] = None

    def _title(self) -> str:
        sites = sorted({one["site"] for one in self.request["deployments"]})
        shown = ", ".join(sites[:_MOST_SITES])
        if len(sites) > _MOST_SITES:
            shown += f" and {len(sites) - _MOST_SITES} more"
        what = ", ".join(sorted(self.apps)) or "deployments"
        version = f" {self.version}" if self.version else ""
        return {
            Action.CREATE: f"Install {what}{version} at {shown}",
            Action.UPDATE: f"Update {what} to{version or ' new parameters'} at {shown}",
            Action.ROLLBACK: f"Roll {what} back to{version or ' older content'} at {shown}",
            Action.DELETE: f"Delete {what} from {shown}",
        }[Action(self.request["action"])]


def _sources(documents: Iterable[bytes | None]) -> set[str]:
    return {found.decode() for data in documents if data for found in checking.SOURCE.findall(data)}
