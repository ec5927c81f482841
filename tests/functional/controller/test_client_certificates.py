"""A controller that asks for certificates; who shows one: a runner, its Git, the command."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from controller.access.passwords import token_hash
from controller.publish.remote import Remote
from controller.settings import Git
from controller.store import Store, access
from controller.store.models import Site
from margrave.errors import MargraveError, Unreachable
from margrave.secret import Secret
from runner.outbox.client import Controller
from runner.settings import Controller as Line
from runner.source import Access, Clone
from tests.functional.controller.kit import NOON
from tests.functional.controller.test_serve import serving
from tests.support.authority import Authority
from tests.support.served import ROOT

MARGRAVE = Path(sys.executable).with_name("margrave")
DEPLOYMENT = "3f0c8f7e-5d0e-4c7a-9b1e-2f7f2a1c9d10"
BEAT: dict[str, Any] = {
    "protocol": 1,
    "runner": "6f0d1a52-8d1c-4e0c-9a43-0a1b2c3d4e5f",
    "epoch": 1,
    "at": "2026-03-01T12:00:00Z",
    "applied_commit": None,
    "nodes": [],
}


@dataclass(frozen=True)
class Shut:
    """Where it listens, and what opens it."""

    url: str
    authority: Authority
    cert: Path
    key: Path

    def line(self, *, pair: bool) -> Controller:
        """A runner's line, with the certificate or without."""
        shown = {"cert": self.cert, "key": self.key} if pair else {}
        line = Line.model_validate({"ca_file": self.authority.ca, **shown})
        return Controller(self.url, "harbor", Secret("runner-harbor"), line)


@pytest.fixture(scope="module")
def shut(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shut]:
    """A controller behind TLS that lets in who shows a certificate of its authority."""
    folder = tmp_path_factory.mktemp("shut")
    authority = Authority(folder)
    server, client = authority.pair("server"), authority.pair("client")
    known = ssl.create_default_context(cafile=authority.ca)
    known.load_cert_chain(*client)
    tls = {"cert": server[0], "key": server[1], "client_ca": authority.ca}
    with serving(folder, None, known, tls=tls) as (url, _):
        store = Store(f"sqlite:///{folder / 'state' / 'margrave.db'}")
        with store.write() as session:
            session.add(Site(name="harbor", created_at=NOON))
            session.flush()
            token = {"id": "one", "site": "harbor", "digest": token_hash("runner-harbor")}
            access.add_site_token(session, token | {"created_by": "test", "created_at": NOON})
        store.close()
        yield Shut(url, authority, *client)


def test_a_runner_that_shows_its_certificate_beats_reports_and_listens(shut: Shut) -> None:
    """Over connections of its own and kept ones."""
    line = shut.line(pair=True)
    for _ in range(2):
        assert line.heartbeat(BEAT)["time"]
    event = {"seq": 1, "at": BEAT["at"], "kind": "snapshot"}
    data = {"placements": [], "nodes": [], "site": {"locked": None, "halted": None}}
    body = {"protocol": 1, "runner": BEAT["runner"], "epoch": 1, "first_seq": 1}
    assert line.report({**body, "events": [{**event, "data": data}]}) == 1
    with line.stream() as events:
        assert events
    line.close()


def test_a_runner_that_shows_none_is_told_what_is_missing(shut: Shut) -> None:
    """Neither beat nor stream: trouble that names the settings, as far as TLS says why."""
    line = shut.line(pair=False)
    with pytest.raises(Unreachable) as beat:
        line.heartbeat(BEAT)
    with pytest.raises(Unreachable), line.stream():
        pass
    assert "controller.cert and controller.key" in str(beat.value)
    stranger = Controller(shut.url, "harbor", Secret("runner-harbor"), Line())
    with pytest.raises(Unreachable, match=r"controller\.ca_file"):
        stranger.heartbeat(BEAT)


def test_a_certificate_that_was_renewed_is_shown_without_a_restart(
    shut: Shut, tmp_path: Path
) -> None:
    """First one of another authority, then a broken pair, then the right one: each is told."""
    (tmp_path / "other").mkdir()
    other = Authority(tmp_path / "other", "somebody-else").pair("stranger")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    line = Line(ca_file=shut.authority.ca, cert=cert, key=key)
    runner = Controller(shut.url, "harbor", Secret("runner-harbor"), line)
    for theirs, mine in zip(other, (cert, key), strict=True):
        mine.write_bytes(theirs.read_bytes())
    with pytest.raises(Unreachable):
        runner.heartbeat(BEAT)
    cert.write_bytes(shut.cert.read_bytes())
    with pytest.raises(MargraveError, match=f"{key}: is not the key of {cert}"):
        runner.heartbeat(BEAT)
    key.write_bytes(shut.key.read_bytes())
    assert runner.heartbeat(BEAT)["time"]


def test_git_shows_it_to_the_repository_of_a_controller(shut: Shut, tmp_path: Path) -> None:
    """To a runner what its site runs comes through the same door."""
    remote = f"{shut.url}/git/deployments.git"
    way = {"ca_file": str(shut.authority.ca), "password": Secret("runner-harbor")}
    pair = {"cert": str(shut.cert), "key": str(shut.key)}
    clone = Clone(tmp_path / "with", Access(remote, **way, **pair))  # type: ignore[arg-type]
    assert clone.fetch()
    clone.close()
    with pytest.raises(Unreachable):
        Clone(tmp_path / "without", Access(remote, **way)).fetch()  # type: ignore[arg-type]


def test_a_controller_shows_its_own_to_a_forge(shut: Shut, tmp_path: Path) -> None:
    """Here the forge is another controller."""
    subprocess.run(["git", "init", "-q", "--bare", tmp_path], check=True)
    settings = {
        "remote": f"{shut.url}/git/deployments.git",
        "ca_file": shut.authority.ca,
        "password": "operator",
    }
    pair = {"cert": shut.cert, "key": shut.key}
    assert Remote(tmp_path, Git.model_validate(settings | pair)).fetch()
    with pytest.raises(Unreachable):
        Remote(tmp_path, Git.model_validate(settings)).fetch()


def margrave(
    shut: Shut, folder: Path, *words: str, **more: str
) -> subprocess.CompletedProcess[str]:
    """The command of somebody who believes the authority."""
    environment = {"SSL_CERT_FILE": str(shut.authority.ca), "XDG_CONFIG_HOME": str(folder)}
    return subprocess.run(
        [MARGRAVE, *words],
        input="viewer\n",
        env={"PATH": "/usr/bin:/bin", **environment, **more},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_command_shows_the_certificate_that_it_was_told_at_login(
    shut: Shut, tmp_path: Path
) -> None:
    """Once named it is kept with the token, also when one signs in again."""
    without = margrave(shut, tmp_path, "login", shut.url, "--token-stdin")
    assert (without.returncode, "--cert FILE --key FILE" in without.stderr) == (6, True)
    pair = ("--cert", str(shut.cert), "--key", str(shut.key))
    for words in (pair, ()):
        assert margrave(shut, tmp_path, "login", shut.url, "--token-stdin", *words).returncode == 0
    listed = margrave(shut, tmp_path, "site", "list", "-o", "name")
    assert (listed.returncode, listed.stdout) == (0, "harbor\n")


def test_the_command_takes_it_from_the_environment(shut: Shut, tmp_path: Path) -> None:
    """As scripts do, without any login."""
    script = {"MARGRAVE_URL": shut.url, "MARGRAVE_TOKEN": "viewer"}
    pair = {"MARGRAVE_CERT": str(shut.cert), "MARGRAVE_KEY": str(shut.key)}
    assert margrave(shut, tmp_path, "site", "list", **script, **pair).returncode == 0
    half = margrave(shut, tmp_path, "site", "list", **script, MARGRAVE_CERT=str(shut.cert))
    assert "a certificate and its key belong together" in half.stderr
    gone = pair | {"MARGRAVE_KEY": str(tmp_path / "gone")}
    told = margrave(shut, tmp_path, "site", "list", **script, **gone)
    assert f"{tmp_path / 'gone'}: cannot be read: No such file or directory" in told.stderr


def playbook(
    shut: Shut, folder: Path, *words: str | Path, **more: str
) -> subprocess.CompletedProcess[str]:
    """Ansible in this checkout, of an operator of the controller."""
    told = {"MARGRAVE_URL": shut.url, "MARGRAVE_TOKEN": "operator", "HOME": str(folder)}
    return subprocess.run(
        [MARGRAVE.with_name("ansible-playbook"), *words],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **told, **more},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_playbook_shows_it_for_the_inventory_and_for_tasks(shut: Shut, tmp_path: Path) -> None:
    """The fleet is read and a site is held against what a task says of it; without, neither."""
    fleet, play = tmp_path / "fleet.margrave.yml", tmp_path / "play.json"
    fleet.write_text(
        json.dumps({"plugin": "margrave.edge.fleet", "ca_path": str(shut.authority.ca)})
    )
    task = {"name": "harbor", "ca_path": str(shut.authority.ca)}
    tasks = [{"name": "The site", "margrave.edge.site": task}]
    play.write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]))

    pair = {"MARGRAVE_CERT": str(shut.cert), "MARGRAVE_KEY": str(shut.key)}
    shown = playbook(shut, tmp_path, "--check", "-i", fleet, play, **pair)
    hidden = playbook(shut, tmp_path, "--check", "-i", fleet, play)

    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "Failed to parse inventory" not in shown.stderr
    assert hidden.returncode != 0
    assert "Failed to parse inventory" in hidden.stderr


def test_what_a_playbook_did_is_told_with_it(shut: Shut, tmp_path: Path) -> None:
    """By the callback: the controller hears of it, and names what it does not know; without a
    certificate it hears nothing, and that is said."""
    hosts, play = tmp_path / "hosts.yml", tmp_path / "play.json"
    away = {"ansible_host": "127.0.0.1", "ansible_port": 1}
    hosts.write_text(json.dumps({"all": {"hosts": {"harbor-1.harbor": away}}}))
    delete = {"margrave.edge.workload_delete": {"deployment": DEPLOYMENT}}
    tasks = [{"name": "Delete", "ignore_unreachable": True, **delete}]
    play.write_text(json.dumps([{"hosts": "all", "gather_facts": False, "tasks": tasks}]))
    pair = {"MARGRAVE_CERT": str(shut.cert), "MARGRAVE_KEY": str(shut.key)}
    known = {"SSL_CERT_FILE": str(shut.authority.ca)}

    shown = playbook(shut, tmp_path, "-i", hosts, play, **known, **pair)
    hidden = playbook(shut, tmp_path, "-i", hosts, play, **known)

    assert (shown.returncode, hidden.returncode) == (0, 0), shown.stdout + shown.stderr
    assert f"harbor: the controller knows no deployment {DEPLOYMENT}" in said(shown)
    assert f"{shut.url}/api/v1/sites/harbor/runs: not reported:" in said(hidden)


def said(done: subprocess.CompletedProcess[str]) -> str:
    """Its warnings, which Ansible breaks into lines, as one."""
    return " ".join(done.stderr.split())
