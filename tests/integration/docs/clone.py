"""A person's clone of the deployments repository that the controller serves."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

from margrave import yaml_text

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.docs.reader import Reader


class Clone:
    """A clone, and how its owner edits documents and pushes them."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.folder: Path = reader.folder / "deployments"
        host = reader.url.removeprefix("http://")
        self._git("clone", "--quiet", f"http://admin:{reader.token}@{host}/git/deployments.git",
                  str(self.folder), cwd=reader.folder)  # fmt: skip
        self._git("config", "user.name", "ann")
        self._git("config", "user.email", "ann@example.com")

    def write(self, name: str, text: str) -> None:
        """Write a text of a page into a file of the clone."""
        self._reader.write(self.folder / name, text)

    def extend_deployment(self, name: str, text: str) -> None:
        """Merge a text of a page into the document of a deployment."""
        self.pull()
        self._reader.executed.add(text)
        for path in sorted((self.folder / "deployments").rglob("*.yaml")):
            document = yaml_text.parse(path.read_bytes()).value
            if document["metadata"]["name"] == name:
                _merge(document, yaml_text.parse(self._reader.replaced(text).encode()).value)
                path.write_text(yaml_text.dump(document))
                return
        raise AssertionError(f"no document of {name}")

    def pull(self) -> None:
        """Rebase onto the commits that others have pushed."""
        self._git("pull", "--quiet", "--rebase")

    def push(self, message: str) -> None:
        """Commit everything, rebase it onto newer commits of others, and push it."""
        self._git("add", "--all")
        self._git("commit", "--quiet", "-m", message)
        self.pull()
        self._git("push", "--quiet")

    def refused_push(self, message: str) -> str:
        """Return what a push prints that has to be refused; forget the commit."""
        self._git("add", "--all")
        self._git("commit", "--quiet", "-m", message)
        words = ["git", "push"]
        done = subprocess.run(
            words, cwd=self.folder, capture_output=True, text=True, check=False, timeout=60
        )
        self._git("reset", "--quiet", "--hard", "@{upstream}")
        assert done.returncode != 0, done.stderr
        return done.stderr

    def head(self) -> str:
        """Return the newest commit of main at the controller."""
        return self._git("ls-remote", "origin", "refs/heads/main").split()[0]

    def log(self) -> str:
        """Return the messages of all commits at the controller."""
        self._git("fetch", "--quiet")
        return self._git("log", "--format=%B", "@{upstream}")

    def is_applied(self) -> bool:
        """Return whether the site's runner has applied the newest commit."""
        with self._reader.api() as api:
            site: dict[str, Any] = api.get("/sites/harbor").json()
        return bool(site["applied_commit"] == self.head())

    def _git(self, *words: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=cwd or self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, f"git {words[0]}: {done.stderr}"
        return done.stdout


def _merge(old: dict[str, Any], new: dict[str, Any]) -> None:
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(key), dict):
            _merge(old[key], value)
        else:
            old[key] = value
