"""A task's parameters may stand in a file for each host: what is in it is never a template."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible_collections.margrave.edge.plugins.plugin_utils import arguments_file
from ansible_collections.margrave.edge.plugins.plugin_utils.workload_action import WorkloadAction


def _arguments(args: dict[str, Any]) -> dict[str, Any]:
    action = object.__new__(WorkloadAction)
    action._task = SimpleNamespace(args=args)
    action._loader = SimpleNamespace(path_dwim=str)
    return action._arguments("node-1")


def test_each_host_has_a_file_of_its_own(tmp_path: Path) -> None:
    """It goes before what the task says, as it is."""
    said = {"deployment": "d", "name": "{{ lookup('pipe', 'id') }}"}
    (tmp_path / "node-1.json").write_text(json.dumps(said))
    (tmp_path / "node-2.json").write_text("{}")

    task = {"arguments_from": str(tmp_path), "force": True, "deployment": "another"}
    assert _arguments(task) == {"force": True, **said}


def test_one_file_may_hold_the_parameters_of_all_hosts(tmp_path: Path) -> None:
    """A line for each; a name that is a part of another one, or stands in a value, is no match."""
    said = {"deployment": "d", "name": "{{ x }}", "text": "a\nnode-2\t{}\nü"}
    given = {"node-10": {}, "node-1": said, "node-2": {"deployment": "e"}}
    file = tmp_path / "arguments"
    file.write_bytes(arguments_file.dump(given))
    assert _arguments({"arguments_from": str(file), "force": True}) == {"force": True, **said}


@pytest.mark.parametrize(
    ("content", "words"),
    [("", "no line for node-1"), ("node-2\t{}\n", "no line"), ("node-1\t[]\n", "no mapping")],
)
def test_a_file_without_the_host_ends_the_task(tmp_path: Path, content: str, words: str) -> None:
    """With the file's and the host's name; what else is in the file is not repeated."""
    file = tmp_path / "arguments"
    file.write_text(content)
    with pytest.raises(AnsibleActionFail, match=words) as told:
        _arguments({"arguments_from": str(file)})
    assert f"{file} " in str(told.value)


def test_without_a_folder_the_task_says_all() -> None:
    """The usual way of a playbook."""
    assert _arguments({"deployment": "d"}) == {"deployment": "d"}


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "No such file"), ("{half", "cannot be read"), ("[1]", "no mapping")],
)
def test_what_cannot_be_read_ends_the_task(tmp_path: Path, content: str | None, words: str) -> None:
    """With the file's name: nothing has travelled to the node yet."""
    if content is not None:
        (tmp_path / "node-1.json").write_text(content)

    with pytest.raises(AnsibleActionFail, match=words) as told:
        _arguments({"arguments_from": str(tmp_path)})
    assert f"{tmp_path} " in str(told.value)
