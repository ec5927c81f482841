"""Somebody at a shell in a checkout: an inventory, a deployments repository, ansible-playbook."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from margrave import digest, folder
from margrave.documents.deployment import render
from tests.support.shop import clean

if TYPE_CHECKING:
    from lab import Lab

ROOT = Path(__file__).resolve().parents[2]
APPS = ROOT / "examples/apps/storefront"
NODES = ("harbor-1", "harbor-2")
RECAP = re.compile(r"^(\S+) +: ok=\d+ +changed=(\d+) +unreachable=\d+ +failed=(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Played:
    """What a command said."""

    code: int
    out: str
    recap: dict[str, tuple[int, int]] = field(default_factory=dict)  # host: changed, failed

    @property
    def changed(self) -> dict[str, int]:
        """How many tasks changed something, by node."""
        return {name: one[0] for name, one in self.recap.items() if name != "localhost"}

    @property
    def words(self) -> str:
        """The output without its line breaks."""
        return " ".join(self.out.split())


class Hand:
    """Calls the playbooks as the documentation does: nothing but ansible.cfg and variables."""

    def __init__(self, lab: Lab, base: Path) -> None:
        self.lab = lab
        self.base = base
        self.inventory = base / "inventory.yml"
        self.inventory.write_text(json.dumps({"all": self._nodes()}))

    def _nodes(self) -> dict[str, Any]:
        hosts = {name: {"ansible_host": self.lab.node(name).address} for name in NODES}
        return {"vars": self.login, "children": {"harbor": {"hosts": hosts}}}

    @property
    def login(self) -> dict[str, str]:
        """How the nodes let this machine in."""
        return {
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(self.lab.key),
            "ansible_ssh_common_args": f"-o UserKnownHostsFile={self.lab.known_hosts}",
        }

    def run(self, *words: str, **environment: str) -> Played:
        """A command in the checkout."""
        done = subprocess.run(
            words,
            cwd=ROOT,
            env={
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "HOME": str(self.base),
                "LC_ALL": "C.UTF-8",
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,  # a busy machine is slow, and no hang is looked for here
        )
        found = RECAP.findall(done.stdout)
        recap = {name: (int(changed), int(failed)) for name, changed, failed in found}
        return Played(done.returncode, done.stdout, recap)

    def play(
        self, name: str, *options: str, environment: dict[str, str] | None = None, **variables: Any
    ) -> Played:
        """A playbook on the site."""
        asked = json.dumps({"target": "harbor", **variables})
        words = ("-i", str(self.inventory), f"playbooks/{name}.yml", "-e", asked, *options)
        return self.run("ansible-playbook", *words, **(environment or {}))

    def document(
        self, deployment: str, version: str, greeting: str, timeout: str = "0m15s"
    ) -> Path:
        """A deployment document in a clone of the deployments repository."""
        content = APPS / version / "compose"
        name = digest.of_files(folder.read(content)).removeprefix("sha256:")
        shutil.copytree(content, self.base / "components" / name, dirs_exist_ok=True)
        target = {"pointer": "GREETING", "components": ["storefront"]}
        component = {
            "name": "storefront",
            "properties": {
                "repository": "oci://registry.margrave.lab:5000/apps/storefront",
                "revision": version,
                "timeout": timeout,
            },
            "x-margrave-extensions": {"source": f"components/{name}"},
        }
        document = {
            "id": deployment,
            "metadata": {"name": "shop", "namespace": "default", "deviceId": "harbor/*"},
            "spec": {
                "applicationId": "storefront",
                "deploymentProfile": {"type": "compose", "components": [component]},
                "parameters": {"greeting": {"value": greeting, "targets": [target]}},
                "x-margrave-extensions": {"version": version},
            },
        }
        path = self.base / "deployments/harbor" / f"{deployment}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(render(document))
        return path

    def clean(self) -> None:
        """Leave the nodes as they were."""
        for name in NODES:
            clean(self.lab, name)
