"""Margo's error answers."""

from __future__ import annotations

from typing import Any

import pytest

from margrave.documents.problem import BASE, TYPES, make_problem, read_problem
from margrave.errors import DocumentError
from tests.unit.margrave.margo_making import as_json, problem


def told(**changes: Any) -> str:
    """The findings of a problem that is refused."""
    with pytest.raises(DocumentError) as refused:
        read_problem(as_json({**problem(), **changes}))
    return str(refused.value)


def test_members_of_a_vendor_are_kept() -> None:
    """RFC 9457 lets anybody add some."""
    value = {**problem(), "acme_code": 7}

    assert read_problem(as_json(value)).raw == value
    assert read_problem(as_json(value)).known_type == "semantic-error"


@pytest.mark.parametrize("fragment", sorted(TYPES))
def test_each_registered_type_is_made_and_read(fragment: str) -> None:
    """With the status that goes with it."""
    read = read_problem(
        make_problem(fragment, "why", "/api/v1/x", [{"field": "a", "message": "b"}])
    )

    assert (read.known_type, read.document.status) == (fragment, TYPES[fragment].status)
    assert read.delay(1) is None


def test_a_foreign_type_is_read_but_not_known() -> None:
    """A client then goes by title, detail and status."""
    assert read_problem(as_json({**problem(), "type": "about:blank"})).known_type == ""
    assert read_problem(as_json({**problem(), "type": "semantic-error"})).known_type == ""


def test_a_problem_that_contradicts_itself_is_refused() -> None:
    """A client could not tell what to do."""
    assert "is no type that Margo registers (did you mean" in told(type=BASE + "semantic-eror")
    assert "/status: 404 does not go with semantic-error (write 422)" in told(status=404)
    assert "forbids what retryable allows" in told(retryable=True)
    assert "tells how to do what retryable forbids" in told(backoffStrategy="fixed")
    assert "200 is too low (write 400 or more)" in told(type="about:blank", status=200)


@pytest.mark.parametrize(
    ("strategy", "advised", "header", "delays"),
    [
        ("exponential", 30, None, [30, 60, 120, 240, 480, 600, 600]),
        ("exponential", None, None, [5, 10, 20]),
        ("exponential", 30, 10, [10, 20]),
        ("exponential", None, 900, [900, 900]),
        ("fixed", 30, None, [30, 30]),
        ("fixed", 30, 7, [7, 7]),
        (None, None, 20, [20, 40]),
        ("none", 30, None, [None]),
    ],
    ids=str,
)
def test_a_client_tries_again_when_it_may(
    strategy: str | None, advised: int | None, header: int | None, delays: list[int | None]
) -> None:
    """Never before the header's time, by the strategy that is told, and never for ever longer."""
    value = {**problem(), "type": "about:blank", "status": 503, "retryable": strategy != "none"}
    del value["backoffStrategy"]
    if strategy:
        value["backoffStrategy"] = strategy
    if advised:
        value["retryAfterSeconds"] = advised
    if strategy == "none":
        value["retryable"] = False

    read = read_problem(as_json(value))

    assert [read.delay(number + 1, header) for number in range(len(delays))] == delays
