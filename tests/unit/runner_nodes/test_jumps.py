"""Which jump host stands in front of a node, and how ssh is led through it."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from margrave.errors import SettingsError
from runner import jumps, settings
from runner.execute.folders import Folders
from runner.execute.jump import proxy_command
from runner.ports import Jump

LINE = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG5xLh6Av0QCP3dVSMwtjGvgA3fW0HTgELOhnSDiDrgj"
PLANT = jumps.read("ops@gate.plant.example:2222", f"{LINE} root@gate")
REST = jumps.read("ops@192.0.2.1", LINE)
RULES = [(PLANT, ("10.1.0.0/16", "fd00::/8", "*.plant.example")), (REST, ())]


def test_a_jump_host_is_read_from_how_people_write_it() -> None:
    """The port is 22 where none is named; a comment behind the key is nobody's business."""
    assert Jump("gate.plant.example", 2222, "ops", LINE) == PLANT
    assert Jump("192.0.2.1", 22, "ops", LINE) == REST


@pytest.mark.parametrize(
    ("address", "jump"),
    [
        ("10.1.2.3", PLANT),
        ("10.2.2.3", REST),
        ("fd00::7", PLANT),
        ("press-1.plant.example", PLANT),
        ("PRESS-1.PLANT.EXAMPLE", PLANT),
        ("plant.example", REST),
    ],
)
def test_the_first_network_that_holds_an_address_counts(address: str, jump: Jump) -> None:
    """Numbers by network, names by pattern."""
    assert jumps.of(address, RULES) == jump
    assert jumps.of(address, RULES[:1]) == (PLANT if jump is PLANT else None)


def test_the_way_through_reads_as_one_word_and_asks_for_nothing(tmp_path: Path) -> None:
    """ssh fills in the node; keys and host keys are ours also on the way."""
    command = proxy_command(PLANT, "/state/ssh/id_ed25519", Folders(tmp_path), 7)
    words = shlex.split(command)
    assert words[-2:] == ["--", "gate.plant.example"]
    assert words[words.index("-W") + 1] == "[%h]:%p"
    assert "StrictHostKeyChecking=yes" in words and "BatchMode=yes" in words
    assert f'UserKnownHostsFile="{tmp_path}/known_hosts"' in words
    option = f"ProxyCommand={command}"
    asked = ["ssh", "-F", "/dev/null", "-o", option, "-G", "-p", "22", "10.1.2.3"]
    told = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert "proxycommand ssh -F /dev/null" in told


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('jump = "ops@gate"', "/ssh/jump_host_key"),
        (f'jump_host_key = "{LINE}"', "/ssh/jump_host_key"),
        (f'jump = "gate"\njump_host_key = "{LINE}"', "/ssh/jump"),
        (f'jump = "-oProxyCommand=x@gate"\njump_host_key = "{LINE}"', "/ssh/jump"),
        ('jump = "ops@gate"\njump_host_key = "SHA256:abc"', "/ssh/jump_host_key"),
        (
            f'jumps = [{{host = "ops@gate", host_key = "{LINE}", networks = ["10.1.0.0/8"]}}]',
            "/ssh/jumps/0/networks",
        ),
    ],
)
def test_half_a_jump_host_stops_the_start(tmp_path: Path, text: str, where: str) -> None:
    """Without its key it could be anybody; what could be an option to ssh is no host."""
    path = tmp_path / "margrave.toml"
    path.write_text(f'[site]\nname = "a"\n[git]\nremote = "/r"\n[ssh]\n{text}\n')
    with pytest.raises(SettingsError) as caught:
        settings.load(path, {})
    assert [one.pointer for one in caught.value.findings] == [where]


def test_a_jump_host_for_each_network_is_read(tmp_path: Path) -> None:
    """As TOML writes a list of tables."""
    path = tmp_path / "margrave.toml"
    path.write_text(
        '[site]\nname = "a"\n[git]\nremote = "/r"\n[[ssh.jumps]]\nhost = "ops@gate"\n'
        f'host_key = "{LINE}"\nnetworks = ["10.1.0.0/16", "*.plant"]\n'
    )
    assert settings.load(path, {}).ssh.jumps[0].networks == ("10.1.0.0/16", "*.plant")
