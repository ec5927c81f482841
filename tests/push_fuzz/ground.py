"""A controller, a clone of its repository, and a site beside the one that is pushed to."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import httpx

from margrave import yaml_text
from tests.push_fuzz.mutations import Change
from tests.support.registry import FakeRegistry
from tests.support.served import Served, served
from tests.support.works import APPS

SITE: Final = "harbor"  # what is pushed belongs to it
OTHER: Final = "depot"  # what must go on
_PUSHED: Final = "refs/heads/pushed"


class Through(StrEnum):
    """The repository that changes are pushed to."""

    ENDPOINT = "endpoint"  # the controller's own, whose hook refuses documents with errors
    FORGE = "forge"  # a repository elsewhere without a hook: everything is there to be read

    @property
    def repository(self) -> str:
        """The folder of the controller's own repository, or of its copy of the forge's."""
        return "remote.git" if self is Through.FORGE else "deployments.git"


@dataclass
class Ground:
    """Pushes changes of the one site and asks for changes of the other."""

    api: httpx.Client
    clone: Path
    deployment: str  # of storefront at the other site
    document: dict[str, Any]  # of storefront at the site that is pushed to
    component: bytes  # its compose.yaml
    _changes: int = field(default=0)

    def push(self, change: Change) -> bool:
        """Push a change onto main as it stands; whether it was let in."""
        base = self._asked("GET", "/repository")["head"]
        self._git("fast-import", "--quiet", "--force", given=_stream(change, base))
        done = self._run("push", "-q", "origin", f"{_PUSHED}:main")
        if done.returncode and b"rejected" not in done.stderr and b"declined" not in done.stderr:
            raise AssertionError(f"the push failed otherwise: {done.stderr.decode()[-2000:]}")
        if b"Traceback" in done.stderr or b"a defect" in done.stderr:
            raise AssertionError(f"the hook failed: {done.stderr.decode()[-2000:]}")
        return done.returncode == 0

    def change_other(self, within: float) -> float:
        """Ask for a change at the other site; the seconds until it is published and shown."""
        self._changes += 1
        greeting = f"hello {self._changes}"
        began = time.monotonic()
        body = {"parameters": {"greeting": greeting}}
        path = f"/deployments/{self.deployment}"
        request = self._asked("PATCH", path, body)["id"]
        while True:
            state = self._asked("GET", f"/requests/{request}")
            shown = self._asked("GET", path)
            if state["state"] == "published" and shown["parameters"]["greeting"] == greeting:
                assert shown["commit"] == state["commit"], "it shows another commit"
                return time.monotonic() - began
            seconds = time.monotonic() - began
            assert seconds < within, f"after {seconds:.1f} s it is {state['state']}: {state}"
            time.sleep(0.05)

    def pause_other(self, within: float) -> float:
        """Pause the other site and resume it; the seconds until both were shown."""
        began = time.monotonic()
        for verb, body in (("pause", {"reason": f"stocktaking {self._changes}"}), ("resume", None)):
            self._asked("POST", f"/sites/{OTHER}/{verb}", body)
            paused = self._asked("GET", f"/sites/{OTHER}")["paused"]
            assert (paused or {}).get("reason") == (body or {}).get("reason"), f"{verb}: {paused}"
        seconds = time.monotonic() - began
        assert seconds < within, f"pausing and resuming took {seconds:.1f} s"
        return seconds

    def look(self) -> int:
        """Read everything that shows the site that is pushed to; how many findings it has."""
        for path in ("/sites", "/nodes", f"/deployments?site={SITE}", "/summary", "/repository"):
            self._asked("GET", path)
        for item in self._asked("GET", f"/deployments?site={SITE}&limit=200")["items"]:
            self._asked("GET", f"/deployments/{item['id']}?site={SITE}")
        return len(self._asked("GET", f"/sites/{SITE}")["findings"])

    def _asked(self, method: str, path: str, body: object = None) -> Any:
        answer = self.api.request(method, path, json=body)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        return answer.json()

    def _git(self, *arguments: str, given: bytes = b"") -> bytes:
        done = self._run(*arguments, given=given)
        assert done.returncode == 0, f"git {arguments[0]}: {done.stderr.decode()[-2000:]}"
        return done.stdout

    def _run(self, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["git", *arguments], cwd=self.clone, input=given, capture_output=True, check=False
        )


@contextmanager
def ground(folder: Path, through: Through, database: str = "") -> Iterator[Ground]:
    """A controller that serves two sites with storefront, and a clone to push from."""
    registry = FakeRegistry().start()
    settings = {
        "REGISTRIES__JSON": json.dumps(
            [{"host": "registry.margrave.lab:5000", "address": registry.address, "insecure": True}]
        ),
        "CATALOG__LOCAL_ROOTS": json.dumps([str(APPS)]),
    }
    forge = folder / "forge.git"
    if through is Through.FORGE:
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(forge)], check=True)
        settings["GIT__REMOTE"] = str(forge)
    try:
        with served(folder, database, **settings) as controller, _api(controller) as api:
            documents = _deployed(controller)
            token = controller.post(
                "/tokens", {"name": "fuzz", "role": "operator", "sites": [SITE]}
            )["token"]
            url = controller.url.replace("//", f"//any:{token}@") + "/git/deployments.git"
            source = str(forge) if through is Through.FORGE else url
            clone = folder / "clone"
            subprocess.run(["git", "clone", "-q", source, str(clone)], check=True)
            _borrow(clone, folder / "controller" / "state" / "git" / through.repository)
            component = next((clone / "components").rglob("compose.yaml")).read_bytes()
            path = clone / "deployments" / SITE / f"{documents[SITE]}.yaml"
            document = yaml_text.parse(path.read_bytes()).value
            yield Ground(api, clone, documents[OTHER], document, component)
    finally:
        registry.stop()


def _api(controller: Served) -> httpx.Client:
    return httpx.Client(
        base_url=f"{controller.url}/api/v1",
        headers={"Authorization": f"Bearer {controller.token}"},
        timeout=30,
    )


def _deployed(controller: Served) -> dict[str, str]:
    """Storefront at both sites; its id by site."""
    controller.post("/app-sources", {"name": "apps", "url": str(APPS)})
    controller.post("/app-sources/apps/sync", {})
    for site in (SITE, OTHER):
        controller.post("/sites", {"name": site})
    targets = {"app": "storefront", "version": "1.0.0", "targets": {"sites": [SITE, OTHER]}}
    asked = controller.post("/deployments", targets)
    deadline = time.monotonic() + 60
    while controller.get(f"/requests/{asked['id']}")["state"] != "published":
        assert time.monotonic() < deadline, "the first request is not published"
        time.sleep(0.05)
    return {one["site"]: one["id"] for one in asked["deployments"]}


def _borrow(clone: Path, repository: Path) -> None:
    """Let the clone read the controller's objects, so that it need not fetch before each push."""
    objects = (repository / "objects").resolve()
    assert objects.is_dir(), objects
    (clone / ".git" / "objects" / "info" / "alternates").write_text(f"{objects}\n")


def _stream(change: Change, base: str) -> bytes:
    """The change as `git fast-import` reads it, on top of a commit."""
    date = change.date.removeprefix("@") or f"{int(time.time())} +0000"
    who = re.sub("[<>\n]", "", change.author).encode() + b" <grace@example.com> " + date.encode()
    message = change.message.encode("utf-8", "surrogatepass")
    lines = [
        b"commit " + _PUSHED.encode(),
        b"author " + who,
        b"committer " + who,
        b"data %d" % len(message),
        message,
        b"from " + base.encode(),
    ]
    for path, data in change.files.items():
        name = _quoted(path)
        if data is None:
            lines.append(b"D " + name)
            continue
        lines += [b"M 100644 inline " + name, b"data %d" % len(data), data]
    return b"\n".join([*lines, b"", b""])


def _quoted(path: str) -> bytes:
    """A path as Git quotes it, whatever characters it has."""
    octal = "".join(f"\\{byte:03o}" for byte in os.fsencode(path))
    return f'"{octal}"'.encode()
