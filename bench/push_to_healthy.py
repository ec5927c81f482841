"""P1: from `git push` to healthy on one node, beside a hand-written shell loop that does the same.

Both sides change one variable of the same application on the same node, in turns, and push it to
the same Git server: ours at the site depot of the running demo (`make demo`), the loop's copy in a
folder of its own and on another port. Both clocks start before the push and end when health is
known where the operator looks: ours when the controller shows the new revision as succeeded, the
loop's when its script, which begins as soon as the push is through, returns.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

from bench.figures import ROOT, keep, summary

RUNS = 7
BAR = 1.5
COMPOSE = """\
services:
  web:
    image: registry.margrave.lab:5000/storefront-web:1.0.0
    environment: {GREETING: "${GREETING}"}
    ports: ["8001:8000"]
    healthcheck: {test: ["CMD", "/bin/health"], interval: 1s, timeout: 5s, retries: 3}
    depends_on: {cache: {condition: service_healthy}}
  cache:
    image: registry.margrave.lab:5000/storefront-cache:1.0.0
    healthcheck: {test: ["CMD", "/bin/health"], interval: 1s, timeout: 5s, retries: 3}
"""
# What somebody writes in an afternoon: pull, copy, up. Its ssh is multiplexed, as ours is.
LOOP = """\
set -e
git -C site pull --quiet
scp $SSH -q site/loop/compose.yaml site/loop/.env root@$NODE:/root/loop/
ssh $SSH root@$NODE 'cd /root/loop && DOCKER_HOST=unix:///run/podman/podman.sock \
  docker-compose -p loop up -d --wait --quiet-pull 2>/dev/null'
"""


def run(*command: str, cwd: Path | None = None, **env: str) -> str:
    """A command that has to end well."""
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, env={**ENV, **env}
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(Path.home())}


class Ours:
    """The demo's site depot."""

    def __init__(self, demo: dict[str, str], folder: Path) -> None:
        self._api = httpx.Client(
            base_url=demo["MARGRAVE_URL"] + "/api/v1",
            headers={"Authorization": f"Bearer {demo['MARGRAVE_TOKEN']}"},
        )
        [found] = self._api.get("/deployments", params={"site": "depot"}).json()["items"]
        self._id = found["id"]
        run("git", "clone", "-q", demo["MARGRAVE_DEPLOYMENTS_REPO"], "ours", cwd=folder)
        self._clone = folder / "ours"

    def change(self, greeting: str) -> float:
        """Seconds from push to a success that the controller shows."""
        return self.timed(greeting)["shown"]

    def timed(self, greeting: str) -> dict[str, float]:
        """Seconds from push to each station on the way."""
        run("git", "pull", "-q", cwd=self._clone)
        path = self._clone / f"deployments/depot/{self._id}.yaml"
        text = path.read_text()
        lines = text.splitlines()
        index = next(i for i, line in enumerate(lines) if line.strip().startswith("value:"))
        lines[index] = lines[index].split("value:")[0] + f"value: {greeting}"
        path.write_text("\n".join(lines) + "\n")
        commit(self._clone)
        before = self._placement()["wanted_revision"]
        begin, wall = time.monotonic(), time.time()
        run("git", "push", "-q", cwd=self._clone)
        pushed = time.monotonic() - begin
        while not self._reached(before):
            if time.monotonic() - begin > 60:
                sys.exit(f"not healthy after a minute: {self._placement()}")
            time.sleep(0.05)
        shown = time.monotonic() - begin
        work = self._api.get("/operations", params={"deployment": self._id, "limit": 1}).json()[
            "items"
        ][0]
        stations = {name: _epoch(work[name]) - wall for name in ("started_at", "ended_at")}
        return {"pushed": pushed, **stations, "shown": shown}

    def _placement(self) -> dict[str, Any]:
        answer = self._api.get(f"/deployments/{self._id}/placements").json()
        found: dict[str, Any] = answer["items"][-1]
        return found

    def _reached(self, before: str) -> bool:
        now = self._placement()
        settled = (now["state"], now["outcome"]) == ("INSTALLED", "succeeded")
        return settled and now["revision"] == now["wanted_revision"] != before


def _epoch(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


class Loop:
    """The shell loop, with its own folder in the repository and its own copy of the application."""

    def __init__(self, repository: str, address: str, key: str, folder: Path) -> None:
        self._folder = folder
        self._env = {
            "NODE": address,
            "SSH": f"-i {key} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
            f" -o LogLevel=ERROR -o ControlMaster=auto -o ControlPersist=60"
            f" -o ControlPath={folder}/%C",
        }
        for name in ("author", "site"):
            run("git", "clone", "-q", repository, name, cwd=folder)
        self._author = folder / "author"
        (self._author / "loop").mkdir(exist_ok=True)
        (self._author / "loop/compose.yaml").write_text(COMPOSE)
        run("bash", "-c", "ssh $SSH root@$NODE mkdir -p /root/loop", cwd=folder, **self._env)

    def change(self, greeting: str) -> float:
        """Seconds from push to the end of the script."""
        run("git", "pull", "-q", cwd=self._author)
        (self._author / "loop/.env").write_text(f"GREETING={greeting}\n")
        commit(self._author)
        begin = time.monotonic()
        run("git", "push", "-q", "origin", "HEAD:main", cwd=self._author)
        run("bash", "-c", LOOP, cwd=self._folder, **self._env)
        return time.monotonic() - begin

    def clean(self) -> None:
        """Take the copy off the node."""
        away = (
            "ssh $SSH root@$NODE 'cd /root/loop && DOCKER_HOST=unix:///run/podman/podman.sock"
            " docker-compose -p loop down -v 2>/dev/null; rm -rf /root/loop'"
        )
        run("bash", "-c", away, cwd=self._folder, **self._env)


def commit(clone: Path) -> None:
    """Commit all of a clone, as somebody."""
    run("git", "add", "--all", cwd=clone)
    who = ("-c", "user.name=Bench", "-c", "user.email=bench@margrave.invalid")
    run("git", *who, "commit", "-q", "-m", "Change the greeting", cwd=clone)


def main() -> None:
    """Measure in turns, print and keep."""
    env_file = ROOT / "var/demo/demo.env"
    if not env_file.exists():
        sys.exit("no demo is up: run `make demo` first")
    demo = dict(line.split("=", 1) for line in env_file.read_text().splitlines() if "=" in line)
    from lab import Lab

    lab = Lab("demo")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = Ours(demo, folder)
        repository = demo["MARGRAVE_DEPLOYMENTS_REPO"]
        loop = Loop(repository, lab.node("depot-1").address, str(lab.key), folder)
        try:
            loop.change("warm"), ours.change("warm")
            pairs = [(loop.change(f"loop{n}"), ours.timed(f"ours{n}")) for n in range(RUNS)]
        finally:
            loop.clean()
    theirs, mine = [pair[0] for pair in pairs], [pair[1]["shown"] for pair in pairs]
    stations = {name: summary([pair[1][name] for pair in pairs])["median"] for name in pairs[0][1]}
    ratio = round(summary(mine)["median"] / summary(theirs)["median"], 2)
    keep(
        "push_to_healthy",
        {
            "loop": summary(theirs),
            "ours": summary(mine),
            "stations": stations,
            "ratio": ratio,
            "bar": BAR,
        },
    )


if __name__ == "__main__":
    main()
