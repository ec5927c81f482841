"""What a run is given of the world, and what it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.execute.environment import environment
from runner.execute.folders import ROOM_FOR_SOCKET, Folders
from runner.execute.run import _Config
from runner.execute.rundir import RunFolder

COLLECTIONS = Path("/opt/collections")


def test_nothing_of_the_process_environment_is_passed_on_unasked(tmp_path) -> None:
    """Tokens, foreign Ansible settings and agents stay outside; the time zone may pass."""
    own = {
        "MARGRAVE_CONTROLLER__TOKEN": "secret",
        "ANSIBLE_HOST_KEY_CHECKING": "False",
        "SSH_AUTH_SOCK": "/tmp/agent",
        "TZ": "Europe/Oslo",
    }
    made = environment(Folders(tmp_path), COLLECTIONS, 10, own=own)
    assert "secret" not in str(made)
    assert "SSH_AUTH_SOCK" not in made
    assert made["TZ"] == "Europe/Oslo"
    assert made["ANSIBLE_HOST_KEY_CHECKING"] == "True"


def test_what_ansible_runner_prepares_is_ours_and_its_event_stream(tmp_path, monkeypatch) -> None:
    """ansible-runner copies the process environment and switches key checking off; not here."""
    monkeypatch.setenv("MARGRAVE_DATABASE__URL", "postgresql://somebody")
    monkeypatch.setenv("ANSIBLE_CALLBACK_PLUGINS", "/somewhere")
    ours = environment(Folders(tmp_path), COLLECTIONS, 10)
    folder = RunFolder(tmp_path / "run")
    folder.path.mkdir()
    config = _Config(folder, ours, ["ansible-playbook", "play.yml"])
    config.prepare()
    assert set(config.env) - set(ours) == {
        "AWX_ISOLATED_DATA_DIR",
        "RUNNER_OMIT_EVENTS",
        "RUNNER_ONLY_FAILED_EVENTS",
    }
    assert {name: config.env[name] for name in ours} == ours
    assert config.command == ["ansible-playbook", "play.yml"]


def test_ssh_reads_nobodys_configuration(tmp_path) -> None:
    """Host keys come from our file alone, and connections stay open for the next run."""
    arguments = environment(Folders(tmp_path), COLLECTIONS, 7)["ANSIBLE_SSH_ARGS"]
    assert arguments.startswith("-F /dev/null")
    for option in (
        f'UserKnownHostsFile="{tmp_path}/known_hosts"',
        "StrictHostKeyChecking=yes",
        "ConnectTimeout=7",
        "ControlPersist=300s",
    ):
        assert option in arguments


def test_control_sockets_have_room_however_deep_the_state_folder_lies(tmp_path) -> None:
    """A state folder with a long path keeps its sockets elsewhere, in the same place each time."""
    near, far = Folders(Path("/srv/m")), Folders(tmp_path / ("deep" * 30))
    assert near.control == Path("/srv/m/c")
    assert len(str(far.control)) <= ROOM_FOR_SOCKET
    assert far.control == Folders(far.root).control
    assert far.control != Folders(far.root / "x").control


def test_folders_are_private(tmp_path) -> None:
    """Nobody else reads arguments or uses connections; a folder open to others is refused."""
    folders = Folders(tmp_path / "execute")
    folders.make()
    for folder in (folders.root, folders.runs, folders.home, folders.control):
        assert folder.stat().st_mode & 0o777 == 0o700
    folders.control.chmod(0o755)
    with pytest.raises(Exception, match="not a private folder"):
        folders.make()
