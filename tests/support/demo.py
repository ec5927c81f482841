"""The running demo as tests use it: by its command, its API, its Git repository and its nodes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[2]
CLI = Path(sys.executable).parent / "margrave"


@dataclass(frozen=True)
class Ran:
    """What a command answered."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The answer of `-o json`."""
        return json.loads(self.out)


def margrave(*arguments: str, env: dict[str, str] | None = None, timeout: float = 300) -> Ran:
    """Run the command as a user would, not on a terminal."""
    done = subprocess.run(
        [str(CLI), *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **(env or {})},
        cwd=ROOT,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


class Demo:
    """A demo that is up."""

    def __init__(self) -> None:
        lines = (ROOT / "var/demo/demo.env").read_text().splitlines()
        self.env = dict(line.split("=", 1) for line in lines if "=" in line)
        self._api = httpx.Client(
            base_url=self.env["MARGRAVE_URL"] + "/api/v1",
            headers={"Authorization": f"Bearer {self.env['MARGRAVE_TOKEN']}"},
            timeout=30,
        )

    def margrave(self, *arguments: str, timeout: float = 300) -> Ran:
        """Run the command against the demo's controller."""
        return margrave(*arguments, env=self.env, timeout=timeout)

    def done(self, *arguments: str, timeout: float = 300) -> Ran:
        """Run the command and insist that it ends well."""
        ran = self.margrave(*arguments, timeout=timeout)
        assert ran.code == 0, f"margrave {' '.join(arguments)}: {ran.code}\n{ran.out}\n{ran.err}"
        return ran

    def get(self, path: str, **query: Any) -> Any:
        """What the API answers."""
        answer = self._api.get(path, params=query)
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text}"
        return answer.json()

    def items(self, path: str, **query: Any) -> list[Any]:
        """All pages of a list."""
        found: list[Any] = []
        cursor = None
        while True:
            page = self.get(path, **query, **({"cursor": cursor} if cursor else {}))
            found += page["items"]
            cursor = page["next"]
            if cursor is None:
                return found

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Any request to the API."""
        return self._api.request(method, path, **options)

    def status(self) -> Any:
        """`margrave demo status -o json`."""
        return self.done("demo", "status", "-o", "json").json()

    def addresses(self) -> dict[str, str]:
        """Node names with their addresses."""
        return {node["name"]: node["address"] for node in self.status()["nodes"]}

    def deployments(self, name: str = "storefront") -> dict[str, Any]:
        """Live deployments of a name by their site."""
        return {one["site"]: one for one in self.items("/deployments", name=name)}

    def placements(self, name: str = "storefront") -> dict[str, Any]:
        """Newest incarnations of live placements by node."""
        found: dict[str, Any] = {}
        for one in self.deployments(name).values():
            for placement in self.items(f"/deployments/{one['id']}/placements"):
                before = found.get(placement["node"])
                if before is None or placement["incarnation"] > before["incarnation"]:
                    found[placement["node"]] = placement
        return found

    def history(self, name: str = "storefront") -> list[Any]:
        """Every transition of a name's live deployments."""
        return [
            entry
            for one in self.deployments(name).values()
            for entry in self.items(f"/deployments/{one['id']}/history")
        ]

    def answers(self) -> dict[str, Any]:
        """What the application says on each node; None where it does not answer."""
        return {name: ask(address) for name, address in self.addresses().items()}

    def on_node(self, node: str, command: str) -> str:
        """Standard output of a command on a node."""
        return self.done("lab", "ssh", "--name", "demo", node, "--", command).out


def ask(address: str) -> Any:
    """The storefront's answer at a node's address, or None."""
    try:
        answer = httpx.get(f"http://{address}:8000/", timeout=5)
        return answer.json() if answer.status_code == 200 else None
    except (httpx.HTTPError, ValueError):
        return None
