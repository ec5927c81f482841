"""Who wants certainty has it to the end: what was looked at is what is changed, or nothing is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.admission.decision import Asked
from margrave.errors import Conflict
from tests.support.registry import FakeRegistry
from tests.support.works import ADA, Works


@pytest.fixture
def works(tmp_path: Path) -> Iterator[Works]:
    registry = FakeRegistry().start()
    works = Works(tmp_path / "state", registry).with_apps("harbor")
    yield works
    works.store.close()
    registry.stop()


@pytest.fixture
def shop(works: Works) -> dict[str, str]:
    """Storefront in Git, at harbor."""
    one: dict[str, str] = works.create("harbor", version="1.0.0")["deployments"][0]
    works.publisher.publish_all()
    return one


def _greet(one: dict[str, str], words: str) -> dict[str, object]:
    select = {"ids": [one["id"]]}
    return {"action": "update", "select": select, "parameters": {"greeting": words}}


def test_a_plan_is_of_one_document(works: Works, shop: dict[str, str]) -> None:
    """A plan made before somebody changed another key of the same document holds no more."""
    body = _greet(shop, "moin")
    plan = works.admission.plan(body, ADA)
    works.act("update", shop["id"], health={"timeout": "3m"})
    works.publisher.publish_all()
    with pytest.raises(Conflict, match="the plan no longer holds"):
        works.admission.act({**body, "plan_hash": plan["hash"]}, ADA)


def test_of_two_with_one_plan_the_first_is_published(works: Works, shop: dict[str, str]) -> None:
    """Both were let in while none was published: the second ends as refused, and says why."""
    first, second = _greet(shop, "moin"), _greet(shop, "moin")
    plan = works.admission.plan(first, ADA)["hash"]
    one = works.admission.act({**first, "plan_hash": plan}, ADA)
    two = works.admission.act({**second, "plan_hash": plan}, ADA)
    works.publisher.publish_all()
    assert works.request(one)["state"] == "published"
    refused = works.request(two)
    assert refused["state"] == "refused"
    assert "has changed since it was looked at" in refused["error"]["message"]


def test_if_match_holds_until_it_is_published(works: Works, shop: dict[str, str]) -> None:
    """What was named stood when it was asked, and no more when it was its turn: refused."""
    path = f"deployments/{shop['site']}/{shop['id']}.yaml"
    named = {path: "sha256:" + "0" * 64}
    answer = works.admission.act(_greet(shop, "moin"), ADA, Asked(documents=named))
    before = works.document(shop)
    works.publisher.publish_all()
    assert works.request(answer)["state"] == "refused"
    assert works.document(shop) == before
