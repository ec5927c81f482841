"""A registry that asks for a password: Debian's, over the images of a lab's own registry."""

from __future__ import annotations

import secrets
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

import bcrypt

from lab import Lab
from lab.layout import Layout
from tests.support.shop import Shop
from tests.support.waiting import eventually

USER = "puller"
PASSWORD = "open-" + secrets.token_hex(8)

CONFIG = """
version: 0.1
log: {{level: error, accesslog: {{disabled: true}}}}
storage:
  filesystem: {{rootdirectory: {images}}}
  maintenance: {{readonly: {{enabled: true}}}}
http: {{addr: "{address}"}}
auth: {{htpasswd: {{realm: lab, path: {users}}}}}
"""


@dataclass
class PrivateRegistry:
    """One, on the lab's bridge."""

    lab: Lab
    folder: Path
    process: subprocess.Popen[bytes] | None = None
    address: str = ""

    def start(self) -> None:
        """Serve; returns when it listens."""
        with socket.socket() as probe:
            probe.bind((self.lab.gateway, 0))
            self.address = f"{self.lab.gateway}:{probe.getsockname()[1]}"
        users, config = self.folder / "users", self.folder / "registry.yml"
        hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4, prefix=b"2a")).decode()
        users.write_text(f"{USER}:{hashed}\n")
        images = Layout(self.lab.name).registry
        config.write_text(CONFIG.format(images=images, address=self.address, users=users))
        self.process = subprocess.Popen(["docker-registry", "serve", str(config)])
        eventually(self._answers, 30, "the registry with a password to answer")

    def _answers(self) -> bool:
        host, _, port = self.address.partition(":")
        with socket.socket() as probe:
            return probe.connect_ex((host, int(port))) == 0

    def open_to(self, shop: Shop) -> str:
        """Let a node's engine speak plain HTTP to it; the name that images then have."""
        if shop.engine == "docker":
            shop.ssh(f"python3 -c '{TRUSTED}' add {self.address} && systemctl reload docker")
            return self.address
        where = f'[[registry]]\\nlocation = \\"{self.address}\\"\\ninsecure = true\\n'
        shop.ssh(f'printf "{where}" > {SETTINGS} && {READ_AGAIN}')
        return self.address

    def stop(self, shop: Shop) -> None:
        """End it, and take what the node was told back."""
        if shop.engine == "docker":
            shop.ssh(f"python3 -c '{TRUSTED}' drop {self.address} && systemctl reload docker")
        else:
            shop.ssh(f"rm -f {SETTINGS}; {READ_AGAIN}")
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=20)


# Docker has one file for all of its settings.
TRUSTED = """
import json, sys
path, (word, address) = "/etc/docker/daemon.json", sys.argv[1:]
settings = json.load(open(path))
known = [one for one in settings.get("insecure-registries", []) if one != address]
settings["insecure-registries"] = known + [address] * (word == "add")
json.dump(settings, open(path, "w"))
"""
# Podman's API runs as long as somebody listens to its events, as the beacon does. After SIGHUP
# podman 5.4 loses the path of its volumes, so it is started anew.
READ_AGAIN = "systemctl try-restart podman.service 2>/dev/null || true"
SETTINGS = "/etc/containers/registries.conf.d/private.conf"
