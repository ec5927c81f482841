"""What a client says of a deployment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from margrave.documents.status import MargoState, most_severe, read_status, render_status
from margrave.errors import DocumentError
from margrave.lifecycle import State, margo_word
from tests.unit.margrave.margo_making import as_json, status

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_status_is_read_as_written() -> None:
    """Six states, components and errors."""
    read = read_status(as_json(status()))

    assert (read.state, [one.state for one in read.components]) == (
        "failed",
        ["failed", "installed"],
    )
    assert read_status(render_status(read.raw)).raw == status()


def test_our_life_cycle_speaks_margos_words() -> None:
    """Each of our states has one of the six."""
    assert {margo_word(state) for state in State} <= {state.value for state in MargoState}


@given(st.lists(st.sampled_from(list(MargoState)), min_size=1))
def test_the_most_severe_component_tells_for_the_whole(states: list[MargoState]) -> None:
    """Whatever the order; and it is one of them."""
    worst = most_severe(states)

    assert worst in states
    assert worst == most_severe(reversed(states)) == most_severe({*states})


def test_severity_is_as_the_standard_orders_it() -> None:
    """Failed before all, installed behind all."""
    words = ["failed", "removing", "installing", "pending", "removed", "installed"]

    for index, word in enumerate(words):
        assert most_severe(words[index:]) == word


BROKEN: dict[str, tuple[Callable[[Any], object], str]] = {
    "better than its parts": (
        lambda v: v["status"].update(state="installed"),
        "/status/state: is installed though a component is failed (write failed)",
    ),
    "unknown state": (
        lambda v: v["components"][1].update(state="running"),
        "/components/1/state: 'running' is not known",
    ),
    "component twice": (
        lambda v: v["components"][1].update(name="pump"),
        '"pump" stands twice',
    ),
    "no version": (
        lambda v: v.pop("adoptedManifestVersion"),
        "/adoptedManifestVersion: is missing",
    ),
    "any child": (
        lambda v: v.update(deviceId="gateway-01/*"),
        "'gateway-01/*' is not a device id",
    ),
    "error without source": (
        lambda v: v["status"]["error"].pop("source"),
        "/status/error/source: is missing",
    ),
    "failed without a word": (
        lambda v: (v.update(components=[]), v["status"].pop("error")),
        "/status: says neither which component failed nor why",
    ),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_broken_status_is_refused(name: str) -> None:
    """With place and cure."""
    change, words = BROKEN[name]
    value = status()
    value["status"]["error"] = dict(value["status"]["error"])
    change(value)

    with pytest.raises(DocumentError) as refused:
        read_status(as_json(value))

    assert words in str(refused.value)
