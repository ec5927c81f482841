"""A component's folder is looked for where Ansible looks for files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.served import ROOT

SERVICES = "services: {web: {image: web}}\n"
OTHER = "sha256:" + "0" * 64


def _component(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "compose.yaml").write_text(SERVICES)


def _task(src: str) -> dict[str, Any]:
    """Install a component under a wrong digest, which ends the task once the folder is read."""
    component = {"name": "web", "src": src, "digest": OTHER}
    arguments = {
        "deployment": "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f",
        "name": "shop",
        "application": "shop",
        "components": [component],
    }
    return {"margrave.edge.workload_install": arguments}


def _message(folder: Path, play: dict[str, Any]) -> str:
    """Return the output of ansible-playbook for a play on this machine."""
    (folder / "play.json").write_text(json.dumps([{"hosts": "localhost", **play}]))
    ran = subprocess.run(
        [
            Path(sys.executable).with_name("ansible-playbook"),
            *("-i", "localhost,", "-c", "local", "play.json"),
        ],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections"),
            "ANSIBLE_ROLES_PATH": str(folder / "roles"),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return " ".join((ran.stdout + ran.stderr).split())


@pytest.mark.parametrize("place", ["roles/shop/files/app", "files/app", "app"])
def test_a_folder_is_found_in_the_role_and_beside_the_play(tmp_path: Path, place: str) -> None:
    """In `files/` of the role first, then in `files/` beside the play, then beside the play."""
    _component(tmp_path / place)
    tasks = tmp_path / "roles/shop/tasks/main.yml"
    tasks.parent.mkdir(parents=True)
    tasks.write_text(json.dumps([_task("app")]))

    message = _message(tmp_path, {"gather_facts": False, "roles": ["shop"]})

    assert f"wanted is {OTHER}" in message


def test_a_folder_that_is_nowhere_is_named_with_its_component(tmp_path: Path) -> None:
    """With all the places where it was looked for."""
    message = _message(tmp_path, {"gather_facts": False, "tasks": [_task("app")]})

    assert "components.web.src: " in message
    assert f"{tmp_path}/files/app" in message
    assert f"{tmp_path}/app" in message
