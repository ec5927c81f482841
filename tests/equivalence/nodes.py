"""Lab node on which the collection's modules are called directly, without a playbook."""

from __future__ import annotations

import json
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.margrave.edge.plugins.module_utils import _spec
from ansible_collections.margrave.edge.plugins.plugin_utils import node_code, packing

from lab import Engine, Lab
from tests.equivalence.releases import Release
from tests.support.shop import clean
from tests.support.waiting import eventually

DEPLOYMENT = "7f1d3c52-0d0c-4f6c-9a51-5e1c5e5a1601"
COMPONENT = "shop"
PYTHON = "/usr/bin/python3"
SNAPSHOT = Path(__file__).with_name("on_node.py").read_text()
SETTINGS = {
    "check_mode": False,
    "diff": False,
    "no_log": False,
    "module_name": "margrave.edge.workload",
    "syslog_facility": "LOG_USER",
    "target_log_info": None,
}
LIMIT = 240.0
Snapshot = list[dict[str, Any]]  # containers as on_node.py prints them


def arguments(release: Release) -> dict[str, Any]:
    """Return the parameters of install and update, as a playbook without a runner gives them."""
    with tempfile.TemporaryDirectory(prefix="equivalence-") as folder:
        archive = packing.packed(str(release.write(Path(folder))))
    return {
        "deployment": DEPLOYMENT,
        "name": COMPONENT,
        "application": "com-example-shop",
        "health": {"timeout": 60, "grace": 1},
        "components": [
            {
                "name": COMPONENT,
                "archive": packing.text(archive),
                "digest": packing.digest(archive),
                "variables": release.variables(),
            }
        ],
    }


class EdgeNode:
    """Lab node and its engine."""

    def __init__(self, lab: Lab, name: str, engine: Engine) -> None:
        self.lab = lab
        self.name = name
        self.engine = str(engine)
        # Short, because the path of a socket may not be long.
        self._socket = Path(tempfile.gettempdir()) / f"eq-{lab.name}-{name}"

    # -- calls ----------------------------------------------------------------------------------

    def update(self, release: Release) -> dict[str, Any]:
        """Install or update to the release."""
        return self.call("update", arguments(release))

    def rollback(self) -> dict[str, Any]:
        """Go back to the release before."""
        return self.call("rollback", {"deployment": DEPLOYMENT})

    def delete(self) -> dict[str, Any]:
        """Delete the deployment; its volumes stay."""
        return self.call("delete", {"deployment": DEPLOYMENT})

    def call(self, kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Call a module; the answer of a call that was killed has `rc` and no `state`."""
        code = node_code.node_code()
        checked = ArgumentSpecValidator(_spec.of(kind)).validate(given)
        assert not checked.error_messages, checked.error_messages
        request = json.dumps({"params": checked.validated_parameters, "settings": SETTINGS})
        ran = self._ssh(code.call(PYTHON, kind), request.encode())
        if ran.returncode == node_code.NOT_THERE:
            self._ssh(code.lay(PYTHON), code.archive)
            ran = self._ssh(code.call(PYTHON, kind), request.encode())
        texts = {"stdout": ran.stdout.decode(), "stderr": ran.stderr.decode(errors="replace")}
        return node_code.read({**texts, "rc": ran.returncode})

    # -- looking --------------------------------------------------------------------------------

    def snapshot(self, release: Release) -> Snapshot:
        """Return the containers as the engine inspects them, with the content they hold."""
        expected = {
            service.name: sorted(release.expected(service.name)) for service in release.services
        }
        request = {"engine": self.engine, "expected": expected}
        program = f"{PYTHON} -I -c {shlex.quote(SNAPSHOT)}"
        ran = self._ssh(program, json.dumps(request).encode())
        assert ran.returncode == 0, ran.stderr.decode(errors="replace")
        snapshot: Snapshot = json.loads(ran.stdout)
        return snapshot

    def leftovers(self) -> list[str]:
        """Return the containers and networks of any deployment."""
        kinds = {
            "container": "ps -a --format '{{.Names}}'",
            "network": "network ls --format '{{.Name}}'",
        }
        listed = {
            kind: self.run(f"{self.engine} {listing} --filter label=margrave.deployment").split()
            for kind, listing in kinds.items()
        }
        return [f"{kind} {name}" for kind, names in listed.items() for name in names]

    def run(self, command: str) -> str:
        """Run shell text on the node; return its output."""
        ran = self._ssh(command, b"")
        assert ran.returncode == 0, f"{command}: {ran.stderr.decode(errors='replace')}"
        return ran.stdout.decode()

    # -- damage ---------------------------------------------------------------------------------

    def cut_power(self) -> None:
        """Take the power away and give it back; return when the engine answers."""
        self.lab.fail(self.name, kill=True)
        self._hang_up()
        self.lab.heal(self.name)
        eventually(
            lambda: self._ssh(f"{self.engine} ps -q", b"").returncode == 0,
            LIMIT,
            "the engine answers after a reboot",
            0.2,
        )

    def clean(self) -> None:
        """Leave nothing of any deployment, and no image."""
        clean(self.lab, self.name, self.engine)
        self.run(f"{self.engine} image prune --all --force >/dev/null")

    def close(self) -> None:
        """End the shared connection."""
        self._hang_up()

    # -- within ---------------------------------------------------------------------------------

    def _ssh(self, command: str, given: bytes) -> subprocess.CompletedProcess[bytes]:
        """Run shell text over a shared connection."""
        shared = {"ControlMaster": "auto", "ControlPath": str(self._socket), "ControlPersist": "60"}
        options = [option for key, value in shared.items() for option in ("-o", f"{key}={value}")]
        base = self.lab.ssh_command(self.name)
        command_line = [base[0], *options, *base[1:], command]
        return subprocess.run(
            command_line, input=given, capture_output=True, timeout=LIMIT, check=False
        )

    def _hang_up(self) -> None:
        base = self.lab.ssh_command(self.name)
        command_line = [base[0], "-o", f"ControlPath={self._socket}", "-O", "exit", *base[1:]]
        subprocess.run(command_line, capture_output=True, check=False)
