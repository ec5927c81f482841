"""Which images the nightly clean-up names: what nothing needs any more, of what was ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[3] / "roles/edge_node/files/clean_images.py"
DAYS = 86400


class Node:
    """A node's state folder, and an engine that notes what it is told to remove."""

    def __init__(self, base: Path) -> None:
        self.base, self.state = base, base / "deployments"
        self.bin = base / "bin"
        self.bin.mkdir()
        for name in ("podman", "docker"):
            engine = self.bin / name
            engine.write_text('#!/bin/sh\necho "$@" >> "$0.calls"\n[ "$2" != busy ] || exit 2\n')
            engine.chmod(0o755)

    def release(
        self, name: str, age: float, *images: str, link: str = "", ours: bool = True
    ) -> None:
        """A release that was touched so many days ago."""
        folder = self.state / "d1" / "releases" / name
        folder.mkdir(parents=True)
        named = {str(place): {"reference": one, "ours": ours} for place, one in enumerate(images)}
        file = folder / "release.json"
        file.write_text(json.dumps({"components": [{"images": named}]}))
        then = time.time() - age * DAYS
        os.utime(file, (then, then))
        if link:
            (self.state / "d1" / link).symlink_to(Path("releases") / name)

    def clean(self, *words: str) -> tuple[list[str], list[str], str]:
        """What it names, what the engine was told, and what was complained of."""
        done = subprocess.run(
            [sys.executable, PROGRAM, "--state", self.state, *words],
            env={"PATH": f"{self.bin}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        )
        calls = self.bin / "podman.calls"
        told = calls.read_text().splitlines() if calls.exists() else []
        return done.stdout.split(), told, done.stderr


def test_only_what_nothing_needs_goes(tmp_path: Path) -> None:
    """Not what current, previous, next or a young release have, nor what was there before us."""
    node = Node(tmp_path)
    node.release("now", 90, "web:3", "cache:1", link="current")
    node.release("before", 90, "web:2", "cache:1", link="previous")
    node.release("ahead", 90, "web:6", link="next")
    node.release("failed", 30, "web:4", "cache:1", "busy")
    node.release("young", 1, "web:5")
    node.release("theirs", 30, "theirs:1", ours=False)

    would = node.clean("--dry-run")
    named, told, complained = node.clean()

    assert would[:2] == (["busy", "web:4"], [])
    assert named == ["busy", "web:4"]
    assert told == ["rmi busy", "rmi web:4"]
    assert "busy stays" in complained


def test_a_damaged_release_removes_nothing(tmp_path: Path) -> None:
    """It is named, and the others are looked at all the same."""
    node = Node(tmp_path)
    node.release("broken", 30, "web:1")
    (node.state / "d1/releases/broken/release.json").write_text("{")
    node.release("failed", 30, "web:4")

    named, _, complained = node.clean()

    assert named == ["web:4"]
    assert "broken/release.json" in complained


def test_a_node_without_deployments_is_clean(tmp_path: Path) -> None:
    """Nothing is there, so nothing is said."""
    assert Node(tmp_path).clean() == ([], [], "")


def test_the_engine_that_is_meant_is_told(tmp_path: Path) -> None:
    """A node with both programs has one on which applications run."""
    node = Node(tmp_path)
    node.release("failed", 30, "web:4")

    _, told, _ = node.clean("--engine", "docker")

    assert told == []
    assert (node.bin / "docker.calls").read_text().split() == ["rmi", "web:4"]
