"""`docs/howto/containers.md`, typed on a machine with Docker: image to application."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from lab import mirror
from lab.layout import cache_folder
from tests.integration.docs.accounts import unexecuted
from tests.integration.docs.pages import Page
from tests.support.shop import clean
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.full]

ROOT = Path(__file__).parents[3]
PAGE = Page("containers")
BASE = "docker.io/library/debian:trixie-slim"
NODE = "depot-1"
HERE = "/srv/margrave"  # the checkout on the machine with Docker


class Machine:
    """A lab node with Docker Engine; whoever types the page there."""

    def __init__(self, lab: Lab, name: str) -> None:
        self.lab, self.name = lab, name
        self.words: dict[str, str] = {}
        self.executed: set[str] = set()

    def run(self, command: str, *, data: bytes = b"", limit: float = 120) -> str:
        """What it prints; a command that fails is told whole."""
        ssh = ["ssh", "-i", str(self.lab.key), "-o", f"UserKnownHostsFile={self.lab.known_hosts}"]
        address = self.lab.node(self.name).address
        done = subprocess.run(
            [*ssh, f"root@{address}", f"cd {HERE} 2>/dev/null || cd; {command}"],
            input=data, capture_output=True, timeout=limit, check=False,
        )  # fmt: skip
        said = done.stdout.decode()
        assert done.returncode == 0, f"$ {command}\n{said}{done.stderr.decode()[-4000:]}"
        return said

    def types(self, line: str) -> None:
        """One line of the page, with the names and secrets that there are here."""
        self.executed.add(line)
        said = self.run(self.ready(line), limit=900 if "build" in line else 300)
        for sign in ("mgt_", "mgs_"):
            if found := re.search(rf"{sign}[\w-]+", said):
                self.words.setdefault(f"{sign}…", found[0])

    def refuses(self, line: str, token: str | None = None) -> str:
        """Return what a line prints that has to fail."""
        command = f"{self.ready(line, token)} 2>&1"
        return self.run(f"if ({command}); then echo DONE; exit 1; fi", limit=300)

    def ready(self, line: str, token: str | None = None) -> str:
        """Return a line of the page as it is typed here."""
        for there, here in self.words.items():
            line = line.replace(there, here)
        # There is no terminal here, and nobody who would type on.
        line = re.sub(r"docker compose (run --rm|exec(?! -T))", r"docker compose \1 -T", line)
        line = line if "<" in line or "|" in line else f"{line} </dev/null"
        known = self.words.get("mgt_…", "") if token is None else token
        return f"export MARGRAVE_TOKEN={known} DOCKER_BUILDKIT=0; {line}"


def _base() -> bytes:
    """Debian as its image is: nobody here has a way to a registry of images."""
    kept = cache_folder() / "debian-trixie-slim.tar"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        draft = kept.with_name("draft-debian-trixie-slim.tar")
        options = [f"--aptopt={one}" for one in mirror.apt_options()]
        slim = [f"--dpkgopt=path-exclude=/usr/share/{one}/*" for one in ("doc", "man", "locale")]
        bootstrap = ["mmdebstrap", "--quiet", "--variant=minbase", *slim, *options]
        subprocess.run([*bootstrap, "trixie", str(draft), mirror.find()], check=True, timeout=900)
        draft.rename(kept)
    return kept.read_bytes()


def _wheels() -> Path:
    """What the lock file names and what builds the package: for the image's Python."""
    locked = ROOT / "requirements/run.txt"
    kept = cache_folder().parent / f"image-{hashlib.sha256(locked.read_bytes()).hexdigest()[:12]}"
    if not kept.exists():
        draft = kept.with_name(f"{kept.name}.new")
        shutil.rmtree(draft, ignore_errors=True)
        kind = ["--only-binary=:all:", "--python-version=3.13", f"--dest={draft}"]
        kind += [f"--platform=manylinux_{libc}_{os.uname().machine}" for libc in ("2_28", "2_17")]
        pip = [sys.executable, "-m", "pip", "download", "--quiet", *kind]
        for what in (["--require-hashes", "--requirement", str(locked)], ["hatchling"]):
            subprocess.run([*pip, *what], check=True, timeout=600)
        draft.rename(kept)
    return kept


def _checkout(archive: Path) -> bytes:
    """What somebody has who cloned it, and put wheels where the page says."""
    asked = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    with tarfile.open(archive, "w") as tar:
        for name in filter(None, names.split("\0")):
            if (ROOT / name).exists() and not name.startswith(("tests/", "docs/", "bench/")):
                tar.add(ROOT / name, name)
        for wheel in _wheels().glob("*.whl"):
            tar.add(wheel, f"wheels/{wheel.name}")
    return archive.read_bytes()


@contextmanager
def _way_out(lab: Lab) -> Iterator[str]:
    """A proxy for the build, which installs packages of Debian."""
    with socket.socket() as free:
        free.bind((lab.gateway, 0))
        port = free.getsockname()[1]
    proxy = [sys.executable, str(ROOT / "molecule/shared/way_out.py"), lab.gateway, str(port)]
    with subprocess.Popen(proxy) as process:
        try:
            eventually(lambda: _listens(lab.gateway, port), 30, "the proxy listens")
            yield f"http://{lab.gateway}:{port}"
        finally:
            process.terminate()


def _listens(address: str, port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((address, port)) == 0


@pytest.fixture
def machine(lab: Lab, docker_node: str, tmp_path: Path) -> Iterator[Machine]:
    """One with the checkout and Debian's image; afterwards nothing of ours is left there."""
    clean(lab, NODE)
    one = Machine(lab, docker_node)
    one.run(f"mkdir -p {HERE} && tar xf - -C {HERE}", data=_checkout(tmp_path / "checkout.tar"))
    one.run(f"docker import - {BASE}", data=_base(), limit=300)
    one.run("umask 077; cat > /root/node-key", data=lab.key.read_bytes())
    registry = {
        "host": "registry.margrave.lab:5000",
        "address": lab.registry_address,
        "insecure": True,
    }
    settings = {"environment": {"MARGRAVE_REGISTRIES__JSON": json.dumps([registry])}}
    override = json.dumps({"services": {"controller": settings}})  # JSON is YAML
    one.run("cat > compose.override.yaml", data=override.encode())
    yield one
    one.run("docker compose --profile site down --volumes --timeout 10")
    one.run(f"docker image rm --force margrave {BASE}; docker image prune --all --force")
    one.run(f"cd / && rm -rf {HERE} /root/node-key")
    clean(lab, NODE)


def test_the_page_leads_to_an_application_on_a_node(machine: Machine, lab: Lab) -> None:
    """Line by line: image, first start, site, runner, node, application; and both are confined."""
    lines = [line for block in PAGE.blocks for line in block.lines if "docker" in block.text]
    with _way_out(lab) as proxy:
        build = f"docker build --build-arg http_proxy={proxy} --build-arg PIP_NO_INDEX=1"
        machine.words = {
            "docker build": build,
            "192.0.2.17": lab.node(NODE).address,
            "press-1": NODE,
            "~/.ssh/id_ed25519": "/root/node-key",
        }
        for line in lines:
            if "mgs_…" in line:  # the site is there, and its token is not in place yet
                _wrong_turns_before_the_token(machine)
            machine.types(line)
    _wrong_turns_of_a_node(machine)
    assert unexecuted("containers", machine.executed) == []

    answer = httpx.get(f"http://{lab.node(NODE).address}:8000/", timeout=10).json()
    assert answer == {"version": "1.0.0", "greeting": "hello"}
    for service, port in (("controller", 8800), ("runner", 8801)):
        _is_confined(machine, service, port)
    _holds_no_secret(machine)


def _wrong_turns_before_the_token(machine: Machine) -> None:
    """A token that is wrong or forgotten; a runner without the file that holds its own."""
    add = PAGE.line(" site add ")
    assert "margrave login" in machine.refuses(add, token="")
    assert "token" in machine.refuses(add, token="mgt_wrong")
    assert "site-token" in machine.refuses(PAGE.line("--profile site"))


def _wrong_turns_of_a_node(machine: Machine) -> None:
    """A pipe answers no question, and a name that is taken stays at its address."""
    add = PAGE.line(" node add ")
    unseen = add.replace("--yes ", "").replace("press-1", "press-2")
    assert "not confirmed" in machine.refuses(unseen)
    assert "is the node" in machine.refuses(add.replace("press-1", "press-2"))
    missing = PAGE.line(" source add ").replace("examples /apps", "others /gone")
    assert "local_roots" in machine.refuses(missing)


def _is_confined(machine: Machine, service: str, port: int) -> None:
    shown: Any = json.loads(machine.run(f"docker inspect margrave-{service}-1"))[0]
    assert shown["State"]["Health"]["Status"] == "healthy"
    assert shown["Config"]["User"] == "margrave"
    assert shown["HostConfig"]["ReadonlyRootfs"] is True
    assert shown["HostConfig"]["CapDrop"] == ["ALL"]
    assert [one["HostIp"] for one in shown["NetworkSettings"]["Ports"][f"{port}/tcp"]] == [
        "127.0.0.1"
    ]
    ready = json.loads(machine.run(f"curl --fail --silent http://127.0.0.1:{port}/readyz"))
    assert ready["status"] == "ok"


def _holds_no_secret(machine: Machine) -> None:
    """Neither a token nor a key, nor what lay beside in the checkout."""
    places = "ls -A /var/lib/margrave; cat /etc/margrave/margrave.toml; ls -A /src /root/.cache"
    found = machine.run(f"docker run --rm --user 0 margrave sh -c '{places}' 2>/dev/null || true")
    assert found == ""
    history = machine.run("docker history --no-trunc margrave") + machine.run(
        "docker inspect margrave"
    )
    assert not re.search(r"mg[ts]_\w|PRIVATE KEY", history)
