"""A copy of a document under change, with a note for each change made and each one left."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from margrave.documents._walk import Path, part

if TYPE_CHECKING:
    from margrave.documents.generations._kinds import Kind


@dataclass(frozen=True, slots=True)
class Note:
    """One change: where the part stood, what is the case, what rc.3 wants, where it stands now."""

    path: Path
    message: str
    cure: str
    now: Path | None = None

    def __str__(self) -> str:
        return f"/{'/'.join(str(step) for step in self.path)}: {self.message} ({self.cure})"


class Draft:
    """The value as it becomes, and what was done to it."""

    def __init__(self, value: Any) -> None:
        self.value = copy.deepcopy(value)
        self.notes: list[Note] = []
        self.left: list[Note] = []

    def at(self, *path: str | int) -> Any:
        """The part as it now is, or None."""
        return part(self.value, path)

    def leave(self, path: Path, message: str, cure: str) -> None:
        """Tells a change that somebody has to decide."""
        self.left.append(Note(path, message, cure))

    def write(self, path: Path, new: Any, message: str, cure: str) -> None:
        """Another value at the same place."""
        self._parent(path)[path[-1]] = new
        self.notes.append(Note(path, message, cure, path))

    def remove(self, path: Path, message: str) -> None:
        """Without the part."""
        del self._parent(path)[path[-1]]
        self.notes.append(Note(path, message, "remove it"))

    def move(self, path: Path, now: Path, message: str, new: Any = None) -> None:
        """The part, or what it becomes, elsewhere; not done where something else is in the way."""
        target = self._made(now[:-1])
        if not isinstance(target, dict):
            return
        kept = self._parent(path).pop(path[-1])
        target[now[-1]] = kept if new is None else new
        place = "/" + "/".join(str(step) for step in now)
        cure = f"move it to {place}" if new is None else f"write it as {place}"
        self.notes.append(Note(path, message, cure, now))

    def drop_empty(self, path: Path) -> None:
        """Without a mapping from which all was moved; nobody misses it, so there is no note."""
        if self.at(*path) == {}:
            del self._parent(path)[path[-1]]

    def drop_head(self, kind: Kind, versions: str) -> None:
        """Without apiVersion and kind; a wrong kind stays, for it makes all the rest doubtful."""
        if "apiVersion" in self.value:
            self.remove(("apiVersion",), f"is gone since {versions}")
        self.drop_kind(kind, versions)

    def drop_kind(self, kind: Kind, versions: str) -> None:
        """Without kind, where it says what the document is."""
        if "kind" not in self.value:
            return
        if self.value["kind"] == kind:
            self.remove(("kind",), f"is gone since {versions}")
        else:
            found = str(self.value["kind"])[:40]
            message = f'"{found}" is not "{kind}", which the rest of the document is'
            self.leave(("kind",), message, f"remove kind, if this is {kind.with_article}")

    def origin(self, path: Path) -> Path:
        """Where a part that now stands at the path stood before."""
        for note in self.notes:
            if note.now is not None and path[: len(note.now)] == note.now:
                return note.path + path[len(note.now) :]
        return path

    def _made(self, path: Path) -> Any:
        """The mapping at the path, made where it is missing; something else where that stands."""
        target = self.value
        for step in path:
            if isinstance(target, dict):
                target = target.setdefault(step, {})
            else:
                target = part(target, (step,))
        return target

    def _parent(self, path: Path) -> Any:
        return part(self.value, path[:-1])
