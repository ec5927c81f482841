"""How Git reaches the remote: credentials and transports, through the environment alone.

Nothing of it stands on a command line or in the clone's own configuration, where a process list
or a backup would show it.
"""

from __future__ import annotations

import base64
import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from margrave.secret import Secret


@dataclass(frozen=True)
class Access:
    """Where the deployments repository is, and what opens it."""

    remote: str
    branch: str = "main"
    username: str = ""
    password: Secret = field(default_factory=lambda: Secret(""))
    ssh_key: str = ""
    known_hosts: str = ""
    ca_file: str = ""
    cert: str = ""
    key: str = ""
    current_password: Callable[[], Secret | None] = lambda: None  # as the configuration has it now

    @property
    def is_controller(self) -> bool:
        """Whether the remote is the repository that a controller serves."""
        return self.remote.startswith(("http://", "https://")) and self.remote.endswith(
            "/git/deployments.git"
        )

    def renewed(self) -> Access | None:
        """Return the access with another password, or None where the configuration has none."""
        password = self.current_password()
        if password is None or password == self.password:
            return None
        return replace(self, password=password)

    def environment(self) -> dict[str, str]:
        """What a git process is given beside the runner's own environment.

        That one holds no secrets: those of the configuration are forgotten at the start.
        """
        values = {
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": "http:https:ssh:file",
            # A clone of a server must not depend on the settings of whoever started it.
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_SSH_COMMAND": self._ssh(),
        }
        if self.ca_file:
            # A variable of the machine counts more than any setting; ours must count more than it.
            values["GIT_SSL_CAINFO"] = self.ca_file
        if self.cert:
            values |= {"GIT_SSL_CERT": self.cert, "GIT_SSL_KEY": self.key}
        return values | _as_config(self._config())

    def _config(self) -> dict[str, str]:
        config = {
            "gc.auto": "0",  # tidied when nothing is waiting, not in the way of a fetch
            "protocol.version": "2",
            "http.lowSpeedLimit": "1",
            "http.lowSpeedTime": "30",
            "safe.directory": "*",  # a path as remote may belong to another user
        }
        if self.password and self.remote.startswith(("http://", "https://")):
            pair = f"{self.username or 'margrave'}:{self.password.reveal()}"
            word = base64.b64encode(pair.encode()).decode()
            # Bound to the remote: a redirect elsewhere does not get it.
            config[f"http.{self.remote}.extraHeader"] = f"Authorization: Basic {word}"
        if self.ca_file:
            config["http.sslCAInfo"] = self.ca_file
        return config

    def _ssh(self) -> str:
        words = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]
        # As http.lowSpeedTime above: a line that is dead is noticed in half a minute.
        words += ["-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3"]
        if self.ssh_key:
            words += ["-i", self.ssh_key, "-o", "IdentitiesOnly=yes"]
        if self.known_hosts:
            words += ["-o", f"UserKnownHostsFile={self.known_hosts}"]
        return shlex.join([*words, "-o", "StrictHostKeyChecking=yes"])


def _as_config(config: Mapping[str, str]) -> dict[str, str]:
    values = {"GIT_CONFIG_COUNT": str(len(config))}
    for index, (key, value) in enumerate(config.items()):
        values[f"GIT_CONFIG_KEY_{index}"] = key
        values[f"GIT_CONFIG_VALUE_{index}"] = value
    return values
