"""`margrave demo up`: from nothing, or from whatever is left, to an application that runs."""

from __future__ import annotations

import json
import shutil
import tomllib
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Any

from demo import configuration, http, memory, parts
from demo.configuration import URL
from demo.places import (
    APPLICATION,
    CONTROLLER_PORT,
    LAB,
    RUNNER_PORTS,
    SITES,
    SMALLEST,
    VERSION,
    DemoError,
    Places,
    node_names,
    site_of,
)
from demo.processes import run
from lab import Lab

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demo.memory import Memory
    from demo.progress import Progress
    from lab import Node


class Demo:
    """The steps, in their order; each finds what is there and adds what is not."""

    def __init__(self, places: Places, progress: Progress) -> None:
        self.places = places
        self.progress = progress
        self.lab = Lab(LAB)
        self.memory: Memory = memory.load(places.memory)

    def up(self, count: int | None) -> None:
        """Everything runs and is ready when this returns."""
        parts.check_ports(self.places)
        self._keep()
        self._lab(count)
        self._controller()
        self._catalogue()
        self._sites()
        self._runners()
        self._nodes()
        self._deployment()
        self._env()

    def _keep(self) -> None:
        memory.keep(self.places.memory, self.memory)

    def _lab(self, count: int | None) -> None:
        known = [node.name for node in self.lab.nodes()]
        names = list(dict.fromkeys([*node_names(count or len(SMALLEST)), *known]))
        with self.progress.step(f"edge nodes {', '.join(names)}, and their registry") as detail:
            self.lab.up(nodes=names, progress=detail)

    def _controller(self) -> None:
        if not self.memory.token:
            with self.progress.step("controller: configuration, database, repository"):
                self._init()
        with self.progress.step("controller: start"):
            text = configuration.controller(
                self.places.apps, self.lab.registry_address, self.memory.signing_key
            )
            changed = memory.write_private(self.places.controller / "margrave.toml", text)
            parts.ensure(parts.controller(self.places), CONTROLLER_PORT, renew=changed)

    def _init(self) -> None:
        # An init that was killed half way left no token behind, so nobody can use what it made.
        shutil.rmtree(self.places.controller, ignore_errors=True)
        made = json.loads(self._margrave("init", str(self.places.controller), "-o", "json"))
        self.memory.user, self.memory.password = made["user"], made["password"]
        self.memory.token = made["token"]
        config = tomllib.loads((self.places.controller / "margrave.toml").read_text())
        self.memory.signing_key = config.get("git", {}).get("signing_key", "")
        self._keep()

    def _catalogue(self) -> None:
        with self.progress.step(f"catalogue: {self.places.apps.relative_to(self.places.checkout)}"):
            known = {one["name"] for one in self._list("/api/v1/app-sources")}
            if "examples" not in known:
                self._margrave("source", "add", "examples", str(self.places.apps))
            self._margrave("app", "sync", "examples")

    def _sites(self) -> None:
        known = {one["name"] for one in self._list("/api/v1/sites")}
        for site, labels in SITES.items():
            if site in known and site in self.memory.site_tokens:
                continue
            with self.progress.step(f"site {site}"):
                if site in known:
                    answer = self._call("POST", f"/api/v1/sites/{site}/tokens", {})
                else:
                    answer = self._call("POST", "/api/v1/sites", {"name": site, "labels": labels})
                self.memory.site_tokens[site] = answer["token"]
                self._keep()

    def _runners(self) -> None:
        with self.progress.step(f"runners of {' and '.join(SITES)}"):
            for site in SITES:
                token = self.memory.site_tokens[site]
                text = configuration.runner(site, token, self.memory.webhook_secret)
                config = self.places.runner(site) / "margrave.toml"
                changed = memory.write_private(config, text)
                process = parts.runner(self.places, site)
                if changed:
                    process.stop()
                if process.pid() is None:
                    process.start()
            for site, port in RUNNER_PORTS.items():
                parts.wait_ready(parts.runner(self.places, site), port)

    def _nodes(self) -> None:
        keys = {node.name: self.lab.host_key(node.name) for node in self.lab.nodes()}
        known = {
            str(one["name"])
            for port in RUNNER_PORTS.values()
            for one in http.call("GET", f"{parts.url(port)}/status")["nodes"]
        }
        added = {name: key for name, key in self.memory.host_keys.items() if name in known}
        new = [node for node in self.lab.nodes() if added.get(node.name) != keys[node.name]]
        if not new:
            return
        with (
            self.progress.step(f"onboard {', '.join(node.name for node in new)}"),
            ThreadPoolExecutor(max_workers=4) as pool,
        ):
            work = {
                pool.submit(self._onboard, node, keys[node.name], again=node.name in known): node
                for node in new
            }
            for done in as_completed(work):
                done.result()
                self.memory.host_keys[work[done].name] = keys[work[done].name]
                self._keep()

    def _onboard(self, node: Node, host_key: str, *, again: bool) -> None:
        site = site_of(node.name)
        where = ("--site", site, "--config", str(self.places.runner(site) / "margrave.toml"))
        if again:
            # The lab was made anew below us: the node of this name is another machine now.
            self._margrave("node", "remove", node.name, *where, "--yes")
        key = ("--identity", str(self.lab.key), "--host-key", host_key)
        self._margrave("node", "add", node.name, node.address, *where, *key, "--yes")

    def _deployment(self) -> None:
        if self.memory.deployed:
            return
        sites = [word for site in SITES for word in ("--site", site)]
        with self.progress.step(f"{APPLICATION} {VERSION} at {' and '.join(SITES)}"):
            target = f"{APPLICATION}@{VERSION}"
            self._margrave("deploy", target, *sites, "--wait", "--timeout", "5m")
        self.memory.deployed = True
        self._keep()

    def _env(self) -> None:
        repository = f"http://demo:{self.memory.token}@{URL.removeprefix('http://')}"
        values = {
            "MARGRAVE_URL": URL,
            "MARGRAVE_TOKEN": self.memory.token,
            "MARGRAVE_DEPLOYMENTS_REPO": f"{repository}/git/deployments.git",
            "MARGRAVE_REGISTRY": self.lab.registry_address,
            "MARGRAVE_CLI": str(self.places.command),
            "MARGRAVE_WEBHOOK_SECRET": self.memory.webhook_secret,
            "MARGRAVE_USER": self.memory.user,
            "MARGRAVE_PASSWORD": self.memory.password,
        }
        memory.write_private(self.places.env, configuration.environment(values))

    def _margrave(self, *words: str) -> str:
        done = run(
            [str(self.places.command), *words],
            MARGRAVE_URL=URL,
            MARGRAVE_TOKEN=self.memory.token,
        )
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip()
            raise DemoError(
                f"`margrave {' '.join(words[:3])}` ended with {done.returncode}: {said}"
            )
        return done.stdout

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        return http.call(method, f"{URL}{path}", self.memory.token, body)

    def _list(self, path: str) -> Sequence[dict[str, Any]]:
        found: Sequence[dict[str, Any]] = self._call("GET", path)["items"]
        return found
