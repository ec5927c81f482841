"""One command on a node over SSH, beside Ansible and over the connection that it keeps open."""

from __future__ import annotations

import hashlib
import shlex
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from runner.execute.folders import Folders
from runner.ports import Target

SSH: Final = "ssh"


class Direct:
    """Runs short commands as root; nothing comes back from a node that does not answer in time."""

    def __init__(
        self,
        folders: Folders,
        environment: Mapping[str, str],
        proxy: Callable[[Target, Path | None], str],
    ) -> None:
        self._folders = folders
        self._proxy = proxy
        self._arguments = shlex.split(environment["ANSIBLE_SSH_ARGS"])
        # No variable of the runner's own; ssh needs none but where to look for itself.
        self._environment = {name: environment[name] for name in ("PATH", "HOME", "LC_ALL")}

    def begin(self, node: Target, script: str) -> subprocess.Popen[bytes]:
        """The command at work; its output is for `output`."""
        return subprocess.Popen(
            self.command(node, script),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self._environment,
            start_new_session=True,
        )

    def command(self, node: Target, script: str) -> list[str]:
        """The words of the command: options as for every run, the same master connection."""
        root = "sh -c" if node.user == "root" else "sudo -n sh -c"
        return [*self.options(node), f"{root} {shlex.quote(script)}"]

    def options(self, node: Target, *, apart: bool = False, mark: Path | None = None) -> list[str]:
        """ssh with everything but what to do there; a jump host that lets it in makes the mark."""
        proxy = self._proxy(node, mark)
        way = ["-o", f"ProxyCommand={proxy}"] if proxy else []
        path = self.master(node, apart=apart)
        return [
            SSH, *self._arguments, "-o", f"ControlPath={path}", "-o", "BatchMode=yes", *way,
            "-i", node.key, "-p", str(node.port), "-l", node.user, "--", node.address,
        ]  # fmt: skip

    def master(self, node: Target, *, apart: bool = False) -> Path:
        """The socket of the connection that is shared, or of the one apart from it."""
        text = f"{node.address}-{node.port}-{node.user}{'-apart' if apart else ''}"
        name = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:10]
        return self._folders.control / name


def output(process: subprocess.Popen[bytes], seconds: float) -> bytes:
    """What it said; empty when it failed or took longer, and then it is ended."""
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return b""
    return said if process.returncode == 0 else b""
