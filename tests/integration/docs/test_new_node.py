"""`docs/howto/new-node.md` on two boxes: they come, move, are drained and go; and wrong turns."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.integration.docs import box
from tests.integration.docs.accounts import unexecuted
from tests.integration.docs.pages import Page
from tests.integration.docs.reader import Reader, start, start_of_site
from tests.support.shop import clean
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.full]

PAGE = Page("new-node")
ADD, ADD_SECOND = PAGE.block("$ margrave node add --site harbor --identity").lines
TILL = "harbor-2"
PASSWORD = "it's 1"
# A user of the second box, whose sudo asks for the password, and how sshd lets it in with one.
PI = """
useradd -m -s /bin/sh pi && echo "pi:it's 1" | chpasswd
echo 'pi ALL=(ALL) ALL' > /etc/sudoers.d/pi
echo 'PasswordAuthentication yes' > /etc/ssh/sshd_config.d/00-test.conf
systemctl restart ssh
"""
NO_PI = """
rm -f /etc/sudoers.d/pi /etc/ssh/sshd_config.d/00-test.conf
userdel -rf pi
systemctl restart ssh
"""


@pytest.fixture(scope="module")
def site(reader: Reader, lab: Lab) -> Iterator[Reader]:
    """Return a reader with a controller and a runner that serve, and no node yet."""
    clean(lab, TILL)
    lab.ssh(TILL, PI, check=True)
    subnet = lab.gateway.rpartition(".")[0]
    reader.words |= {
        "till-4": TILL,
        "192.0.2.44": lab.node(TILL).address,
        "192.0.2.18": f"{subnet}.218",
        "192.0.2.99": f"{subnet}.219",  # nobody is there
    }
    reader.follow(start_of_site())
    yield reader
    lab.ssh(box.NODE, f"ip address del {subnet}.218/24 dev {_device(lab)}")
    lab.ssh(TILL, NO_PI, check=False)
    clean(lab, TILL)


def _device(lab: Lab) -> str:
    """Return the shell words for the network device of the box."""
    address = lab.node(box.NODE).address
    return f"$(ip -o -4 address | awk '$4 ~ /^{address}/ {{print $2; exit}}')"


def _nodes(reader: Reader) -> list[str]:
    answer = json.loads(reader.type("margrave runner status -o json"))
    return [node["name"] for node in answer["nodes"]]


def _traces(lab: Lab, node: str) -> str:
    """Return what a runner has left on a box: its rule for sudo, its mark, its key."""
    command = "ls /etc/sudoers.d/margrave-* /var/lib/margrave; cat ~margrave/.ssh/authorized_keys"
    return str(lab.ssh(node, command, check=False).stdout)


@pytest.mark.parametrize(
    ("old", "new", "answer", "code", "words"),
    [
        ("--site harbor", "--site depot", "y\n", 5, "name its --config"),
        ("--identity ~/.ssh/id_ed25519", "--identity gone", "y\n", 2, "gone"),
        ("--identity ~/.ssh/id_ed25519", "--identity other", "y\n", 5, "refuses the login of root"),
        (
            "--identity",
            f"--host-key SHA256:{'A' * 43} --identity",
            "",
            5,
            "the host key is SHA256:",
        ),
        ("192.0.2.17", "192.0.2.99", "y\n", 6, "192.0.2.99"),
        ("", "", "n\n", 1, "nothing was changed"),
        ("", "", "", 2, "add --yes"),
        ("--identity ~/.ssh/id_ed25519", "", "y\n", 5, "--identity or --password-stdin"),
        ("press-1", "Press.1", "y\n", 5, "name"),
    ],
)
def test_a_wrong_turn_adds_nothing(
    site: Reader, lab: Lab, old: str, new: str, answer: str, code: int, words: str
) -> None:
    """Wrong site, login, host key, address, name or answer: refused with a cure."""
    if not (site.folder / "other").exists():
        key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(site.folder / "other")]
        subprocess.run(key, check=True)
    before = _traces(lab, box.NODE)
    refused = site.type(ADD.replace(old, new) if old else ADD, code, answer=answer)
    assert site.replaced(words) in refused, refused
    assert "Traceback" not in refused
    assert _nodes(site) == []
    assert _traces(lab, box.NODE) == before


def test_two_nodes(site: Reader, lab: Lab) -> None:
    """Added with a key and with a password; listed; one moves, is drained and removed."""
    site.type(ADD, answer="y\n")
    site.type("margrave deploy storefront@1.0.0 --site harbor --wait")
    assert box.version(lab) == "1.0.0"
    assert "refuses the login of pi" in site.type(ADD_SECOND, 5, answer="y\nwrong\n")
    site.type(ADD_SECOND, answer=f"y\n{PASSWORD}\n")
    listing, show = PAGE.block("$ margrave node list").lines
    eventually(lambda: site.type(listing).count("active") == 2, 120, "both nodes are active")
    assert lab.node(box.NODE).address in site.type(show)
    assert "zone=shop" in site.type(show.replace("press-1", "till-4"))

    _move(site, lab)
    _drain(site, lab)
    remove, forget = PAGE.lines(" node remove ")
    eventually(lambda: box.version(lab) == "", 120, "nothing runs there")
    site.type(remove, answer="y\n")
    assert "/etc/sudoers.d" not in _traces(lab, box.NODE)
    lab.fail(TILL, kill=True)
    try:
        site.type(forget, answer="y\n")
    finally:
        lab.heal(TILL)
    assert _nodes(site) == []
    assert unexecuted("new-node", site.executed) == []


def _move(site: Reader, lab: Lab) -> None:
    """A name that is at another address is refused, unless the node has moved."""
    move = PAGE.line("--replace")
    address = site.replaced("192.0.2.18")
    lab.ssh(box.NODE, f"ip address add {address}/24 dev {_device(lab)}", check=True)
    refused = site.type(move.replace("--replace ", ""), 5, answer="y\n")
    assert "is at" in refused and "--replace" in refused, refused
    taken = site.type(move.replace("press-1 192.0.2.18", "press-9 192.0.2.17"), 5, answer="y\n")
    assert "margrave node remove" in taken, taken
    other = site.type(move.replace("192.0.2.18", "192.0.2.44"), 5, answer="y\n")
    assert "already" in other, other
    site.type(move, answer="y\n")
    eventually(lambda: address in site.type("margrave node show press-1"), 60, "it has moved")
    assert box.version(lab) == "1.0.0"


def _drain(site: Reader, lab: Lab) -> None:
    """A plan shows the drain before it; a node that still has a deployment is not removed."""
    [body] = PAGE.texts("json")
    site.executed.add(body)
    with site.api() as api:
        plan = api.post("/plans", json=json.loads(site.replaced(body)))
    assert plan.status_code == 200, plan.text
    steps = [node for part in plan.json()["plan"]["sites"] for node in part["nodes"]]
    assert {"node": box.NODE, "action": "delete"}.items() <= steps[0].items()

    remove, _ = PAGE.lines(" node remove ")
    assert "--forget" in site.type(remove, 5, answer="y\n")
    drain = PAGE.line(" drain ")
    assert "no node is called" in site.type(drain.replace("press-1", "press-9"), 3)
    assert "add --yes" in site.type(drain, 2, answer="")
    assert box.version(lab) == "1.0.0"
    site.type(drain, answer="y\n")


def test_a_machine_of_another_site_is_refused(site: Reader, lab: Lab, tmp_path: Path) -> None:
    """Nothing is changed on it, and its own runner goes on working."""
    site.type(ADD, answer="y\n")
    before = _traces(lab, box.NODE)
    other = Reader(tmp_path, site.words)
    other.url = site.url
    token = json.loads(site.type("margrave site add yard -o json"))["token"]
    other.words["…"] = token
    try:
        part = start().partition("write `margrave.toml`")[2].partition("```toml\n")[2]
        other.write(other.runner_file, part.partition("```")[0].replace("harbor", "yard"))
        other.start("runner")
        refused = other.type(ADD.replace("harbor", "yard"), 5, answer="y\n")
    finally:
        other.close()
    assert "site harbor" in refused and "remove" in refused, refused
    assert _traces(lab, box.NODE) == before
    site.type(PAGE.lines(" node remove ")[0], answer="y\n")
