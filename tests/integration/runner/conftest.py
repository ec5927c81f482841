"""What the tests of the runner's way to nodes share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab import Lab

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
