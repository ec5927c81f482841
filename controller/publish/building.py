"""A commit built from changes alone: one stream to fast-import, however many files."""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from margrave.digest import File

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from controller.gate.git_command import GitCommand

NAME: Final = "Margrave"
ADDRESS: Final = "margrave@localhost"


@dataclass(frozen=True)
class Note:
    """What a commit says of itself."""

    title: str
    actor: str
    at: datetime
    body: str = ""
    trailers: Mapping[str, str] | None = None

    @property
    def text(self) -> str:
        """The whole message, trailers last."""
        trailers = "\n".join(
            f"{key}: {_line(value)}" for key, value in (self.trailers or {}).items() if value
        )
        return "\n\n".join(part for part in (_line(self.title), self.body, trailers) if part) + "\n"


def build(
    git: GitCommand,
    parent: str | None,
    changes: Mapping[str, File | None],
    note: Note,
    signing_key: Path | None = None,
) -> str:
    """The id of a commit on the parent with the changes."""
    with begun(git, parent, changes, note, signing_key) as finish:
        return finish()


@contextmanager
def begun(
    git: GitCommand,
    parent: str | None,
    changes: Mapping[str, File | None],
    note: Note,
    signing_key: Path | None = None,
) -> Iterator[Callable[[], str]]:
    """Git makes the commit while we do something else; calling what is given waits for its id."""
    # The reference is gone again at the stream's end: no further call takes it away, for each one
    # between fetch and push gives somebody else the time to be quicker.
    reference = f"refs/margrave/build-{uuid.uuid4().hex}"
    told = [*stream(reference, parent, changes, note), *_end(reference)]
    with git.begin("fast-import", "--quiet", "--done", stdin=told) as running:

        def finish() -> str:
            made = running.finish().decode().strip()
            return _signed(git, made, parent, note, signing_key) if signing_key else made

        yield finish


def stream(
    reference: str, parent: str | None, changes: Mapping[str, File | None], note: Note
) -> list[bytes]:
    """What fast-import is fed with for a commit."""
    lines = [
        f"commit {reference}\nmark :1\n".encode(),
        f"author {_person(note.actor)} {_time(note.at)}\n".encode(),
        f"committer {NAME} <{ADDRESS}> {_time(note.at)}\n".encode(),
        _data(note.text.encode()),
    ]
    if parent is not None:
        lines.append(f"from {parent}\n".encode())
    for path, file in sorted(changes.items()):
        if file is None:
            lines.append(f"D {path}\n".encode())
        else:
            mode = "100755" if file.executable else "100644"
            lines += [f"M {mode} inline {_quoted(path)}\n".encode(), _data(file.data)]
    return lines


def _end(reference: str) -> list[bytes]:
    """Tell the commit, and forget the reference."""
    return [f"\nget-mark :1\nreset {reference}\nfrom {'0' * 40}\n\ndone\n".encode()]


def _signed(git: GitCommand, made: str, parent: str | None, note: Note, key: Path) -> str:
    """The same commit, with an SSH signature."""
    options = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={key}")
    parents = ("-p", parent) if parent else ()
    people = {
        "GIT_AUTHOR_NAME": _plain(note.actor),
        "GIT_AUTHOR_EMAIL": ADDRESS,
        "GIT_AUTHOR_DATE": _time(note.at),
        "GIT_COMMITTER_NAME": NAME,
        "GIT_COMMITTER_EMAIL": ADDRESS,
        "GIT_COMMITTER_DATE": _time(note.at),
    }
    signed = git(
        *options,
        "commit-tree",
        "-S",
        f"{made}^{{tree}}",
        *parents,
        stdin=note.text.encode(),
        extra=people,
    )
    return signed.decode().strip()


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _time(at: datetime) -> str:
    return f"{int(at.timestamp())} +0000"


def _person(actor: str) -> str:
    return f"{_plain(actor)} <{ADDRESS}>"


def _plain(name: str) -> str:
    """A name as Git's own syntax can hold it."""
    return "".join(one for one in name if one.isprintable() and one not in "<>") or NAME


def _line(text: str) -> str:
    return " ".join(text.split())


def _quoted(path: str) -> str:
    """A path as fast-import takes it, whatever characters the package's author chose."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
