"""A lab node's Kubernetes is ready when a pod can start on it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from lab import kubernetes

if TYPE_CHECKING:
    from lab.fleet import Lab

CONFIG = Path(kubernetes.__file__).with_name("kubernetes_files") / "etc/containerd/config.toml"


class Node:
    """A node that remembers the commands it was given."""

    def __init__(self) -> None:
        self.commands: list[str] = []

    def ssh(self, node: str, command: str, **_more: object) -> subprocess.CompletedProcess[str]:
        """Note the command; each succeeds."""
        del node
        self.commands.append(command)
        return subprocess.CompletedProcess(command, 0, "", "")


def test_the_first_pod_of_a_node_needs_no_registry(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The image that containerd begins each pod with is there before anything is deployed."""
    monkeypatch.setattr(kubernetes, "build", lambda _progress: tmp_path)
    node = Node()

    kubernetes.install(cast("Lab", node), "kube-1")

    assert f'sandbox_image = "{kubernetes.SANDBOX_IMAGE}"' in CONFIG.read_text()
    assert "images pull" in node.commands[-1]
    assert kubernetes.SANDBOX_IMAGE in node.commands[-1]
