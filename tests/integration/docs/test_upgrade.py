"""`docs/howto/upgrade.md`: stopped, migrated, started; what a stricter policy would refuse."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from tests.integration.docs import box
from tests.integration.docs.accounts import unexecuted
from tests.integration.docs.pages import Page

if TYPE_CHECKING:
    from lab import Lab
    from tests.integration.docs.reader import Reader

pytestmark = [pytest.mark.lab, pytest.mark.full]

PAGE = Page("upgrade")


def test_upgrade(shop: Reader, lab: Lab) -> None:
    """The controller goes on as it stood, runners and nodes are left alone, versions fit."""
    shop.stop("controller")
    migrate, serve = PAGE.block("$ margrave controller migrate").lines
    _refuse_another_schema(shop)
    shop.type(migrate)
    shop.type(serve)
    check, explain = PAGE.lines(" policy ")
    shop.type(check)
    assert "storefront" in shop.type(explain)
    assert "version" in shop.type(PAGE.line(" doctor"))
    assert "storefront" in shop.type("margrave deployment list")
    assert box.version(lab) == "1.0.0"
    assert unexecuted("upgrade", shop.executed) == []


def _refuse_another_schema(reader: Reader) -> None:
    """A controller does not serve on the schema of another version, and says which is behind."""
    file = reader.folder / "srv/state/margrave.db"
    with sqlite3.connect(file) as database:
        [(version,)] = database.execute("select version_num from alembic_version").fetchall()
        database.execute("update alembic_version set version_num = '0001'")
    database.close()
    try:
        refused = reader.refused_start("controller")
        assert "margrave controller migrate" in refused, refused
        with sqlite3.connect(file) as database:
            database.execute("update alembic_version set version_num = '9999'")
        database.close()
        newer = reader.refused_start("controller")
        assert "use the version of margrave that made it" in newer, newer
        assert "made it" in reader.type("margrave controller migrate", 5)
    finally:
        with sqlite3.connect(file) as database:
            database.execute("update alembic_version set version_num = ?", (version,))
        database.close()


@pytest.mark.parametrize(
    ("line", "code", "cure"),
    [
        ("margrave policy check --site haven", 3, "there is no site"),
        ("margrave policy explain storefrnt --site harbor", 3, 'did you mean "storefront"?'),
    ],
)
def test_a_wrong_name_is_refused(shop: Reader, line: str, code: int, cure: str) -> None:
    """With the command that lists the right ones."""
    assert cure in shop.type(line, code)
