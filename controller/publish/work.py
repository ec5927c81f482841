"""One request as changes of files: documents, the components that they name, and the message."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from controller.gate import checking
from controller.publish.building import Note
from controller.publish.changes import Change
from controller.store.words import Action
from margrave import yaml_text
from margrave.digest import File
from margrave.documents.deployment import render
from margrave.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from controller.publish.materials import Materials
    from controller.publish.repository import Repository

_MOST_SITES: Final = 5  # in a title; the files tell the rest


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
        for source in sorted(after):
            self._bring(source, change)
        for source in sorted(before - after):
            self._drop(source, set(paths))
        return self.files

    def note(self, at: datetime) -> Note:
        """The commit's message."""
        trailers = {
            "Margrave-Request": self.request["id"],
            "Margrave-Actor": self.request["actor"],
            "Margrave-App": ", ".join(sorted(self.apps)),
            "Margrave-Revision": ", ".join(sorted(self.revisions)),
        }
        given = {key: value for key, value in trailers.items() if value}
        return Note(self._title(), self.request["actor"], at, self.request["reason"] or "", given)

    def _documents(self, paths: Iterable[str]) -> dict[str, bytes | None]:
        if self.head is None:
            return dict.fromkeys(paths)
        found = self.repository.read_many(f"{self.head}:{path}" for path in paths)
        return {path: found.get(f"{self.head}:{path}") for path in paths}

    def _document(self, path: str, deployment: str, data: bytes | None, change: Change) -> None:
        raw = None
        if data is not None:
            raw = self._known(path, data, needed=change.kind != Action.DELETE)
        new = change.applied(deployment, raw, self.materials)
        if new is None:
            if data is not None:
                self.files[path] = None
            return
        rendered = render(new)
        document = checking.deployment_at(path, rendered)
        self.apps.add(document.application_id)
        self.revisions.add(document.revision)
        self.version = document.version
        if data is not None and new == raw:
            self.documents[path] = data  # a person's own way of writing stays
            return
        self.documents[path] = rendered
        self.files[path] = File(rendered)

    def _known(self, path: str, data: bytes, *, needed: bool) -> Mapping[str, Any] | None:
        """A document as it stands; one that cannot be read can still be deleted."""
        try:
            document = checking.deployment_at(path, data)
        except DocumentError:
            if needed:
                raise
            return None
        if not needed:  # of what is deleted only the last revision can be told
            self.apps.add(document.application_id)
            self.revisions.add(document.revision)
        value: Mapping[str, Any] = yaml_text.parse(data, path).value
        return value

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
