"""Words of tables that are computed from several fields."""

from __future__ import annotations

import pytest

from margrave.cli import tables

OLD, NEW = "a" * 40, "b" * 40


@pytest.mark.parametrize(
    ("behind", "shown"),
    [(False, "b" * 12), (True, "b" * 12 + "…"), (None, "b" * 12 + "…")],
)
def test_a_site_is_marked_only_while_it_lacks_what_is_wanted(
    behind: bool | None, shown: str
) -> None:
    """A site that is ahead is not marked; without `behind` the commits are compared."""
    site = {"applied_commit": NEW, "wanted_commit": OLD, "behind": behind}

    assert tables.applied(site) == shown
