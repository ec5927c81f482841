"""`docs/howto/windows.md`: windows of a site and of a deployment, and a change that cannot wait."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from tests.integration.docs import box
from tests.integration.docs.accounts import unexecuted
from tests.integration.docs.clone import Clone
from tests.integration.docs.pages import Page
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from lab import Lab
    from tests.integration.docs.reader import Reader

pytestmark = [pytest.mark.lab, pytest.mark.full]

PAGE = Page("windows")


@pytest.fixture(scope="module")
def clone(shop: Reader) -> Clone:
    """Return a clone of the deployments repository; the windows of the page are closed now.

    They open twelve hours from now, whenever the test runs.
    """
    oslo = datetime.now(ZoneInfo("Europe/Oslo")) + timedelta(hours=12)
    utc = datetime.now(UTC) + timedelta(hours=12)
    shop.words |= {
        "0 2 * * 1-5": f"0 {oslo.hour} * * *",
        "30 12 * * 6": f"30 {oslo.hour} * * *",
        "0 4 * * *": f"0 {utc.hour} * * *",
    }
    return Clone(shop)


def test_windows(shop: Reader, lab: Lab, clone: Clone) -> None:
    """An update waits, and is fetched ahead; the plan says so; an urgent one goes on at once."""
    site, deployment = PAGE.texts("yaml")
    clone.write("sites/harbor.yaml", site)
    clone.push("Windows of the site")
    clone.extend_deployment("storefront", deployment)
    clone.push("Windows of the deployment")
    eventually(
        lambda: "window" in shop.type("margrave deployment plan storefront --version 1.1.0"),
        120,
        "the plan knows the window",
    )
    eventually(lambda: clone.is_applied(), 120, "the site follows the windows")

    shop.type("margrave deployment update storefront --version 1.1.0")
    explain = PAGE.line(" explain ")
    eventually(
        lambda: "all of it is on the node" in shop.type(explain), 180, "the update is fetched ahead"
    )
    assert box.version(lab) == "1.0.0"
    shop.type(PAGE.line(" urgent "))
    eventually(lambda: box.version(lab) == "1.1.0", 180, "the urgent update does not wait")
    assert "line stands still" in clone.log()
    assert "line stands still" in shop.type("margrave audit list -o json")
    assert unexecuted("windows", shop.executed) == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Europe/Oslo", "Europe/Olso", "Europe/Olso"),
        ("duration: 2h", "duration: 745h", "744h"),
        ("0 2 * * 1-5", "0 25 * * 1-5", "25"),
        ("0 2 * * 1-5", "0 2 * *", "write minute hour day month weekday"),
        ("windows:", "window:", "windows"),
    ],
)
def test_a_wrong_window_is_refused_by_the_push(
    shop: Reader, clone: Clone, old: str, new: str, words: str
) -> None:
    """The controller's own repository takes no site whose windows it cannot read."""
    clone.pull()
    head = clone.head()
    text = PAGE.texts("yaml")[0]
    (clone.folder / "sites/harbor.yaml").write_text(text.replace(old, new))
    refused = clone.refused_push("Wrong windows")
    assert "sites/harbor.yaml" in refused and words in refused, refused
    assert clone.head() == head


def test_urgent_needs_a_reason(shop: Reader) -> None:
    """Without one nothing is requested."""
    line = PAGE.line(" urgent ").partition(" --reason")[0]
    assert "urgent needs a reason" in shop.type(line, 1)
