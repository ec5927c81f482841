"""What the tests of the runner's ways to nodes and to Git share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import Lab
from runner.source import Source
from tests.support.repository import Repository
from tests.support.sources import make_source

FILE = "/etc/ssh/sshd_config.d/00-patient.conf"


@pytest.fixture(scope="session")
def lab(lab: Lab) -> Iterator[Lab]:
    """The lab, its sshd not counting failed logins: tests of those come from one address."""
    names = [node.name for node in lab.nodes()]
    for name in names:
        lab.ssh(name, f"echo 'PerSourcePenalties no' > {FILE}; systemctl restart ssh")
    yield lab
    for name in names:
        lab.ssh(name, f"rm -f {FILE}; systemctl restart ssh")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with storefront 1.0.0 for harbor."""
    made = Repository(tmp_path)
    made.deploy("1.0.0")
    made.push()
    return made


@pytest.fixture
def source(tmp_path: Path, repository: Repository) -> Source:
    """Harbor's view of it."""
    return make_source(tmp_path, repository)
