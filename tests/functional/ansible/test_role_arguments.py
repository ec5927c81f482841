"""A role refuses a wrong value by its argument specification, before it does anything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.support.served import ROOT

ROLES = sorted(path.name for path in (ROOT / "roles").iterdir())


def _choices() -> dict[str, str]:
    """Role by option, of all options that have a list of choices."""
    return {
        name: role
        for role in ROLES
        for name, option in yaml.safe_load(
            (ROOT / f"roles/{role}/meta/argument_specs.yml").read_text()
        )["argument_specs"]["main"]["options"].items()
        if "choices" in option
    }


def _attempt(option: str, role: str) -> dict[str, Any]:
    """Run a role with a wrong value, and keep why it failed."""
    return {
        "block": [
            {"ansible.builtin.include_role": {"name": role}, "vars": {option: "nonsense"}},
        ],
        "rescue": [
            {
                "ansible.builtin.set_fact": {
                    "messages": "{{ messages | default({}) | combine({'"
                    + option
                    + "': ansible_failed_result.msg}) }}"
                }
            }
        ],
    }


def test_each_wrong_choice_is_named_with_the_choices(tmp_path: Path) -> None:
    """Other defaults may be made of the option: the answer is never an undefined variable."""
    choices = _choices()
    answers = tmp_path / "answers.json"
    tasks = [_attempt(option, role) for option, role in choices.items()]
    keep = {"ansible.builtin.copy": {"content": "{{ messages | to_json }}", "dest": str(answers)}}
    play = {
        "hosts": "node",
        "gather_facts": False,
        "vars": {"ansible_python_interpreter": sys.executable},
        "tasks": [*tasks, keep],
    }
    (tmp_path / "play.json").write_text(json.dumps([play]))
    # A host of the fleet may be reached by its name alone.
    (tmp_path / "hosts.yml").write_text("edge_nodes: {hosts: {node: {ansible_connection: local}}}")

    ran = subprocess.run(
        [Path(sys.executable).with_name("ansible-playbook"), "-i", "hosts.yml", "play.json"],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections"),
            "ANSIBLE_ROLES_PATH": str(ROOT / "roles"),
        },
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    assert answers.exists(), ran.stdout + ran.stderr
    messages = json.loads(answers.read_text())
    assert "edge_node_engine" in choices
    wrong = {
        option: messages.get(option)
        for option in choices
        if f"value of {option} must be one of: " not in str(messages.get(option))
    }
    assert wrong == {}
