"""Git as a program: arguments as a list, bytes in and out, none of the machine's own settings."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, Final, Self

from margrave import git_words
from margrave.digest import File
from margrave.errors import MargraveError, Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

BRANCH: Final = "refs/heads/main"
SECONDS: Final = 120
EXECUTABLE: Final = "100755"
FILES: Final = ("100644", EXECUTABLE)  # modes of what is no link and no submodule
_BLOB: Final = re.compile(rb"blob [0-9]+")
# The system's words for a full disk or quota, and those of fast-import.
_FULL: Final = (os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT), "Out of diskspace")
# Configuration by environment stands above every file, and no argument list shows it.
_FIXED: Final = {
    "safe.directory": "*",  # the folder is the controller's, whoever owns what is mounted there
    "core.quotePath": "false",
    "core.fsync": "committed,reference",  # what the database calls published survives a power cut
    "gc.auto": "0",  # a receive must not start a collection while others read
    "protocol.ext.allow": "never",
}


class GitFailed(MargraveError):
    """Git ended with an error; `words` is what it said."""

    def __init__(self, command: str, words: str) -> None:
        self.words = words
        super().__init__(f"git {command}: {git_words.reason(words)}")


class NoSpace(GitFailed, Unreachable):
    """The disk is full: what was asked for can be asked for again when there is room."""

    def __init__(self, command: str, words: str) -> None:
        super().__init__(command, words)
        self.message, self.cure = f"git {command}: the disk is full", "make room and try again"


class Running:
    """A Git that works while we do something else; it is ended when it is left before its end."""

    def __init__(self, verb: str, process: subprocess.Popen[bytes]) -> None:
        self._verb = verb
        self._process = process

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)  # what speaks for it to others, too
            self._process.communicate()

    def finish(self, seconds: float = SECONDS) -> bytes:
        """Wait for its output, or GitFailed."""
        try:
            output, said = self._process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise GitFailed(self._verb, f"no answer within {seconds:.0f} s") from error
        if self._process.returncode != 0:
            words = said.decode("utf-8", "replace")
            kind = NoSpace if any(full in words for full in _FULL) else GitFailed
            raise kind(self._verb, words)
        return output


class GitCommand:
    """Runs Git in one repository."""

    def __init__(self, folder: Path, more: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self._environment = environment(more or {})

    def __call__(
        self,
        *arguments: str,
        stdin: bytes = b"",
        extra: Mapping[str, str] | None = None,
        seconds: float = SECONDS,
    ) -> bytes:
        """Git's output, or GitFailed."""
        with self.begin(*arguments, stdin=[stdin], extra=extra) as running:
            return running.finish(seconds)

    def begin(
        self,
        *arguments: str,
        stdin: Iterable[bytes] = (),
        extra: Mapping[str, str] | None = None,
    ) -> Running:
        """The same, without waiting for its end; what says much is waited for at once."""
        with _in_memory(stdin) as given:
            process = subprocess.Popen(
                ["git", f"--git-dir={self.folder}", *arguments],
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**self._environment, **(extra or {})},
                process_group=0,
            )
        return Running(_verb(arguments), process)

    def text(self, *arguments: str) -> str:
        """Git's output as text without the final newline."""
        return self(*arguments).decode("utf-8", "replace").rstrip("\n")

    def blobs(
        self, names: Iterable[str], extra: Mapping[str, str] | None = None
    ) -> dict[str, bytes | None]:
        """Many blobs at once by their names (ids, or `commit:path`), None for what is not there."""
        wanted = [name for name in names if "\n" not in name]
        if not wanted:
            return {}
        asked = "".join(f"{name}\n" for name in wanted).encode("utf-8", "surrogateescape")
        output = self("cat-file", "--batch", "--buffer", stdin=asked, extra=extra)
        return dict(zip(wanted, _blobs(output), strict=True))

    def sizes(
        self, names: Iterable[str], extra: Mapping[str, str] | None = None
    ) -> dict[str, int | None]:
        """Return how large blobs are, by their names; None for what is not there or no blob."""
        wanted = [name for name in names if "\n" not in name]
        if not wanted:
            return {}
        asked = "".join(f"{name}\n" for name in wanted).encode("utf-8", "surrogateescape")
        form = "--batch-check=%(objecttype) %(objectsize)"
        lines = self("cat-file", form, stdin=asked, extra=extra).split(b"\n")[:-1]
        found = [int(line[5:]) if _BLOB.fullmatch(line) else None for line in lines]
        return dict(zip(wanted, found, strict=True))

    def files(
        self, commit: str, folder: str, extra: Mapping[str, str] | None = None
    ) -> dict[str, File]:
        """A folder's files at a commit by their path in it, links left out; empty without one."""
        listed = self("ls-tree", "-r", "-z", "--full-tree", commit, "--", folder, extra=extra)
        lines = [line.partition("\t") for line in texts(listed)]
        entries = {path: about.split() for about, _, path in lines}
        files = {path: one for path, one in entries.items() if one[0] in FILES}
        blobs = self.blobs({one[2] for one in files.values()}, extra)
        return {
            path.removeprefix(f"{folder}/"): File(blobs[one[2]] or b"", one[0] == EXECUTABLE)
            for path, one in files.items()
        }

    def folder_size(self, commit: str, folder: str, extra: Mapping[str, str] | None = None) -> int:
        """Return how many bytes the files in a folder have at a commit."""
        listed = self("ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--", folder, extra=extra)
        sizes = (line.partition("\t")[0].split()[3] for line in texts(listed))
        return sum(int(size) for size in sizes if size != "-")  # a submodule has none

    def holds(self, *arguments: str) -> bool:
        """Whether Git says yes (status 0)."""
        try:
            self(*arguments)
        except NoSpace:
            raise
        except GitFailed:
            return False
        return True


def texts(listed: bytes) -> list[str]:
    """What Git lists with -z."""
    return [one for one in listed.decode("utf-8", "surrogateescape").split("\0") if one]


def _in_memory(parts: Iterable[bytes]) -> BinaryIO:
    """A file that is on no disk: Git reads it as it likes, and nobody has to feed a pipe."""
    file = os.fdopen(os.memfd_create("git-stdin"), "w+b")
    file.writelines(parts)
    file.seek(0)
    return file


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """A small environment for Git: the path, our settings, and nobody else's configuration."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "HOME") if name in os.environ}
    settings = {**_FIXED, **more}
    numbered = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        numbered[f"GIT_CONFIG_KEY_{number}"] = key
        numbered[f"GIT_CONFIG_VALUE_{number}"] = value
    return {
        **kept,
        **numbered,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "https:http:ssh:file",
        "LC_ALL": "C",
    }


def _blobs(output: bytes) -> Iterator[bytes | None]:
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        header = output[position:end].split(b" ")
        position = end + 1
        if header[-1] == b"missing":
            yield None
            continue
        size = int(header[-1])
        yield output[position : position + size]
        position += size + 1


def _verb(arguments: Sequence[str]) -> str:
    return next((one for one in arguments if not one.startswith("-") and "=" not in one), "")
