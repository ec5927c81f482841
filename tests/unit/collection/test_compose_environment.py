"""Docker Compose on a node reads the files that it is given, and fetches no others."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils._compose import Compose
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError, EdgeError
from ansible_collections.margrave.edge.plugins.module_utils._programs import Programs

# Stands for Docker Compose: it ends with its environment in place of an error.
PROGRAM = ("/bin/sh", "-c", "env | tr '\\n' ' ' >&2; exit 1")


def test_compose_fetches_no_remote_includes(tmp_path: Path) -> None:
    """Addresses in `include` and `extends` are switched off where Compose knows them."""
    (tmp_path / "variables").write_text("")
    engine: Any = SimpleNamespace(host="unix:///run/engine.sock")
    compose = Compose(PROGRAM, engine, Programs())

    with pytest.raises(ConfigError) as refused:
        compose.resolve("project", str(tmp_path), str(tmp_path / "variables"))

    assert "COMPOSE_EXPERIMENTAL_GIT_REMOTE=false" in refused.value.message
    assert "COMPOSE_EXPERIMENTAL_OCI_REMOTE=false" in refused.value.message


def test_compose_as_root_reads_no_variables_of_the_package(tmp_path: Path) -> None:
    """A package's .env would set PATH or DOCKER_CONFIG of the program that starts containers."""
    engine: Any = SimpleNamespace(host="unix:///run/engine.sock")
    compose = Compose(("/bin/sh", "-c", 'echo "$@" >&2; exit 1', "compose"), engine, Programs())

    with pytest.raises(EdgeError) as refused:
        compose.up("project", str(tmp_path), str(tmp_path / "model.json"), 10.0)

    assert "--env-file /dev/null up" in refused.value.message
