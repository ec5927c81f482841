"""Secrets and configs by name, changed one at a time, by calls as a plain playbook makes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from tests.equivalence import views
from tests.equivalence.known import rotated
from tests.equivalence.oracle import Oracle, content
from tests.equivalence.releases import Release, Service, Text
from tests.equivalence.stories import TEXTS

pytestmark = pytest.mark.lab

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
OWNERS = dict(zip((one.name for one in TEXTS), NAMES, strict=True))


@dataclass
class Holders:
    """A deployment in which each text has a service of its own."""

    oracle: Oracle
    release: Release
    starts: dict[str, set[views.Identity]] = field(default_factory=dict)

    def update(self, release: Release) -> dict[str, str | None]:
        """Bring the release about; what each service finds in place of its text."""
        answer = self.oracle.subject.update(release)
        assert not answer.get("failed"), answer
        snapshot = self.oracle.subject.snapshot(release)
        self.release, self.starts = release, views.identities(snapshot)
        targets = {OWNERS[one.name]: one.target for one in TEXTS}
        found = {views.service_of(one): one["Trees"] for one in snapshot}
        return {name: content(found[name], target) for name, target in targets.items()}

    def written(self) -> dict[str, str]:
        """The texts of the release, by the service that each belongs to."""
        return {
            name: text for name in NAMES for text in self.release.expected(name).values()
        }


@pytest.fixture(scope="module")
def holders(oracle: Oracle) -> Iterator[Holders]:
    """Six services with a text each, installed."""
    oracle.subject.clean()
    services = tuple(Service(OWNERS[one.name], texts=(one.name,)) for one in TEXTS)
    made = Holders(oracle, Release(services, TEXTS))
    assert made.update(made.release) == made.written()
    yield made
    oracle.subject.clean()


def _rotate(holders: Holders, text: Text) -> None:
    before = holders.starts
    found = holders.update(rotated(holders.release, text.name))
    assert found == holders.written()
    restarted = {name for name in NAMES if holders.starts[name] != before[name]}
    assert restarted == {OWNERS[text.name]}


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
def test_a_new_value_reaches_the_service_that_has_it(holders: Holders, text: Text) -> None:
    """A secret or config of each kind is replaced in its container; the others are left alone."""
    _rotate(holders, text)


@pytest.mark.full
@pytest.mark.parametrize("oracle", ["docker"], indirect=True)
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
def test_a_new_value_reaches_the_service_on_docker(holders: Holders, text: Text) -> None:
    """The same on Docker Engine."""
    _rotate(holders, text)


def test_another_kind_reaches_the_service_too(holders: Holders) -> None:
    """A config that moves from the package into compose.yaml is another text for its container."""
    text = next(one for one in TEXTS if one.name == "config_file")
    literal = next(one for one in TEXTS if one.name == "config_literal")
    changed = tuple(
        replace(one, kind=literal.kind) if one.name == text.name else one
        for one in holders.release.texts
    )
    found = holders.update(replace(holders.release, texts=changed))
    assert found == holders.written()
