"""What a runner sends as a secret is on the node where it is used, and nowhere else."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from lab import Lab
from tests.support.hand import Hand
from tests.support.shop import ENGINES, Shop, Step

pytestmark = [pytest.mark.lab, pytest.mark.parametrize("shop", ENGINES, indirect=True)]

TOKEN = "hunter2-dont-tell"
SERVICE = "services: {{web: {{image: registry.margrave.lab:5000/idle:1, {more}}}}}\n"
GOOD = SERVICE.format(more='command: [/bin/idle, "${TOKEN}"]')
# Compose says what is wrong with a port, and the engine what it cannot start: both quote it.
EARLY = SERVICE.format(more='ports: ["${TOKEN}:80"]')
LATE = SERVICE.format(more='command: ["${TOKEN}"]')


def _content(shop: Shop, compose: str, folder: Path) -> dict[str, Any]:
    """What runs this file with the secret as its variable."""
    name = sha256(compose.encode()).hexdigest()
    package = folder / name
    package.mkdir(exist_ok=True)
    (package / "compose.yaml").write_text(compose)
    component = {
        "name": "web",
        "src": str(package),
        "variables": {"TOKEN": TOKEN},
        "timeout": 20,
    }
    return {**shop.content("1.0.0"), "revision": f"sha256:{name}", "components": [component]}


def _collected(lab: Lab, node: str, folder: Path) -> dict[str, str]:
    """A support bundle of the node, unpacked: names and texts."""
    hand, address = Hand(lab, folder), lab.node(node).address
    asked = json.dumps({**hand.login, "target": address, "into": str(folder / "collected")})
    words = ("-i", f"{address},", "playbooks/collect.yml", "-e", asked)
    played = hand.run("ansible-playbook", *words)
    assert played.code == 0, played.out
    found = (folder / "collected" / address).rglob("*")
    return {one.name: one.read_text() for one in found if one.is_file()}


@pytest.mark.full
def test_a_failure_leaves_no_secret_behind(lab: Lab, shop: Shop, tmp_path: Path) -> None:
    """Not in answers, journal and records, and not in what is collected for support."""
    content = {one: _content(shop, one, tmp_path) for one in (GOOD, EARLY, LATE)}
    told = {"secrets": [TOKEN]}

    answers = shop.call(
        Step("workload_install", {**content[GOOD], **told, **shop.fence(1)}),
        Step("workload_update", {**content[EARLY], **told, **shop.fence(2)}),
        Step("workload_update", {**content[LATE], **told, **shop.fence(3)}),
        # A person's playbook does not say what is secret.
        Step("workload_update", {**content[LATE], "force": True}),
    )
    bundle = _collected(lab, shop.node, tmp_path)
    holding = shop.ssh(f"grep -rlF -e {TOKEN} /var/lib/margrave /run/margrave || true").split()

    assert [one["state"] for one in answers] == ["INSTALLED", "FAILED", "FAILED", "FAILED"]
    assert [one["rolled_back"] for one in answers] == [False, False, True, True]
    assert all("[redacted]" in one["error"]["message"] for one in answers[1:]), answers
    assert TOKEN not in json.dumps(answers)
    # Compose needs the variables, and runs the model; only root enters these folders.
    known = {"web.env", "web.compose.json", "web.resolved.json", "secrets.json"}
    assert {Path(one).name for one in holding} <= known
    assert "web-1" in bundle["containers.txt"]
    assert {"journal.json", "fence.json", "workloads.json"} <= set(bundle)
    assert [name for name, text in bundle.items() if TOKEN in text] == []


def test_a_closed_umask_keeps_nobody_out(shop: Shop, tmp_path: Path) -> None:
    """On a hardened node files that a container mounts can be read by its own user."""
    compose = SERVICE.format(more='command: [/bin/idle], volumes: ["./settings:/settings:ro"]')
    content = _content(shop, compose, tmp_path)
    inside = Path(content["components"][0]["src"]) / "settings" / "deep"
    inside.mkdir(parents=True)
    (inside / "one.conf").write_text("x = 1\n")
    shop.ssh("printf '#!/bin/sh\\numask 077\\nexec /usr/bin/python3 \"$@\"\\n' >/root/closed")
    shop.ssh("chmod 755 /root/closed")

    shop.python = "/root/closed"
    installed = shop.one(Step("workload_install", content))
    folder = "/var/lib/margrave/deployments/*/releases/*"
    modes = shop.ssh(f"stat -c '%a %n' {folder} {folder}/*.env $(find {folder}/components)")

    assert installed["state"] == "INSTALLED", installed
    found = {line.split("/")[-1]: line.split()[0] for line in modes.splitlines()}
    assert {found[name] for name in ("components", "web", "settings", "deep")} == {"755"}
    assert found["one.conf"] == "644"
    assert found["web.env"] == "600"
    assert "700" in found.values()
