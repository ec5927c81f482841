"""The pure parts of the demo, and its processes."""

from __future__ import annotations

import os
import signal
import socket
import sys
import tomllib
from pathlib import Path

import pytest

from demo import configuration, memory, ports
from demo.places import node_names, site_of
from demo.processes import Process, environment, started, until


@pytest.mark.parametrize(
    ("count", "more"),
    [
        (3, []),
        (4, ["depot-2"]),
        (7, ["depot-2", "harbor-3", "depot-3", "harbor-4"]),
    ],
)
def test_nodes_are_spread_over_the_sites(count: int, more: list[str]) -> None:
    """Three at least; what is added goes to each site in turn."""
    assert node_names(count) == ["harbor-1", "harbor-2", "depot-1", *more]
    assert len(set(node_names(20))) == 20
    assert {site_of(name) for name in node_names(20)} == {"harbor", "depot"}


def test_a_runners_configuration_is_toml() -> None:
    """Whatever stands in a token, it is read back as it was."""
    text = configuration.runner("harbor", 'a"b\\c\x7f€', "hook")

    found = tomllib.loads(text)

    assert found["controller"]["token"] == found["git"]["password"] == 'a"b\\c\x7f€'
    assert found["http"] == {"bind": "127.0.0.1:8801"}
    assert found["hooks"]["secrets"] == ["hook"]


def test_the_controllers_configuration_names_registry_and_examples() -> None:
    """Registries are an array of tables."""
    found = tomllib.loads(configuration.controller(Path("/x/apps"), "10.0.0.1:5000"))

    assert found["catalog"]["local_roots"] == ["/x/apps"]
    assert found["registries"] == [
        {"host": "registry.margrave.lab:5000", "address": "10.0.0.1:5000", "insecure": True}
    ]


def test_memory_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Tokens lie in a file of mode 0600; a new memory has a secret of its own."""
    path = tmp_path / "deep" / "memory.json"
    first = memory.load(path)
    first.token = "t"
    memory.keep(path, first)

    assert memory.load(path) == first
    assert path.stat().st_mode & 0o777 == 0o600
    assert memory.load(tmp_path / "other").webhook_secret != first.webhook_secret


def test_a_file_that_is_as_wished_is_not_written(tmp_path: Path) -> None:
    """So a second run restarts nothing."""
    assert memory.write_private(tmp_path / "a", "x")
    assert not memory.write_private(tmp_path / "a", "x")
    assert memory.write_private(tmp_path / "a", "y")


SCRIPT = (
    "import os, signal, subprocess, sys, time\n"
    "child = subprocess.Popen(['sleep', '600'])\n"
    "open('draft', 'w').write(str(child.pid))\n"
    "os.rename('draft', 'ready')\n"
    "signal.pause()\n"
)


@pytest.fixture
def process(tmp_path: Path) -> Process:
    """A process with a child of its own, running."""
    found = Process("part", (sys.executable, "-c", SCRIPT), tmp_path)
    found.start()
    assert until(lambda: (tmp_path / "ready").exists(), 10)
    return found


def _child(process: Process) -> int:
    return int((process.folder / "ready").read_text())


def test_a_process_is_known_again_and_ended_whole(process: Process) -> None:
    """The process and what it started are gone after stop."""
    same = Process("part", (), process.folder)
    pid = same.pid()

    assert pid == process.pid()
    assert same.stop()
    assert pid is not None and started(pid) is None
    assert until(lambda: started(_child(process)) is None, 10)
    assert same.pid() is None
    assert not same.stop()


def test_what_a_killed_process_left_is_swept(process: Process) -> None:
    """Killed hard, its workers would go on holding the port."""
    pid = process.pid()
    assert pid is not None
    process.sweep()
    assert started(_child(process)) is not None  # nothing is swept while it lives

    os.kill(pid, signal.SIGKILL)
    assert until(lambda: started(pid) is None, 10)
    process.sweep()

    assert until(lambda: started(_child(process)) is None, 10)


def test_a_number_used_again_is_not_our_process(tmp_path: Path) -> None:
    """The start time is part of the mark."""
    process = Process("part", (), tmp_path)
    process.mark.write_text(f'{{"pid": {os.getpid()}, "started": "1"}}')

    assert process.pid() is None


def test_processes_do_not_inherit_configuration() -> None:
    """A variable of the caller's shell must not override the file."""
    found = environment({"MARGRAVE_GIT__REMOTE": "x", "PATH": "/bin"})

    assert "MARGRAVE_GIT__REMOTE" not in found
    assert found["PATH"] == "/bin"


def test_a_busy_port_is_told_with_its_holder() -> None:
    """The error names the process."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]

        assert not ports.is_free("127.0.0.1", port)
        assert f"pid {os.getpid()}" in ports.holder(port)
    assert ports.is_free("127.0.0.1", port)


def test_the_environment_can_be_read_by_a_shell() -> None:
    """Values stand as they are, but for a path with a space, as of a checkout below one."""
    lines = configuration.environment({"URL": "http://a:b@127.0.0.1:1/x.git", "CLI": "/a b/c"})
    assert lines == "URL=http://a:b@127.0.0.1:1/x.git\nCLI='/a b/c'\n"
