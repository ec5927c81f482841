"""A look without Ansible: a plain answer is taken, all else is asked again the long way."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.execute.looks import Looks
from runner.ports import Status, Target

NODE = Target("harbor-1", "10.0.0.9", 22, "margrave", "/key", "ssh-ed25519 AAAA")
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/", "LC_ALL": "C.UTF-8", "TOKEN": "secret"}


class FakeSsh:
    """Runs a program of the test where ssh would run one; what it is given on stdin is kept."""

    def __init__(self, folder: Path, program: str) -> None:
        self.given = folder / "given"
        self.scripts: list[str] = []
        self.refusal = ""
        self._program = program

    def open(self, node: Target) -> str:
        """It is open, or what ssh says of it."""
        return self.refusal

    def command(self, node: Target, script: str) -> list[str]:
        """The test's program, which finds the file for its input in $1."""
        self.scripts.append(script)
        return ["sh", "-c", self._program, "sh", str(self.given)]


@pytest.fixture
def looks(tmp_path: Path) -> Callable[[str], tuple[Looks, FakeSsh]]:
    def of(program: str) -> tuple[Looks, FakeSsh]:
        ssh = FakeSsh(tmp_path, program)
        return Looks(ssh, ssh, ENVIRONMENT), ssh

    return of


def test_an_answer_is_read_as_the_modules(looks) -> None:
    """One command; a node that cannot tell has failed, with the module's own error."""
    look, ssh = looks("""echo '{"changed": false, "workloads": [], "fence": null}'""")
    assert look.look(NODE, "", 10) == (
        Status.OK,
        {"changed": False, "workloads": [], "fence": None},
    )
    assert len(ssh.scripts) == 1
    error = '{"class": "engine", "code": "no-engine", "message": "m", "cure": "c"}'
    failed, _ = looks(f"""echo '{{"error": {error}, "workloads": []}}'""")
    found = failed.look(NODE, "", 10)
    assert found is not None
    assert (found[0], found[1]["error"]["code"]) == (Status.FAILED, "no-engine")


def test_the_code_is_laid_down_where_it_is_missing(looks) -> None:
    """After a restart of the node /run is empty: the collection's code is sent, once."""
    program = """cat >"$1.now"; head -c 2 "$1.now" | grep -q PK && { mv "$1.now" "$1"; exit; }
    [ -e "$1" ] && echo '{"workloads": []}' || exit 66"""
    look, ssh = looks(program)
    found = look.look(NODE, "", 10)
    assert found is not None
    assert found[0] is Status.OK
    assert len(ssh.scripts) == 3
    with zipfile.ZipFile(io.BytesIO(ssh.given.read_bytes())) as archive:
        names = {Path(name).name for name in archive.namelist()}
    assert {"_look.py", "_info.py", "_engine.py"} <= names


def test_a_node_that_is_away_is_unreachable(looks) -> None:
    """ssh's own status tells it, and its words have a class."""
    look, _ = looks("echo 'Host key verification failed.' >&2; exit 255")
    found = look.look(NODE, "", 10)
    assert found is not None
    assert found[0] is Status.UNREACHABLE
    assert found[1]["error"]["code"] == "host-key-changed"


def test_a_node_that_cannot_be_reached_is_not_asked(looks) -> None:
    """What ssh said when it tried is the answer; a second try would knock for nothing."""
    look, ssh = looks("echo '{}'")
    ssh.refusal = "ssh: connect to host 10.0.0.9 port 22: No route to host"
    found = look.look(NODE, "", 10)
    assert found is not None
    assert (found[0], found[1]["error"]["code"]) == (Status.UNREACHABLE, "unreachable")
    assert "no route" in found[1]["error"]["message"]
    assert ssh.scripts == []


def test_what_is_no_answer_is_asked_the_long_way(looks) -> None:
    """No Python, no sudo, half an answer: Ansible's way knows what each of them means."""
    for program in ("exit 1", "echo '{\"workloads\"'", "echo '[]'", "exit 127"):
        look, _ = looks(program)
        assert look.look(NODE, "", 10) is None


def test_nothing_of_the_runners_environment_is_passed_on(looks, tmp_path: Path) -> None:
    """Tokens live there."""
    look, ssh = looks('env >"$1"; echo "{}"')
    look.look(NODE, "", 10)
    assert "TOKEN" not in ssh.given.read_text()


def test_a_deployment_is_data_and_no_shell_text(looks) -> None:
    """Whatever it holds goes to standard input, and no process list shows it."""
    look, ssh = looks("""cat >"$1"; echo '{}'""")
    look.look(NODE, "x; reboot", 10)
    assert json.loads(ssh.given.read_text()) == {"params": {"deployment": "x; reboot"}}
    assert "reboot" not in ssh.scripts[0]
