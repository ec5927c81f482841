"""Secrets and configs by name, changed one at a time, by calls as a plain playbook makes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from tests.equivalence import views
from tests.equivalence.holding import OWNERS, first_release, found_texts, written_texts
from tests.equivalence.known import rotated
from tests.equivalence.oracle import Oracle
from tests.equivalence.releases import Release
from tests.equivalence.stories import TEXTS
from tests.equivalence.texts import Text

pytestmark = pytest.mark.lab

QUICK = ("secret_file", "config_variable")


@dataclass
class Holders:
    """A deployment in which each text has a service of its own."""

    oracle: Oracle
    release: Release
    starts: dict[str, set[views.Identity]] = field(default_factory=dict)

    def update(self, release: Release) -> dict[str, str | None]:
        """Bring the release about; the text that each service's container finds."""
        answer = self.oracle.subject.update(release)
        assert not answer.get("failed"), answer
        snapshot = self.oracle.subject.snapshot(release)
        self.release, self.starts = release, views.identities(snapshot)
        return found_texts(snapshot)


@pytest.fixture(scope="module")
def holders(oracle: Oracle) -> Iterator[Holders]:
    """Six services with a text each, installed."""
    oracle.subject.clean()
    made = Holders(oracle, first_release())
    assert made.update(made.release) == written_texts(made.release)
    yield made
    oracle.subject.clean()


def _rotate(holders: Holders, text: Text) -> None:
    before = holders.starts
    texts = holders.update(rotated(holders.release, text.name))
    assert texts == written_texts(holders.release)
    restarted = {name for name in before if holders.starts[name] != before[name]}
    assert restarted == {OWNERS[text.name]}


@pytest.mark.parametrize(
    "text",
    [pytest.param(text, marks=() if text.name in QUICK else pytest.mark.full) for text in TEXTS],
    ids=[text.name for text in TEXTS],
)
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
    text = next(text for text in TEXTS if text.name == "config_file")
    literal = next(text for text in TEXTS if text.name == "config_literal")
    changed = tuple(
        replace(other, kind=literal.kind) if other.name == text.name else other
        for other in holders.release.texts
    )
    texts = holders.update(replace(holders.release, texts=changed))
    assert texts == written_texts(holders.release)
