"""The collection's code is laid down whole, for its user alone, and called there by its digest."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _direct
from ansible_collections.margrave.edge.plugins.plugin_utils import node_code
from ansible_collections.margrave.edge.plugins.plugin_utils.node_code import NodeCode

from tests.support import imported

CODE = node_code.node_code()
# This one, and all others that are here: a node has the one that its distribution has.
PYTHONS = sorted(
    {sys.executable}
    | {
        path
        for version in range(9, 15)
        if (path := shutil.which(f"python3.{version}"))
        and not subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode
    }
)
BASE = 'base = "/run/user/%d" % user if user else "/run"'
LOOK = json.dumps({"params": {"deployment": None}}).encode()


class Node:
    """This machine, with another folder in place of /run."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(0o700)
        self.folder = folder
        self.place = folder / "margrave-code"

    def run(self, text: str, given: bytes) -> subprocess.CompletedProcess[bytes]:
        """What a program of ours comes to here."""
        assert BASE in text
        text = text.replace(BASE, f'base = "{self.folder}"')
        return subprocess.run(text, shell=True, input=given, capture_output=True, check=False)

    def lay(self, code: NodeCode = CODE) -> int:
        """The exit code of laying the code down."""
        return self.run(code.lay(sys.executable), code.archive).returncode

    def call(self, code: NodeCode = CODE) -> subprocess.CompletedProcess[bytes]:
        """What a look comes to."""
        return self.run(code.call(sys.executable, "info"), LOOK)


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path / "run")


def test_what_is_there_is_called(node: Node) -> None:
    """First it is not there, and nothing is done; laid down, it answers like the module."""
    assert node.call().returncode == node_code.NOT_THERE

    assert node.lay() == 0
    done = node.call()

    assert done.returncode == 0, done.stderr
    assert "workloads" in json.loads(done.stdout)


def test_the_folder_is_its_users_alone(node: Node) -> None:
    """Nobody else can read what is laid down, or put anything beside it."""
    node.lay()

    found = [node.place, *node.place.rglob("*")]
    assert len(found) > 40
    assert [one for one in found if one.stat().st_mode & 0o077] == []


@pytest.mark.parametrize("part", ["", CODE.digest])
def test_a_folder_that_others_can_write_to_is_refused(node: Node, part: str) -> None:
    """What they might have put there is not imported, and nothing is laid down beside it."""
    node.lay()
    (node.place / part).chmod(0o770)

    assert node.call().returncode == node_code.NOT_HERE
    if not part:
        assert node.lay() == node_code.NOT_HERE


def test_a_link_is_no_folder(node: Node, tmp_path: Path) -> None:
    """Not even one that leads to a folder of the user's own."""
    other = Node(tmp_path / "other")
    other.lay()
    node.place.symlink_to(other.place)

    assert node.call().returncode == node_code.NOT_HERE
    assert node.lay() == node_code.NOT_HERE


def test_a_folder_of_somebody_else_is_refused(node: Node) -> None:
    """They could have put code there."""
    node.lay()
    text = CODE.call(sys.executable, "info").replace("os.geteuid()", "os.geteuid() + 1")

    assert node.run(text, LOOK).returncode == node_code.NOT_HERE


def test_an_older_python_is_left_to_ansible(node: Node) -> None:
    """It knows how to say so."""
    node.lay()
    text = CODE.call(sys.executable, "info").replace("(3, 9)", "(99, 0)")

    assert node.run(text, LOOK).returncode == node_code.NOT_HERE


def test_the_one_before_stays(node: Node) -> None:
    """A call of it may be at work; what is older goes, and no draft is left."""
    for name in ("1" * 16, "2" * 16, "3" * 16, "3" * 16):
        assert node.lay(replace(CODE, digest=name)) == 0

    assert sorted(one.name for one in node.place.iterdir()) == ["2" * 16, "3" * 16]


def test_half_a_transfer_is_nothing(node: Node) -> None:
    """What is laid down is whole or not there."""
    node.lay(replace(CODE, archive=CODE.archive[:5000]))

    assert node.call().returncode == node_code.NOT_THERE


def test_what_the_node_has_of_that_name_is_not_imported(node: Node) -> None:
    """A node may have Ansible itself, or an older collection of ours."""
    node.lay()
    packages = {one.parent.name for one in (node.place / CODE.digest).rglob("__init__.py")}

    assert packages == set(node_code.PACKAGE)


@pytest.mark.parametrize("kind", sorted(_direct.WORKS))
def test_a_kind_needs_nothing_but_python(node: Node, kind: str) -> None:
    """All that it imports is ours or the standard library's: of Ansible there is nothing."""
    node.lay()
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        f"from {'.'.join(node_code.PACKAGE)}._direct import of; of(sys.argv[2]);"
        "print(*sys.modules)"
    )
    code = str(node.place / CODE.digest)
    words = [sys.executable, "-I", "-S", "-c", script, code, kind]
    done = subprocess.run(words, capture_output=True, text=True, check=True)

    loaded = {name.rpartition(".")[2] for name in done.stdout.split() if "module_utils._" in name}
    assert _direct.WORKS[kind][0] in loaded
    # By this part the tests of faults know the call that proves what an update has gone back to.
    assert ("_rollback" in loaded) == (kind == "rollback")


@pytest.mark.parametrize("kind", sorted(_direct.WORKS))
@pytest.mark.parametrize("python", PYTHONS)
def test_a_call_imports_nothing_costly(node: Node, kind: str, python: str) -> None:
    """A call is half made of its imports: on twenty nodes at once they are what is waited for."""
    node.lay()
    done = node.run(imported.command(python, kind), LOOK)

    loaded = set(done.stdout.decode().split())
    assert f"{imported.PACKAGE}._engine" in loaded, done.stderr
    assert loaded & imported.COSTLY == set()


def _said(stdout: str, rc: int = 0, stderr: str = "") -> dict[str, Any]:
    return {"stdout": stdout, "stderr": stderr, "rc": rc}


def test_an_answer_stands_on_a_line_of_its_own() -> None:
    """Whatever a login says around it."""
    assert node_code.read(_said('Welcome\n{"changed": true}\n[1]\n')) == {"changed": True}


def test_names_of_ansibles_own_are_not_a_nodes_to_set() -> None:
    """As Ansible drops them from what modules answer."""
    assert node_code.read(_said('{"changed": true, "_ansible_no_log": true}')) == {"changed": True}


def test_a_call_without_an_answer_has_failed() -> None:
    """With all that is known of it: a runner reads from the status that it was killed."""
    found = node_code.read(_said("", 137, "Killed"))

    assert (found["failed"], found["rc"], found["module_stderr"]) == (True, 137, "Killed")


def test_an_interpreter_is_a_path() -> None:
    """What a shell would read as more than one goes Ansible's way."""
    plain = ["/usr/bin/python3", "/opt/venv-3.12/bin/python3.12"]
    assert all(node_code.PLAIN.fullmatch(one) for one in plain)
    others = ["python3", "/usr/bin/env python3", "/bin/$(id)", "auto", ""]
    assert not any(node_code.PLAIN.fullmatch(one) for one in others)
