"""A call without root's rights is refused before it does anything else."""

from __future__ import annotations

import json
import os
from importlib import import_module
from typing import Any

import pytest
from ansible.module_utils import basic

ID = "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f"
DIGEST = "sha256:" + "0" * 64
CONTENT = {
    "name": "shop",
    "application": "shop",
    "components": [{"name": "web", "digest": DIGEST, "archive": "content"}],
}
PARAMETERS: dict[str, dict[str, Any]] = {
    "workload_install": {"deployment": ID, **CONTENT},
    "workload_update": {"deployment": ID, **CONTENT},
    "workload_prefetch": {"deployment": ID, **CONTENT},
    "workload_rollback": {"deployment": ID},
    "workload_delete": {"deployment": ID},
    "workload_info": {},
    "node_info": {},
}
MODULES = "ansible_collections.margrave.edge.plugins.modules"
DIRECT = "ansible_collections.margrave.edge.plugins.module_utils._direct"
SETTINGS = {"check_mode": False, "diff": False, "no_log": True}


def _assert_refused(answer: dict[str, Any]) -> None:
    assert answer["error"]["class"] == "auth"
    assert answer["error"]["code"] == "not-root"
    assert "runs as user nobody" in answer["error"]["message"]
    assert "become: true" in answer["error"]["cure"]
    assert "become: true" in answer["msg"]


@pytest.mark.parametrize("module", PARAMETERS)
def test_a_module_without_become_names_the_cure(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each module answers with the error's class, code, message and cure."""
    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    given = {"ANSIBLE_MODULE_ARGS": PARAMETERS[module]}
    monkeypatch.setattr(basic, "_ANSIBLE_ARGS", json.dumps(given).encode())
    monkeypatch.setattr(basic, "_ANSIBLE_PROFILE", "legacy")

    with pytest.raises(SystemExit):
        import_module(f"{MODULES}.{module}").main()

    answer = json.loads(capsys.readouterr().out)
    assert answer["failed"] is True
    assert "deprecations" not in answer
    _assert_refused(answer)


@pytest.mark.parametrize("module", [name for name in PARAMETERS if name.startswith("workload")])
def test_a_direct_call_without_become_names_the_cure(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same where the collection's code lies on the node and is called without Ansible."""
    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    given = {"params": PARAMETERS[module], "settings": SETTINGS}

    import_module(DIRECT).of(module.removeprefix("workload_"))(json.dumps(given).encode())

    _assert_refused(json.loads(capsys.readouterr().out))
