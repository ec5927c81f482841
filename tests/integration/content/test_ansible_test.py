"""`ansible-test` on the collection as Ansible's own people run it, but without a container engine.

It wants the collection at a path of its own, and a way to bootstrap pip that needs no download: a
file of that name in its cache is taken instead.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[3]
EDGE = ROOT / "collections/ansible_collections/margrave/edge"
UNITS = ROOT / "tests/unit/collection"
BOOTSTRAP = "import ensurepip\nensurepip.bootstrap()\n"
# ansible-test has Ansible at hand only for tests of what runs where the playbook does.
ON_THE_CONTROL_NODE = re.compile(r"^from .*plugin_utils", re.MULTILINE)
# Tests that hold the collection against the product, which is not there beside a collection.
WITH_THE_PRODUCT = re.compile(r"^ *(from (margrave|tests)\b|import yaml)", re.MULTILINE)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy below ansible_collections, with its unit tests where ansible-test looks for them."""
    base = tmp_path_factory.mktemp("sanity")
    copy = base / "ansible_collections/margrave/edge"
    shutil.copytree(EDGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    cache = base / ".ansible/test/cache"
    cache.mkdir(parents=True)
    for version in ("24_2", "25_0"):
        (cache / f"get_pip_{version}.py").write_text(BOOTSTRAP)
    units = copy / "tests/unit/plugins"
    for kind in ("module_utils", "plugin_utils"):
        (units / kind).mkdir(parents=True)
    for file in sorted(UNITS.glob("test_*.py")):
        text = file.read_text()
        if not WITH_THE_PRODUCT.search(text):
            kind = "plugin_utils" if ON_THE_CONTROL_NODE.search(text) else "module_utils"
            shutil.copy(file, units / kind)
    return copy


def _ansible_test(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["ansible-test", *words, "--python", f"3.{sys.version_info.minor}"],
        cwd=place,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(place.parents[2]),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=3600,
        check=False,
    )


def test_sanity(place: Path) -> None:
    """Every test of it, with no exception: there is no ignore file."""
    done = _ansible_test(place, "sanity", "--exclude", "tests/")

    assert done.returncode == 0, done.stdout[-6000:]
    assert list((EDGE / "tests").glob("sanity/ignore-*.txt")) == []
    assert 'Running sanity test "validate-modules"' in done.stdout
    assert 'Running sanity test "import"' in done.stdout


def test_units(place: Path) -> None:
    """The unit tests that need nothing but the collection run as ansible-test runs them."""
    done = _ansible_test(place, "units", "--num-workers", "1")

    assert done.returncode == 0, done.stdout[-6000:]
    assert " passed" in done.stdout
