"""Every block of every how-to page is executed by a test, or listed with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.docs.accounts import BLOCKS, TESTS, NotExecuted, unexecuted
from tests.integration.docs.pages import blocks, names

ROOT = Path(__file__).parents[3]


def test_every_page_has_a_test_and_an_account() -> None:
    """A page that is added or removed changes both tables."""
    assert set(BLOCKS) == set(TESTS) == set(names())


@pytest.mark.parametrize("page", names())
def test_every_block_is_accounted_for(page: str) -> None:
    """The table has the blocks of the page in their order: none is missing, none is stale."""
    openings = [block.opening for block in blocks(page)]
    entries = [entry.opening if isinstance(entry, NotExecuted) else entry for entry in BLOCKS[page]]
    stale = [
        f"{opening} is not {entry}"
        for opening, entry in zip(openings, entries, strict=False)
        if not opening.startswith(entry)
    ]
    assert stale == []
    assert len(openings) == len(entries), openings


@pytest.mark.parametrize("page", names())
def test_the_test_of_a_page_checks_that_nothing_is_left_out(page: str) -> None:
    """The module is there, and compares what it executed with the blocks of the page."""
    module = ROOT / TESTS[page]
    assert f'unexecuted("{page}", ' in module.read_text()


def test_a_block_that_is_not_executed_has_a_reason() -> None:
    """A reason is a sentence, and refers to tests that exist."""
    listed = [
        entry for entries in BLOCKS.values() for entry in entries if isinstance(entry, NotExecuted)
    ]
    for entry in listed:
        assert len(entry.reason.split()) >= 5, entry
        named = (word.strip("(),.") + ".py" for word in entry.reason.split(".py"))
        assert all((ROOT / path.split()[-1].strip("(")).is_file() for path in list(named)[:-1])


@pytest.mark.parametrize("page", names())
def test_an_empty_run_leaves_every_executed_block_out(page: str) -> None:
    """What a test compares itself with holds each command and each file of the page."""
    executed = [
        block
        for block, entry in zip(blocks(page), BLOCKS[page], strict=True)
        if isinstance(entry, str)
    ]
    assert unexecuted(page, ()) == [part for block in executed for part in block.parts()]
    assert unexecuted(page, unexecuted(page, ())) == []
