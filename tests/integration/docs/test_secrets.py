"""`docs/howto/secrets.md`, with its wrong turns: the application gets the secret, and its next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.docs import box
from tests.integration.docs.accounts import unexecuted
from tests.integration.docs.pages import Page
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from lab import Lab
    from tests.integration.docs.reader import Reader

pytestmark = [pytest.mark.lab, pytest.mark.full]

PAGE = Page("secrets")


def test_secrets(shop: Reader, lab: Lab) -> None:
    """A secret that is missing fails with its name; written and tried again, it is delivered."""
    first, second = "hello from the safe", "hello again"
    shop.words["/etc/margrave/secrets"] = str(shop.folder / "secrets")
    folder, write, plan, update, retry = PAGE.lines()
    shop.type(folder)
    [toml] = PAGE.texts("toml")
    shop.configure(shop.runner_file, toml)
    shop.restart("runner")

    wrong = """margrave deployment update storefront --set 'greeting={"secret": "x"}'"""
    assert "--secret greeting=x" in shop.type(wrong, 2)
    unknown = "margrave deployment update storefront --secret greting=storefront-greeting"
    assert 'did you mean "greeting"' in shop.type(unknown, 1)
    shop.type(plan)
    waiting = shop.type(update, 124, more="--timeout 30s")  # the folder is empty
    assert "secrets" in waiting, waiting
    _write(shop, write.replace("storefront-greeting", "another"), "x")
    shop.type(update, 1)  # the secret is not there yet
    assert "storefront-greeting" in shop.type("margrave deployment explain storefront")
    assert box.answer(lab)["greeting"] == "hello"
    _write(shop, write, first)
    shop.type(retry)
    assert box.answer(lab)["greeting"] == first

    _write(shop, write, second)
    eventually(lambda: box.answer(lab).get("greeting") == second, 180, "the secret is rotated")
    assert unexecuted("secrets", shop.executed) == []


def _write(reader: Reader, line: str, secret: str) -> None:
    """Type the line that reads a secret, then the secret."""
    reader.type(line, answer=secret)
