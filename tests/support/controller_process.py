"""A controller as it is run: `margrave init`, then `controller serve` in its own process."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import httpx

from tests.support.registry import FakeRegistry
from tests.support.waiting import eventually

APPS = Path(__file__).parents[2] / "examples/apps"
CLI = Path(sys.executable).parent / "margrave"


@dataclass
class ControllerProcess:
    """Its address, its admin, and the process, which a test may stop and start."""

    folder: Path
    url: str
    user: str
    password: str
    token: str
    registry: FakeRegistry
    settings: dict[str, str]
    process: subprocess.Popen[bytes] | None = None
    log: IO[bytes] | None = None

    @property
    def api(self) -> httpx.Client:
        """The API as the admin."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=60)

    def start(self) -> None:
        """Until it is ready."""
        self.log = (self.folder / "controller.log").open("ab")
        command = [str(CLI), "controller", "serve", "--config", str(self.folder / "margrave.toml")]
        environment = {**os.environ, **self.settings}
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, env=environment)
        eventually(self.ready, 120, "the controller is ready", pause=0.1)

    def ready(self) -> bool:
        """Whether it answers that it can serve."""
        try:
            return httpx.get(f"{self.url}/readyz", timeout=10).status_code == 200
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        """As a power cut does: with its workers, which would live on without the one above them."""
        assert self.process is not None
        above = self.process.pid
        workers = Path(f"/proc/{above}/task/{above}/children").read_text().split()
        for one in (above, *map(int, workers)):
            os.kill(one, signal.SIGKILL)
        self.process.wait(30)

    def stop(self) -> None:
        """As systemd would."""
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)
            self.process = None
        if self.log is not None:
            self.log.close()

    def post(self, path: str, **body: Any) -> Any:
        """Ask the API as the admin; its answer."""
        with self.api as api:
            answer = api.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json()


def make(folder: Path, registry_address: str = "") -> ControllerProcess:
    """A new controller with a registry of its own, or with another one; not started yet."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = folder / "controller"
    made = subprocess.run(
        [str(CLI), "init", str(home), "-o", "json"], capture_output=True, text=True, check=True
    )
    told = json.loads(made.stdout)
    registry = FakeRegistry().start()
    config = home / "margrave.toml"
    text = config.read_text().replace("127.0.0.1:8800", f"127.0.0.1:{port}")
    text = text.replace("local_roots = []", f'local_roots = ["{APPS}", "{folder}"]')
    registries = json.dumps(
        [
            {
                "host": "registry.margrave.lab:5000",
                "address": registry_address or registry.address,
                "insecure": True,
            }
        ]
    )
    config.write_text(text)
    return ControllerProcess(
        folder=home,
        url=f"http://127.0.0.1:{port}",
        user=told["user"],
        password=told["password"],
        token=told["token"],
        registry=registry,
        settings={"MARGRAVE_REGISTRIES__JSON": registries},
    )
