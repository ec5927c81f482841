"""A node's control groups stand beside the kernel's own files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab import cgroups

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_lab_and_a_node_may_be_called_like_a_file_of_the_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each group of the old hierarchy has a file `tasks`."""
    monkeypatch.setattr(cgroups, "ROOT", tmp_path)
    monkeypatch.setattr(cgroups, "host_has_systemd", lambda: False)
    monkeypatch.setattr(cgroups, "is_v1", lambda: True)
    monkeypatch.setattr(cgroups, "hierarchies", lambda: [tmp_path])
    for folder in (tmp_path / "margrave-lab", tmp_path / "margrave-lab/tasks.lab"):
        folder.mkdir()
        (folder / "tasks").touch()
    (made,) = cgroups.make("tasks", "tasks")
    assert made.is_dir()
    (made.parent / "tasks").unlink()
    cgroups.remove("tasks", "tasks")
    assert not made.exists()
