"""Paths of the node are used only where no symbolic link leads elsewhere."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _host_paths
from ansible_collections.margrave.edge.plugins.module_utils._compose_values import Policy
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError


def _model(**parts: Any) -> dict[str, Any]:
    return {"name": "p", "services": {"web": {"image": "x", **parts}}}


def _bind(source: Path) -> dict[str, Any]:
    return _model(volumes=[{"type": "bind", "source": str(source), "target": "/x"}])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder of the node that the site opened."""
    root = tmp_path / "srv"
    (root / "data" / "inner").mkdir(parents=True)
    return root


def test_folders_without_links_are_used(root: Path) -> None:
    """Folders that are what they seem to be pass, and so does what does not exist yet."""
    _host_paths.refuse_links([str(root), f"{root}/data/inner", f"{root}/new/one"], [str(root)])


@pytest.mark.parametrize("path", ["link", "link/inner", "data/../link"])
def test_a_link_on_the_way_is_refused(root: Path, path: str) -> None:
    """The component is named, with what to do instead."""
    (root / "link").symlink_to("/etc")

    with pytest.raises(ConfigError, match="link is a symbolic link") as refused:
        _host_paths.refuse_links([f"{root}/{path}"], [str(root)])

    assert refused.value.cure


def test_a_root_may_be_a_link_itself(root: Path, tmp_path: Path) -> None:
    """The operator who writes /var/run means what it leads to."""
    (tmp_path / "run").symlink_to(root)

    _host_paths.refuse_links([f"{tmp_path}/run/data"], [f"{tmp_path}/run"])

    with pytest.raises(ConfigError):
        _host_paths.refuse_links([f"{tmp_path}/run/data"], ["/nowhere"])


def test_the_outermost_root_counts(root: Path) -> None:
    """Whoever writes to the outer root could put a link in the place of the inner one."""
    (root / "inner").symlink_to("/etc")

    with pytest.raises(ConfigError):
        _host_paths.refuse_links([f"{root}/inner/x"], [str(root), f"{root}/inner"])


def test_nothing_is_refused_where_everything_is_allowed(root: Path) -> None:
    """With `/` in host_paths there is no path that a link could add."""
    (root / "link").symlink_to("/etc")

    _host_paths.check(_bind(root / "link"), {"host_paths": ["/"]}, "/var/lib/margrave")


@pytest.mark.parametrize(
    "parts",
    [
        {"services": {"web": {"volumes": [{"type": "bind", "source": "{link}"}]}}},
        {"secrets": {"s": {"file": "{link}/s"}}},
        {"configs": {"c": {"file": "{link}/c"}}},
        {"volumes": {"d": {"driver_opts": {"type": "none", "o": "bind", "device": "{link}"}}}},
    ],
    ids=["mount", "secret", "config", "volume"],
)
def test_each_path_of_a_model_is_checked(root: Path, parts: dict[str, Any]) -> None:
    """Mounts, files of secrets and configs, and volumes that mount a folder."""
    (root / "link").symlink_to("/etc")
    model = json.loads(json.dumps({"name": "p", **parts}).replace("{link}", f"{root}/link"))

    with pytest.raises(ConfigError, match="symbolic link"):
        _host_paths.check(model, {"host_paths": [str(root)]}, "/var/lib/margrave")


def test_a_link_behind_a_dollar_sign_is_refused(root: Path) -> None:
    """Compose doubles dollar signs in its output; the path on the disk has single ones."""
    (root / "a$b").symlink_to("/etc")
    model = _bind(root / "a$$b" / "x")

    with pytest.raises(ConfigError, match="is a symbolic link"):
        _host_paths.check(model, {"host_paths": [str(root)]}, "/var/lib/margrave")


def test_a_waived_policy_leaves_its_paths_alone(root: Path, tmp_path: Path) -> None:
    """A release that runs under older rules mounts what the present policy does not name."""
    (tmp_path / "run").symlink_to(root)
    (tmp_path / "card").symlink_to("/dev/null")
    model = _bind(tmp_path / "run" / "data")
    model["services"]["web"]["devices"] = [f"{tmp_path}/card"]

    _host_paths.check(model, {}, "/nowhere", waived=True)
    with pytest.raises(ConfigError, match="symbolic link"):
        _host_paths.check(model, {}, "/nowhere")
    with pytest.raises(ConfigError, match="symbolic link"):
        _host_paths.check(model, {"host_paths": [str(tmp_path)]}, "/nowhere", waived=True)
    with pytest.raises(ConfigError, match="leads to"):
        _host_paths.check(model, {"devices": [f"{tmp_path}/*"]}, "/nowhere", waived=True)


def test_a_link_in_the_packages_folder_is_refused(tmp_path: Path) -> None:
    """Whatever put it there: the package's folder has no links."""
    (tmp_path / "conf").symlink_to("/etc")

    with pytest.raises(ConfigError, match="conf is a symbolic link"):
        _host_paths.check(_bind(tmp_path / "conf"), {}, str(tmp_path))


@pytest.fixture
def by_id() -> Any:
    """A folder of links below /dev, as udev makes them."""
    folder = Path(f"/dev/margrave-test-{os.getpid()}")
    folder.mkdir()
    yield folder
    for link in folder.iterdir():
        link.unlink()
    folder.rmdir()


@pytest.mark.skipif(os.geteuid() != 0, reason="folders below /dev need root")
def test_links_of_udev_to_character_devices_are_devices(by_id: Path) -> None:
    """`/dev/serial/by-id/x` may be allowed by its own name, whatever number it has today."""
    (by_id / "serial").symlink_to("../null")

    _host_paths.refuse_linked_devices([f"{by_id}/serial"], Policy({"devices": [f"{by_id}/*"]}))


@pytest.mark.skipif(os.geteuid() != 0, reason="folders below /dev need root")
@pytest.mark.parametrize("target", ["/etc/passwd", "/dev/shm", "/dev/missing", "../../tmp"])
def test_links_to_anything_else_are_refused(by_id: Path, target: str) -> None:
    """A link to a file, a folder, nothing or a disk is no device that a pattern allowed."""
    (by_id / "serial").symlink_to(target)
    policy = Policy({"devices": [f"{by_id}/*"]})

    with pytest.raises(ConfigError, match="leads to"):
        _host_paths.refuse_linked_devices([f"{by_id}/serial"], policy)


def test_a_link_is_fine_where_the_policy_names_its_target(tmp_path: Path) -> None:
    """Who allowed the target allowed what the link leads to."""
    (tmp_path / "card").symlink_to("/dev/null")
    devices = _model(devices=[f"{tmp_path}/card:/dev/x", {"source": f"{tmp_path}/card"}])
    patterns = [f"{tmp_path}/*"]

    _host_paths.check(devices, {"devices": [*patterns, "/dev/null"]}, "/nowhere")
    with pytest.raises(ConfigError, match="leads to /dev/null"):
        _host_paths.check(devices, {"devices": patterns}, "/nowhere")
