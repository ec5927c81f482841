"""What a command said of a call is read like a module's answer."""

from __future__ import annotations

from typing import Any

from ansible_collections.margrave.edge.plugins.plugin_utils.direct_call import PLAIN, _read


def _said(stdout: str, rc: int = 0, stderr: str = "") -> dict[str, Any]:
    return {"stdout": stdout, "stderr": stderr, "rc": rc}


def test_an_answer_stands_on_a_line_of_its_own() -> None:
    """Whatever a login says around it."""
    assert _read(_said('Welcome\n{"changed": true}\n[1]\n')) == {"changed": True}


def test_names_of_ansibles_own_are_not_a_nodes_to_set() -> None:
    """As Ansible drops them from what modules answer."""
    assert _read(_said('{"changed": true, "_ansible_no_log": true}')) == {"changed": True}


def test_a_call_without_an_answer_has_failed() -> None:
    """With all that is known of it: a runner reads from the status that it was killed."""
    found = _read(_said("", 137, "Killed"))

    assert (found["failed"], found["rc"], found["module_stderr"]) == (True, 137, "Killed")


def test_an_interpreter_is_a_path() -> None:
    """What a shell would read as more than one goes Ansible's way."""
    plain = ["/usr/bin/python3", "/opt/venv-3.12/bin/python3.12"]
    assert all(PLAIN.fullmatch(one) for one in plain)
    others = ["python3", "/usr/bin/env python3", "/bin/$(id)", "auto", ""]
    assert not any(PLAIN.fullmatch(one) for one in others)
