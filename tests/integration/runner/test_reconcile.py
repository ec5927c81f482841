"""A whole site on real Git and a real database, with nodes that are only pretended."""

from __future__ import annotations

import threading
from pathlib import Path

from margrave.lifecycle import Kind, Outcome, State
from runner.store import outbox, site
from tests.support.repository import STOREFRONT
from tests.support.site import World
from tests.support.waiting import eventually


def test_a_push_installs_on_every_node_one_first(world: World) -> None:
    """The canary goes first; the others follow once it is healthy."""
    world.repository.deploy("1.0.0")
    world.repository.push()
    world.settle()
    assert {one.state for one in world.placements().values()} == {State.INSTALLED}
    assert {one.outcome for one in world.placements().values()} == {Outcome.SUCCEEDED}
    told = world.told()
    assert told.index(("harbor-1", "INSTALLING", "INSTALLED")) < told.index(
        ("harbor-2", "PENDING", "INSTALLING")
    )


def test_an_update_arrives(running: World) -> None:
    """A newer revision in Git is what runs in the end."""
    running.repository.deploy("1.1.0", greeting="moin")
    running.repository.push()
    running.settle()
    assert set(running.versions().values()) == {"1.1.0"}
    call = running.executor.calls[-1]
    assert call.kind is Kind.UPDATE
    assert call.arguments["components"][0]["variables"] == {"GREETING": "moin 1.1.0"}
    assert call.arguments["components"][0]["timeout"] == 15
    assert Path(call.arguments["components"][0]["src"], "compose.yaml").is_file()


def test_a_broken_release_rolls_back_and_holds_the_other_node(running: World) -> None:
    """Tried on one node, twice; rolled back there, held elsewhere, and not tried again."""
    running.executor.broken_versions.add("1.2.0")
    running.repository.deploy("1.2.0")
    running.repository.push()
    for _ in range(3):
        running.settle()
        running.hurry()
    running.settle()
    found = running.placements()
    tried = [one for one in found.values() if one.outcome is Outcome.ROLLED_BACK]
    held = [one for one in found.values() if one.outcome is Outcome.HELD]
    assert (len(tried), len(held)) == (1, 1)
    assert {one.state for one in found.values()} == {State.INSTALLED}
    assert {one.version for one in found.values()} == {"1.0.0"}
    assert {one.wanted_version for one in found.values()} == {"1.2.0"}
    kinds = [one.kind for one in running.executor.calls[2:]]
    assert kinds == [Kind.UPDATE, Kind.UPDATE, Kind.ROLLBACK]
    running.settle()
    assert len(running.executor.calls) == 5


def test_the_next_good_release_goes_through_after_a_bad_one(running: World) -> None:
    """Quarantine holds one revision back, not the deployment."""
    running.executor.broken_versions.add("1.2.0")
    running.repository.deploy("1.2.0")
    running.repository.push()
    for _ in range(3):
        running.settle()
        running.hurry()
    running.repository.deploy("1.3.0")
    running.repository.push()
    running.settle()
    assert set(running.versions().values()) == {"1.3.0"}
    assert {one.outcome for one in running.placements().values()} == {Outcome.SUCCEEDED}


def test_what_is_gone_from_git_is_taken_off(running: World) -> None:
    """Removing the document deletes, on every node."""
    running.repository.remove(f"deployments/harbor/{STOREFRONT}.yaml")
    running.repository.push()
    running.settle()
    assert {one.state for one in running.placements().values()} == {State.DELETED}
    assert set(running.versions().values()) == {None}
    running.repository.deploy("1.0.0")
    running.repository.push()
    running.settle()
    assert {one.incarnation for one in running.placements().values()} == {2}


def test_a_commit_for_another_site_does_nothing_here(running: World) -> None:
    """Not even a broken document of another site is our business."""
    before = len(running.executor.calls)
    running.repository.write("deployments/depot/broken.yaml", "id: [")
    commit = running.repository.push()
    running.settle()
    assert len(running.executor.calls) == before
    assert not running.halted()
    with running.runner.ground.store.read() as tx:
        assert site.site_state(tx).applied_commit == commit


def test_a_node_that_is_away_waits_and_catches_up(running: World) -> None:
    """Unreachable is not failed: the same call is made again when the node is back."""
    running.executor.nodes["harbor-1"].away = True
    running.repository.deploy("1.1.0", strategy={"batch": "all"})
    running.repository.push()
    running.runner.work.watch.look(hinted=True)
    running.runner.work.reconciler.tick()
    eventually(lambda: running.placements()["harbor-1"].waiting)
    one = running.placements()["harbor-1"]
    assert (one.state, one.waiting and one.waiting["for"]) == (State.UPDATING, "node")
    eventually(lambda: running.versions()["harbor-2"] == "1.1.0")
    running.executor.nodes["harbor-1"].away = False
    running.hurry()
    running.settle()
    assert set(running.versions().values()) == {"1.1.0"}
    calls = [
        c for c in running.executor.calls if c.node.name == "harbor-1" and c.kind is Kind.UPDATE
    ]
    assert len({str(call.arguments["fence"]) for call in calls}) == 1


def test_the_newest_revision_wins_over_a_call_that_waits(running: World) -> None:
    """What was never begun on a node that is away is not begun when a newer revision is there."""
    running.executor.nodes["harbor-1"].away = True
    running.repository.deploy("1.1.0")
    running.repository.push()
    running.runner.work.watch.look(hinted=True)
    running.runner.work.reconciler.tick()
    eventually(lambda: running.placements()["harbor-1"].waiting)
    running.repository.deploy("1.3.0")
    running.repository.push()
    running.executor.nodes["harbor-1"].away = False
    running.settle()
    assert set(running.versions().values()) == {"1.3.0"}
    assert "1.1.0" not in [
        c.arguments.get("version") for c in running.executor.calls[3:] if c.node.name == "harbor-1"
    ]


def test_a_runner_that_was_killed_finishes_without_doubling(running: World) -> None:
    """The same call, with the same fence, is made again, and the node answers what it did."""
    running.executor.lost = {Kind.UPDATE}
    running.repository.deploy("1.1.0")
    running.repository.push()
    running.runner.work.watch.look(hinted=True)
    answered = threading.Event()
    running.executor.before_answer = lambda call: answered.set()
    running.runner.work.reconciler.tick()
    assert answered.wait(60)
    assert running.placements()["harbor-1"].state is State.UPDATING
    running.executor.lost = set()
    running.restart()
    running.settle()
    assert set(running.versions().values()) == {"1.1.0"}
    # Once for the install, once for the update: the repeated call changed nothing.
    assert running.executor.nodes["harbor-1"].switches == 2
    told = [move for move in running.told() if move[0] == "harbor-1"]
    assert told[-2:] == [
        ("harbor-1", "INSTALLED", "UPDATING"),
        ("harbor-1", "UPDATING", "INSTALLED"),
    ]


def test_drift_is_healed_within_its_budget(running: World) -> None:
    """What a person changes on a node comes back, but not for ever."""
    for _ in range(7):
        running.executor.nodes["harbor-2"].drift[STOREFRONT] = [{"what": "web is missing"}]
        running.settle()
    heals = [one for one in running.executor.calls if one.kind is Kind.UPDATE]
    assert len(heals) == 5
    one = running.placements()["harbor-2"]
    assert one.waiting is not None and one.waiting["for"] == "budget"
    assert one.drift == ["web is missing"]


def test_site_trouble_is_retried_without_end_and_never_rolls_back(running: World) -> None:
    """A registry that is down is the site's trouble, not the release's."""
    running.executor.error = {"class": "registry", "code": "down", "message": "503", "cure": ""}
    running.repository.deploy("1.1.0")
    running.repository.push()
    for _ in range(5):
        running.settle()
        running.hurry()
    one = running.placements()["harbor-1"]
    assert (one.state, one.outcome) == (State.FAILED, Outcome.PENDING)
    assert Kind.ROLLBACK not in {call.kind for call in running.executor.calls}
    running.executor.error = None
    running.hurry()
    running.settle()
    assert set(running.versions().values()) == {"1.1.0"}


def test_another_runners_mark_makes_this_one_stand_down(running: World) -> None:
    """Two runners by mistake: the second does nothing, and says whose the node is."""
    running.executor.nodes["harbor-1"].runner = "somebody-else"
    running.repository.deploy("1.1.0")
    running.repository.push()
    running.settle()
    answer = running.runner.public.test_client().get("/readyz")
    assert answer.status_code == 503
    assert "somebody-else" in answer.get_json()["reason"]
    assert running.versions()["harbor-2"] == "1.0.0"


def test_a_site_without_git_goes_on(running: World) -> None:
    """What was verified last is kept, so drift is healed although the repository is gone."""
    running.restart()
    running.repository.bare.rename(running.base / "elsewhere.git")
    running.executor.nodes["harbor-2"].drift[STOREFRONT] = [{"what": "web is missing"}]
    running.settle()
    assert running.executor.calls[-1].kind is Kind.UPDATE
    assert running.placements()["harbor-2"].drift == []


def test_a_node_with_work_on_it_is_not_taken_off_by_mistake(running: World) -> None:
    """Containers that nobody looks after would stay behind."""
    desk = running.runner.admin.test_client()
    answer = desk.delete("/nodes/harbor-1")
    assert answer.status_code == 409
    assert "storefront" in answer.get_json()["detail"]
    assert desk.delete("/nodes/harbor-9").status_code == 404


def test_an_answer_that_is_never_given_is_asked_for_again(running: World) -> None:
    """A call that was noted but not handed over is made in the next tick."""
    running.executor.start, start = lambda *_: None, running.executor.start
    running.repository.deploy("1.1.0")
    running.repository.push()
    running.runner.work.watch.look(hinted=True)
    running.runner.work.reconciler.tick()
    assert running.placements()["harbor-1"].state is State.UPDATING
    running.executor.start = start
    running.runner.work.operations._patience.clear()
    running.settle()
    assert set(running.versions().values()) == {"1.1.0"}


def test_a_second_look_changes_and_tells_nothing(running: World) -> None:
    """When all is as it should be, a tick is silent."""
    with running.runner.ground.store.read() as tx:
        before = outbox.count_waiting(tx)
    running.settle()
    with running.runner.ground.store.read() as tx:
        assert outbox.count_waiting(tx) == before
    assert len(running.executor.calls) == 2
