"""A call comes to the same whether the module travels with it or its code lies on the node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.support import imported
from tests.support.shop import ENGINES, Shop, Step, four

pytestmark = pytest.mark.lab

CODE = "/run/margrave-code"
# How long it took is the machine's own affair, and of the facts Ansible tells once a play.
APART = ("durations", "ansible_facts")


def _plain(answers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: one[key] for key in one if key not in APART} for one in answers]


def _story(shop: Shop) -> list[Step]:
    """Each kind, checked and done; what is refused, by Ansible and by the node; what fails."""
    unknown = Step("workload_install", {**shop.content("1.0.0"), "colour": "red"})
    secret = {"registries": [{"host": "r.example", "username": "u", "password": "hunter2-hidden"}]}
    short = shop.content("1.2.0", timeout=4)
    return [
        unknown,
        Step("workload_delete", {"deployment": "x", "volumes": "some"}),
        Step("workload_delete", {"deployment": "no UUID"}),
        *four(shop.install("1.0.0", **shop.fence(1), **secret)),
        shop.install("1.0.0", **shop.fence(1), request_id="another"),
        *four(Step("workload_prefetch", {**shop.content("1.1.0"), **shop.fence(2)})),
        *four(shop.update("1.1.0", **shop.fence(3))),
        Step("workload_update", {**short, **shop.fence(4)}, diff=True),
        *four(shop.rollback(**shop.fence(5))),
        shop.update("1.1.0", **shop.fence(1)),
        shop.delete(force=True, volumes="remove", request_id="last"),
        shop.delete(check=True, **shop.fence(6)),
        Step("workload_info", {}),
    ]


@pytest.mark.full
@pytest.mark.parametrize("shop", ENGINES, indirect=True)
def test_both_ways_lead_to_the_same(shop: Shop) -> None:
    """Answers, diffs, failures, refusals, and what the node's system log has of it."""
    told, logged, left = [], [], []
    for shop.directly in (False, True):
        shop.clean()
        shop.ssh(f"rm -rf {CODE}; journalctl --quiet --rotate --vacuum-time=1s")
        told.append(_plain(shop.call(*_story(shop))))
        log = "journalctl --quiet -o cat --identifier ansible-margrave.edge.workload_{}"
        logged.append([shop.ssh(log.format(kind)) for kind in ("install", "update", "delete")])
        left.append(shop.ssh(f"ls {CODE} 2>/dev/null || true").split())

    for carried, direct in zip(*told, strict=True):
        assert carried == direct
    assert logged[0] == logged[1]
    assert f"deployment {shop.deployment} request last forced" in logged[1][2]
    assert "hunter2" not in str(told) + str(logged)
    # And they were two.
    assert [len(one) for one in left] == [0, 1]


def test_what_is_laid_down_is_found_by_the_next(shop: Shop) -> None:
    """One transfer for a node and a boot; a folder that others could write to is used by nobody."""
    shop.ssh(f"rm -rf {CODE}")
    shop.one(shop.delete())
    laid = shop.ssh(f"stat -c %Y.%i {CODE}/*")
    shop.one(shop.delete())
    assert shop.ssh(f"stat -c %Y.%i {CODE}/*") == laid

    shop.ssh(f"rm -rf {CODE}/* && chmod 777 {CODE}")
    carried = shop.one(shop.delete())
    found = shop.ssh(f"ls {CODE}")
    shop.ssh(f"rm -rf {CODE}")

    assert (carried["state"], found) == ("DELETED", "")


@pytest.mark.parametrize(
    "words",
    [
        {"async": 60, "poll": 1},
        {"delegate_to": "{{ inventory_hostname }}"},
        {"vars": {"ansible_python_interpreter": "auto_silent"}},
    ],
    ids=["async", "delegated", "looked for"],
)
def test_what_is_not_the_plain_case_goes_ansibles_way(shop: Shop, words: dict[str, Any]) -> None:
    """And comes to the same."""
    shop.ssh(f"rm -rf {CODE}")
    delete = shop.delete()
    carried = shop.one(Step(delete.module, delete.arguments, words=words))

    assert (carried["state"], carried["deleted"]) == ("DELETED", True)
    assert shop.ssh(f"ls {CODE} 2>/dev/null || true") == ""


def test_a_call_imports_nothing_costly(shop: Shop) -> None:
    """With the Python that nodes have, which is newer than ours."""
    shop.one(shop.delete())

    loaded = set(shop.ssh(f"{imported.command('/usr/bin/python3', 'update')} < /dev/null").split())

    assert f"{imported.PACKAGE}._engine" in loaded
    assert loaded & (imported.COSTLY | {"_hashlib"}) == set()
