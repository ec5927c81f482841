"""The collection counts amounts as the product does."""

from __future__ import annotations

import pytest
from ansible_collections.margrave.edge.plugins.plugin_utils import quantities as ours
from hypothesis import given
from hypothesis import strategies as st

from margrave import quantities
from margrave.errors import Refused

AMOUNTS = ["0", "1", "512Mi", "59 Gi", "1.5Gi", " 2Ti ", "1Ei", 4096]


@pytest.mark.parametrize("amount", AMOUNTS)
def test_amounts_are_read_alike(amount: str | int) -> None:
    """In bytes, blanks and fractions included."""
    assert ours.in_bytes(amount) == quantities.in_bytes(amount)


@pytest.mark.parametrize("amount", ["", "Gi", "1GB", "1e3", "-1", "1Gi x", "0x10"])
def test_what_is_no_amount_is_refused_by_both(amount: str) -> None:
    """With the amount in the message."""
    with pytest.raises(ValueError, match="is not an amount"):
        ours.in_bytes(amount)
    with pytest.raises(Refused):
        quantities.in_bytes(amount)


@given(st.integers(min_value=0, max_value=2**63))
def test_amounts_are_written_alike(count: int) -> None:
    """In the same unit, to one place."""
    assert ours.in_words(count) == quantities.in_words(count)
