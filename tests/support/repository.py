"""A deployments repository in a folder, written as the controller writes it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from margrave import digest, folder
from margrave.documents.deployment import render

APPS = Path(__file__).resolve().parents[2] / "examples/apps/storefront"
ASK = '["CMD", "/bin/health"]'
ASK_PATIENTLY = '["CMD-SHELL", "until /bin/health; do sleep 0.1; done"]'
STOREFRONT = "3f0c8f7e-5d0e-4c7a-9b1e-2f7f2a1c9d10"
COMPOSE = "services:\n  web:\n    image: registry.margrave.lab:5000/web@sha256:{:064d}\n"


def storefront_component(tree: Path, version: str, every: str = "") -> str:
    """Put the storefront of the examples into a work tree as a component; its name.

    `every` is how often its health is asked where many nodes share one machine: each look is a
    process or two, and with one a second they would be all that the machine does. The look itself
    then waits for health, so that the first one is enough.
    """
    content = APPS / version / "compose"
    text = (content / "compose.yaml").read_text()
    if every:
        text = text.replace("interval: 1s", f"interval: {every}").replace(ASK, ASK_PATIENTLY)
    files = folder.read(content) | {"compose.yaml": digest.File(text.encode())}
    name = digest.of_files(files).removeprefix("sha256:")
    shutil.copytree(content, tree / "components" / name, dirs_exist_ok=True)
    (tree / "components" / name / "compose.yaml").write_text(text)
    return name


class Repository:
    """A bare repository, and a work tree to push into it from."""

    def __init__(self, base: Path) -> None:
        self.bare = base / "deployments.git"
        self.tree = base / "tree"
        self._git("init", "-q", "--bare", "-b", "main", str(self.bare), cwd=base)
        self._git("clone", "-q", str(self.bare), str(self.tree), cwd=base)
        for key, value in (("user.name", "Op"), ("user.email", "op@example.org")):
            self._git("config", key, value)
        self._git("checkout", "-q", "-b", "main")

    def write(self, path: str, text: str) -> None:
        """Put a file into the work tree."""
        (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
        (self.tree / path).write_text(text)

    def remove(self, path: str) -> None:
        """Take a file away."""
        (self.tree / path).unlink()

    def commit(self, *options: str, message: str = "change") -> str:
        """Commit everything; the commit."""
        self._git("add", "-A")
        self._git("commit", "-q", "--allow-empty", "-m", message, *options)
        return self._git("rev-parse", "HEAD")

    def push(self, *options: str) -> str:
        """Commit and push; the commit."""
        commit = self.commit()
        self.send(*options)
        return commit

    def send(self, *options: str) -> None:
        """Push what is committed."""
        self._git("push", "-q", *options, "origin", "HEAD")

    def branch(self, name: str) -> None:
        """Go on beside main."""
        self._git("checkout", "-q", "-b", name)

    def merge(self, name: str) -> None:
        """Go on in main with what was done beside it, as a forge does, and push."""
        self._git("checkout", "-q", "main")
        self._git("merge", "-q", "--no-ff", "-m", f"Merge {name}", name)
        self.send()

    def head(self) -> str:
        """The newest commit of the work tree."""
        return self._git("rev-parse", "HEAD")

    def rewrite(self) -> str:
        """Push another history over the one that is there."""
        self._git("commit", "-q", "--amend", "--allow-empty", "-m", "another history")
        self._git("push", "-q", "--force", "origin", "main")
        return self._git("rev-parse", "HEAD")

    def component(self, number: int) -> str:
        """A component's folder; its name."""
        text = COMPOSE.format(number)
        name = digest.of_files({"compose.yaml": digest.File(text.encode())})[7:]
        self.write(f"components/{name}/compose.yaml", text)
        assert digest.of_files(folder.read(self.tree / "components" / name))[7:] == name
        return name

    def deploy(
        self,
        version: str,
        *,
        site: str = "harbor",
        number: int = 0,
        greeting: str = "hello",
        name: str = "storefront",
        identifier: str = STOREFRONT,
        component: str | None = None,
        timeout: str = "0m15s",
        **extensions: object,
    ) -> None:
        """Write a document and its component: the one that is there, or a made up one."""
        source = component or self.component(number)
        wanted = {
            "name": "storefront",
            "properties": {
                "repository": "oci://registry.margrave.lab:5000/apps/storefront",
                "revision": version,
                "timeout": timeout,
            },
            "x-margrave-extensions": {"source": f"components/{source}"},
        }
        document = {
            "id": identifier,
            "metadata": {"name": name, "namespace": "default", "deviceId": f"{site}/*"},
            "spec": {
                "applicationId": "storefront",
                "deploymentProfile": {"type": "compose", "components": [wanted]},
                "parameters": {
                    "greeting": {
                        "value": f"{greeting} {version}",
                        "targets": [{"pointer": "GREETING", "components": ["storefront"]}],
                    }
                },
                "x-margrave-extensions": {"version": version, **extensions},
            },
        }
        self.write(f"deployments/{site}/{identifier}.yaml", render(document).decode())

    def _git(self, *words: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *words], cwd=cwd or self.tree, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"git {' '.join(words)}: {done.stderr}"
        return done.stdout.strip()
