"""Each engine does what all of them promise: one story, told to every one of them."""

from __future__ import annotations

import pytest

from tests.support.engined import Charted, Engined
from tests.support.shop import Step, assert_alike, four

pytestmark = pytest.mark.lab

CHECK_ACT_AGAIN = [True, True, False, False]

ENGINES = [
    # What it promises is shown for podman by all other tests of this folder too.
    pytest.param("podman", marks=pytest.mark.full),
    "docker",
    pytest.param("helm", marks=pytest.mark.full),
]


@pytest.mark.parametrize("subject", ENGINES, indirect=True)
def test_an_engine_keeps_the_promises(subject: Engined | Charted) -> None:
    """Each is done once and said alike beforehand; a bad release goes back, drift is mended, data
    stays until it is told to go, and a delete is whole."""
    install, update = subject.install("1.0.0"), subject.update("1.1.0")
    bad = Step("workload_update", subject.content("1.2.0", timeout=6))
    look = Step("workload_info", {"deployment": subject.deployment})
    subject.add_stranger()

    installed = subject.call(*four(install))
    made_ready = subject.call(*four(Step("workload_prefetch", update.arguments)))
    first = subject.page()
    updated = subject.call(*four(update), bad, look)
    second = subject.page()
    subject.damage()
    drifted, mended, again, back = subject.call(look, update, update, subject.rollback())
    third = subject.page()
    kept = subject.call(*four(subject.delete()))
    data = subject.data()
    deleted = subject.call(*four(subject.delete(volumes="remove")), look)

    for answers in (installed, made_ready, updated[:4], kept, deleted[:4]):
        assert [one["changed"] for one in answers] == CHECK_ACT_AGAIN
        assert_alike(answers)
    assert {one["next_revision"] for one in made_ready} == {update.arguments["revision"]}
    assert first == {"version": "1.0.0", "greeting": "hello"}
    failed, after = updated[4:]
    assert (failed["state"], failed["rolled_back"]) == ("FAILED", True)
    assert (failed["error"]["class"], failed["version"]) == ("health", "1.1.0")
    assert (after["workloads"][0]["version"], after["workloads"][0]["drift"]) == ("1.1.0", [])
    assert second["version"] == "1.1.0"
    assert [one["what"] for one in drifted["workloads"][0]["drift"]] == ["missing"]
    assert [one["changed"] for one in (mended, again, back)] == [True, False, True]
    assert third["version"] == "1.0.0"
    assert [len(one["volumes_kept"]) for one in kept] == [1] * 4
    assert (len(data.split()), subject.data()) == (1, "")
    assert deleted[4]["workloads"] == []
    assert "foreign" in subject.stranger()
    assert subject.ssh("find /var/lib/margrave /run/margrave -mindepth 1") == ""
