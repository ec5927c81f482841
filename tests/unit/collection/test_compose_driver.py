"""Compose components are checked the same in check mode, and may always go back."""

from __future__ import annotations

import base64
import types
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import (
    _release,
    _request,
    _run_model,
)
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._compose_driver import ComposeDriver
from ansible_collections.margrave.edge.plugins.module_utils._engine import Engine
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder, Layout
from ansible_collections.margrave.edge.plugins.module_utils._release import Release
from ansible_collections.margrave.edge.plugins.plugin_utils import packing

ID = "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f"


class Compose:
    """A Compose that mounts the package's file `conf` into the service `web`."""

    def resolve(self, project: str, folder: str, _env_file: str) -> dict[str, Any]:
        """Return the model of the package."""
        volumes = [{"type": "bind", "source": f"{folder}/conf", "target": "/conf"}]
        return {"name": project, "services": {"web": {"image": "web:1", "volumes": volumes}}}


@pytest.fixture
def call(tmp_path: Path) -> Call:
    """Return a call that brings a package along."""
    package = tmp_path / "package"
    package.mkdir()
    for name in ("compose.yaml", "conf"):
        (package / name).write_text("x")
    archive = packing.packed(str(package))
    component = {
        "name": "app",
        "archive": base64.b64encode(archive).decode(),
        "digest": packing.digest(archive),
    }
    asked = {"deployment": ID, "adopt": True, "policy": {"registries": ["*"]}}
    request = _request.read({**asked, "components": [component]})
    return Call(request, "update", Layout(str(tmp_path / "state")), check=True)


def test_a_temporary_folder_may_lie_behind_a_link(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check mode accepts what the real call accepts, also where /tmp is a symbolic link."""
    monkeypatch.setattr(ComposeDriver, "engine", Engine("podman", "/nowhere"))
    monkeypatch.setattr(ComposeDriver, "compose", Compose())
    (tmp_path / "volatile").mkdir()
    (tmp_path / "tmp").symlink_to(tmp_path / "volatile")
    [component] = call.request.components
    folder = Folder(str(tmp_path / "tmp"))

    part = ComposeDriver(call).stage(folder, component, base64.b64decode(component.archive), None)

    assert part.images["web"]["reference"] == "web:1"


@pytest.mark.parametrize(
    ("table", "stoppable", "refused"), [(1, True, True), (1, False, False), (0, True, False)]
)
def test_a_tightened_policy_does_not_keep_a_release_from_coming_back(
    call: Call, tmp_path: Path, table: int, stoppable: bool, refused: bool
) -> None:
    """A path behind a link of the operator may lie outside of the policy of now on the way back."""
    (tmp_path / "run").symlink_to(tmp_path)
    volumes = [{"type": "bind", "source": f"{tmp_path}/run/socket", "target": "/socket"}]
    model = {"services": {"web": {"volumes": volumes}}}
    release = Release("", "", None, "", "", {}, [], proven=True, policy_table=table)
    call.stoppable = stoppable
    driver = ComposeDriver(call)

    if refused:
        with pytest.raises(ConfigError, match="symbolic link"):
            driver._check_host_paths(release, model)
    else:
        driver._check_host_paths(release, model)


def test_a_failed_first_install_removes_its_anonymous_volumes_alone(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A volume that the model names stays, even if its name looks like an anonymous one."""
    anonymous, named = "a" * 64, "b" * 64
    release = Release("c" * 64, "", None, "", "", {}, [], proven=False)
    removed: list[str] = []
    container = types.SimpleNamespace(labels={}, nameless=(anonymous, named))
    monkeypatch.setattr(ComposeDriver, "look", lambda _driver, closely=False: [container])
    monkeypatch.setattr(ComposeDriver, "end", lambda _driver, _projects: None)
    monkeypatch.setattr(Engine, "remove_volume", lambda _engine, name: removed.append(name))
    monkeypatch.setattr(ComposeDriver, "engine", Engine("docker", "/nowhere"))
    monkeypatch.setattr(_release, "all_of", lambda _folder: [release])
    monkeypatch.setattr(_run_model, "volume_names", lambda _folder, _releases: {named})

    ComposeDriver(call).discard({"margrave-app"})

    assert removed == [anonymous]
