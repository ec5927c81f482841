"""Durations have bounds: what is longer is a slip, and breaks clocks and timers."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from margrave import durations
from margrave.documents._reading import BOUNDS
from margrave.documents.deployment import read_deployment, read_out_of_bounds, render
from margrave.documents.site import read_site
from margrave.errors import DocumentError, Refused
from tests.unit.margrave.making import raw_deployment

DAY = 24 * 3600
PLACES = {
    "/spec/x-margrave-extensions/health/timeout": {"health": {"timeout": "24h1s"}},
    "/spec/x-margrave-extensions/health/grace": {"health": {"grace": "24h1s"}},
    "/spec/x-margrave-extensions/failure/backoff": {"failure": {"backoff": "24h1s"}},
}
TIMEOUT = "/spec/deploymentProfile/components/0/properties/timeout"


def document(pointer: str, text: str) -> bytes:
    """A deployment with this duration at this place."""
    if pointer == TIMEOUT:
        raw = raw_deployment()
        raw["spec"]["deploymentProfile"]["components"][0]["properties"]["timeout"] = text
        return render(raw)
    section, key = pointer.split("/")[-2:]
    ours: dict[str, Any] = {section: {key: text}}
    return render(raw_deployment(**ours))


@pytest.mark.parametrize("pointer", [*PLACES, TIMEOUT])
def test_a_deployment_waits_for_a_day_at_most(pointer: str) -> None:
    """A longer time-out, grace period or backoff is a finding at its place, with the cure."""
    margo = pointer == TIMEOUT
    for text in ("1440m0s", "0m86400s", "0m0s") if margo else ("24h", "1440m", "86400s", "0s"):
        read_deployment(document(pointer, text))
    for text in ("1440m1s", "999999999m0s") if margo else ("25h", "86401s", "99999999h"):
        with pytest.raises(DocumentError) as raised:
            read_deployment(document(pointer, text))
        [found] = raised.value.findings
        assert (found.pointer, found.code) == (pointer, BOUNDS)
        assert "is longer than a day" in found.message
        assert "at most" in found.cure


def test_a_site_reads_what_is_out_of_bounds_with_its_findings() -> None:
    """And nothing that is wrong in another way."""
    found = read_out_of_bounds(document("/x/health/timeout", "25h"))
    assert [one.code for one in found.out_of_bounds] == [BOUNDS]
    assert found.extensions.health.timeout == "25h"
    assert read_out_of_bounds(document("/x/health/timeout", "24h")).out_of_bounds == ()
    raw = raw_deployment(health={"timeout": "25h"}, drift="mend")
    with pytest.raises(DocumentError):
        read_out_of_bounds(render(raw))
    with pytest.raises(DocumentError):
        read_out_of_bounds(document("/x/health/timeout", "25 hours"))


def test_the_defaults_of_a_site_have_the_same_bounds() -> None:
    """They hold wherever a deployment is silent."""
    read_site("defaults: {health: {timeout: 24h}}\n")
    with pytest.raises(DocumentError, match="is longer than a day"):
        read_site("defaults: {health: {timeout: 25h}}\n")


@given(st.integers(0, 100_000), st.sampled_from("smh"))
def test_an_editor_refuses_a_wait_that_the_reader_refuses(number: int, unit: str) -> None:
    """A schema knows patterns, no arithmetic: its pattern means the same."""
    text = f"{number}{unit}"
    fits = re.fullmatch(durations.pattern_up_to(DAY, zero=True), text) is not None
    assert fits == (durations.parse(text) <= DAY)


@given(st.integers(0, 2000), st.integers(0, 100_000))
def test_an_editor_takes_each_of_margos_time_outs_that_the_reader_takes(minutes, seconds) -> None:
    """A sum is beyond a pattern: it takes a little more."""
    if minutes * 60 + seconds <= DAY:
        assert re.fullmatch(durations.margo_pattern_up_to(DAY), f"{minutes}m{seconds}s")
    if max(minutes * 60, seconds) > DAY:
        assert not re.fullmatch(durations.margo_pattern_up_to(DAY), f"{minutes}m{seconds}s")


def test_no_duration_is_longer_than_ten_years() -> None:
    """In commands and settings too; a calendar ends somewhere."""
    assert durations.seconds("87600h") == durations.LONGEST
    with pytest.raises(Refused, match="longer than ten years"):
        durations.seconds("87601h")
