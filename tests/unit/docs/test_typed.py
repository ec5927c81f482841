"""Each page that tells people what to type is typed by a test, or says here why it is not.

That each line can be typed at all, verbs, options and files, is `test_commands.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.integration.docs.accounts import TESTS
from tests.unit.docs.test_commands import typed

ROOT: Final = Path(__file__).parents[3]
READER: Final = ROOT / "tests/integration/docs/reader.py"  # what those that type a page share

# Typed as it stands, line by line: a page, or a section of one.
TYPED: Final = {
    **{f"docs/howto/{page}.md": test for page, test in TESTS.items()},
    "docs/session.md": "tests/integration/docs/test_session.py",
    "docs/start.md#Your own boxes": "tests/integration/docs/test_start.py",
}
# Not as it stands: why, and the test that does the same with names of its own.
NOT_TYPED: Final = {
    "README.md": ("the demo is one per machine", "tests/integration/demo/test_demo.py"),
    "docs/cli.md": ("two forms of a command", "tests/functional/cli/test_node.py"),
    "docs/lab.md": ("takes nodes of this machine", "tests/integration/lab/test_lab.py"),
    "docs/modules.md": (
        "needs the reader's own inventory",
        "tests/integration/playbooks/test_by_hand.py",
    ),
    "docs/roles.md": (
        "needs machines that are set up anew; a scenario does it",
        "molecule/fleet/verify.yml",
    ),
    "docs/secrets.md": ("needs a site of its own", "tests/integration/runner/test_secrets.py"),
    "docs/start.md#Break it": (
        "the demo is one per machine",
        "tests/integration/demo/test_demo.py",
    ),
    "docs/start.md#See it": ("the demo is one per machine", "tests/integration/demo/test_demo.py"),
    "docs/webhooks.md": ("needs a runner of the reader's", "tests/unit/webhook/test_door.py"),
    "docs/lint.md": ("its checks have tests of their own", "tests/functional/cli/test_lint.py"),
    "docs/reference/commands.md": (
        "examples of every command, not a way to go",
        "tests/functional/cli/test_golden.py",
    ),
}


def _place(page: str, section: str) -> str:
    """The page, or the section of it where its sections are told apart."""
    whole = f"{page}#{section}"
    return whole if whole in {*TYPED, *NOT_TYPED} else page


def test_each_page_that_is_to_be_typed_stands_in_one_table() -> None:
    """A new page needs a test that types it, or a reason."""
    assert set(TYPED) | set(NOT_TYPED) == {_place(page, section) for page, section, _ in typed()}
    assert not set(TYPED) & set(NOT_TYPED)


def test_who_types_a_page_names_it() -> None:
    """The tests are there, and those that type a page read that very page, or that part of it."""
    for page, test in TYPED.items():
        reads = (ROOT / test).read_text() + READER.read_text()
        assert all(part in reads for part in Path(page).name.split("#")), page
    assert [test for _, test in NOT_TYPED.values() if not (ROOT / test).is_file()] == []
