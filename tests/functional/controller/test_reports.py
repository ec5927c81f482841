"""What runners report is taken in once, in order, and nothing blocks the line."""

from __future__ import annotations

from controller.parts import Parts
from tests.functional.controller.kit import (
    COMMIT,
    REVISION,
    Api,
    Clock,
    Runner,
    add_deployment,
    add_site,
    placed,
)

HEALTH = {"class": "health", "code": "not-healthy", "message": "web is not healthy", "cure": "log"}


def _install(harbor: Runner, uuid: str, node: str) -> None:
    harbor.send(
        harbor.event("placement", placed(uuid, node, "PENDING")),
        harbor.event("placement", placed(uuid, node, "INSTALLING", "PENDING")),
        harbor.event(
            "placement",
            placed(
                uuid,
                node,
                "INSTALLED",
                "INSTALLING",
                outcome="succeeded",
                revision=REVISION["a"],
                version="1.0.0",
                health="healthy",
                actor="node",
                operation="00000000-0000-4000-8000-000000000001",
                commit=COMMIT,
            ),
        ),
    )


def test_an_install_becomes_state_placement_and_history(harbor: Runner, parts: Parts, viewer: Api):
    """Three events make a placement INSTALLED, its deployment too, and a history of three rows."""
    uuid = add_deployment(parts, "harbor")
    harbor.snapshot("harbor-1")
    _install(harbor, uuid, "harbor-1")
    shown = viewer.get(f"/deployments/{uuid}").json
    assert (shown["state"], shown["outcome"], shown["freshness"]) == (
        "INSTALLED",
        "succeeded",
        "fresh",
    )
    (one,) = viewer.get(f"/deployments/{uuid}/placements").json["items"]
    assert (one["node"], one["revision"], one["version"]) == ("harbor-1", REVISION["a"], "1.0.0")
    history = viewer.get(f"/deployments/{uuid}/history").json["items"]
    assert [row["to"] for row in history] == ["PENDING", "INSTALLING", "INSTALLED"]
    assert [row["irregular"] for row in history] == [False, False, False]
    assert history[2]["actor"] == "node"
    assert history[2]["commit"] == COMMIT


def test_repeats_are_taken_once(harbor: Runner, parts: Parts, viewer: Api):
    """The same batch sent again is acknowledged and changes nothing."""
    uuid = add_deployment(parts, "harbor")
    event = harbor.event("placement", placed(uuid, "harbor-1", "PENDING"))
    assert harbor.send(event).json == {"ack": 1}
    assert harbor.send(event).json == {"ack": 1}
    assert len(viewer.get(f"/deployments/{uuid}/history").json["items"]) == 1


def test_a_batch_that_overlaps_is_taken_from_where_it_is_new(harbor: Runner, parts: Parts, viewer):
    """Of a batch that begins with what is known only the rest is applied."""
    uuid = add_deployment(parts, "harbor")
    first = harbor.event("placement", placed(uuid, "harbor-1", "PENDING"))
    harbor.send(first)
    second = harbor.event("placement", placed(uuid, "harbor-1", "INSTALLING", "PENDING"))
    assert harbor.send(first, second).json == {"ack": 2}
    assert len(viewer.get(f"/deployments/{uuid}/history").json["items"]) == 2


def test_a_gap_is_told(harbor: Runner):
    """Events that are missing are asked for: 409 with the number expected."""
    harbor.seq = 4
    answer = harbor.report("site", {})
    assert answer.status_code == 409
    assert answer.get_json(force=True)["expected"] == 1


def test_a_snapshot_may_leap_over_a_gap(harbor: Runner, viewer: Api):
    """When older events are no longer kept, a snapshot continues the line."""
    harbor.seq = 41
    assert harbor.snapshot("harbor-1").json == {"ack": 42}
    assert harbor.report("site", {"applied_commit": COMMIT}).json == {"ack": 43}
    assert viewer.get("/sites/harbor").json["applied_commit"] == COMMIT


def test_an_event_that_cannot_be_read_blocks_nobody(harbor: Runner, parts: Parts, viewer: Api):
    """Unreadable events are kept as rejected and acknowledged; those around them count."""
    uuid = add_deployment(parts, "harbor")
    answer = harbor.send(
        harbor.event("weather", {"sunny": True}),
        harbor.event("placement", {"deployment": "../../etc/passwd"}),
        harbor.event("placement", None),
        harbor.event("placement", placed(uuid, "harbor-1", "PENDING")),
        {**harbor.event("site", {}), "at": "yesterday"},
    )
    assert answer.json == {"ack": 5}
    assert len(viewer.get(f"/deployments/{uuid}/history").json["items"]) == 1
    metrics = viewer.get("/metrics").text
    assert "margrave_rejected_reports_total 4" in metrics


def test_a_transition_outside_the_table_is_recorded_as_such(harbor, parts, viewer: Api):
    """The runner is the authority: what is irregular is flagged, counted and adopted."""
    uuid = add_deployment(parts, "harbor")
    harbor.report("placement", placed(uuid, "harbor-1", "PENDING"))
    harbor.report("placement", placed(uuid, "harbor-1", "UPDATING", "INSTALLED"))
    history = viewer.get(f"/deployments/{uuid}/history").json["items"]
    assert [row["irregular"] for row in history] == [False, True]
    assert viewer.get(f"/deployments/{uuid}").json["state"] == "UPDATING"
    assert "margrave_irregular_transitions_total 1" in viewer.get("/metrics").text


def test_rolled_back_is_never_a_success(harbor: Runner, parts: Parts, viewer: Api):
    """A release that failed on one node and was held on the other is rolled-back over both."""
    uuid = add_deployment(parts, "harbor")
    harbor.snapshot("harbor-1", "harbor-2")
    for node in ("harbor-1", "harbor-2"):
        _install(harbor, uuid, node)
    runs = {"revision": REVISION["a"], "version": "1.0.0"}
    failed = {**runs, "outcome": "failed", "error": HEALTH}
    harbor.send(
        harbor.event("placement", placed(uuid, "harbor-1", "UPDATING", "INSTALLED", **runs)),
        harbor.event("placement", placed(uuid, "harbor-1", "FAILED", "UPDATING", **failed)),
        harbor.event("placement", placed(uuid, "harbor-1", "ROLLINGBACK", "FAILED", **failed)),
        harbor.event(
            "placement",
            placed(uuid, "harbor-1", "INSTALLED", "ROLLINGBACK", **runs, outcome="rolled-back"),
        ),
        harbor.event(
            "placement", placed(uuid, "harbor-2", None, state="INSTALLED", outcome="held", **runs)
        ),
    )
    shown = viewer.get(f"/deployments/{uuid}").json
    assert (shown["state"], shown["outcome"]) == ("INSTALLED", "rolled-back")
    outcomes = {
        one["node"]: one["outcome"]
        for one in viewer.get(f"/deployments/{uuid}/placements").json["items"]
    }
    assert outcomes == {"harbor-1": "rolled-back", "harbor-2": "held"}


def test_a_report_about_what_was_wanted_before_does_not_tell_of_what_is_wanted(
    harbor: Runner, parts: Parts, viewer: Api
):
    """Success of an older revision leaves the outcome of the wanted one pending."""
    uuid = add_deployment(parts, "harbor", revision=REVISION["c"], version="2.0.0")
    _install(harbor, uuid, "harbor-1")
    shown = viewer.get(f"/deployments/{uuid}").json
    assert (shown["state"], shown["outcome"]) == ("INSTALLED", "pending")


def test_a_deleted_deployment_is_shown_only_when_asked_for(harbor, parts, viewer: Api):
    """Gone from Git and from every node: DELETED, and out of the plain list."""
    uuid = add_deployment(parts, "harbor", in_git=False)
    _install(harbor, uuid, "harbor-1")
    harbor.report("placement", placed(uuid, "harbor-1", "DELETING", "INSTALLED"))
    harbor.report("placement", placed(uuid, "harbor-1", "DELETED", "DELETING", outcome="succeeded"))
    assert viewer.get(f"/deployments/{uuid}").json["state"] == "DELETED"
    assert viewer.get("/deployments").json["items"] == []
    (one,) = viewer.get("/deployments?state=DELETED").json["items"]
    assert one["id"] == uuid


def test_silence_makes_unknown(harbor: Runner, parts: Parts, viewer: Api, clock: Clock):
    """Three periods of silence: the last state is shown, and that nobody knows whether it holds."""
    uuid = add_deployment(parts, "harbor")
    harbor.snapshot("harbor-1")
    _install(harbor, uuid, "harbor-1")
    clock.forward(29)
    assert viewer.get(f"/deployments/{uuid}").json["freshness"] == "fresh"
    clock.forward(1)
    assert viewer.get(f"/deployments/{uuid}").json["freshness"] == "unknown"
    assert viewer.get("/sites/harbor/nodes/harbor-1").json["status"] == "stale"
    clock.forward(60)
    assert viewer.get("/sites/harbor/nodes/harbor-1").json["status"] == "offline"
    assert harbor.beat("harbor-1").status_code == 200
    assert viewer.get(f"/deployments/{uuid}").json["freshness"] == "fresh"


def test_a_heartbeat_is_answered_with_commands_until_they_are_acknowledged(harbor, operator: Api):
    """A command repeats with each heartbeat until a report says what became of it."""
    given = operator.post("/sites/harbor/reload")
    assert given.status_code == 202
    for _ in range(2):
        (command,) = harbor.beat().json["commands"]
        trace = given.headers["X-Request-Id"]
        assert command == {"id": given.json["id"], "kind": "reload", "trace": trace}
    harbor.report("command", {"id": given.json["id"], "result": "done", "detail": ""})
    assert harbor.beat().json["commands"] == []


def test_a_wrong_clock_at_the_site_does_no_harm(harbor: Runner, viewer: Api, parts: Parts):
    """How long ago a node was seen counts by the runner's own clock."""
    harbor.snapshot("harbor-1")
    node = {"name": "harbor-1", "status": "active", "last_seen": "1999-01-01T00:00:00Z"}
    harbor.beat(at="1999-01-01T00:00:02Z", nodes=[node])
    shown = viewer.get("/sites/harbor/nodes/harbor-1").json
    assert (shown["status"], shown["last_seen"]) == ("active", "2026-03-01T11:59:58.000Z")


def test_an_older_epoch_adds_history_and_moves_nothing(harbor, parts, viewer, client, clock):
    """After a take-over the former runner's late reports are history, not the present."""
    uuid = add_deployment(parts, "harbor")
    _install(harbor, uuid, "harbor-1")
    new = Runner(client, "harbor", clock, epoch=2)
    new.snapshot("harbor-1")
    harbor.report("placement", placed(uuid, "harbor-1", "UPDATING", "INSTALLED"))
    assert viewer.get(f"/deployments/{uuid}").json["state"] == "INSTALLED"
    assert len(viewer.get(f"/deployments/{uuid}/history").json["items"]) == 4


def test_a_snapshot_ends_what_neither_runner_nor_git_knows(harbor, parts, viewer: Api):
    """After a restored database, what is gone everywhere is not shown as running for ever."""
    gone = add_deployment(parts, "harbor", "gone", in_git=False)
    kept = add_deployment(parts, "harbor", "kept")
    for uuid in (gone, kept):
        _install(harbor, uuid, "harbor-1")
    harbor.snapshot("harbor-1")
    assert viewer.get(f"/deployments/{gone}").json["state"] == "DELETED"
    assert viewer.get(f"/deployments/{kept}").json["state"] == "INSTALLED"


def test_operations_and_their_logs(harbor: Runner, parts: Parts, viewer: Api):
    """An operation is told while it goes on, with its log, and by deployment."""
    uuid = add_deployment(parts, "harbor")
    operation = {
        "id": "00000000-0000-4000-8000-000000000001",
        "deployment": uuid,
        "node": "harbor-1",
        "kind": "install",
        "state": "running",
        "phase": "prefetch",
        "attempt": 1,
        "started_at": "2026-03-01T12:00:00Z",
        "fence": {"epoch": 1, "seq": 1},
    }
    harbor.report("operation", operation)
    harbor.report("log", {"operation": operation["id"], "lines": ["pulling", "pulled"]})
    harbor.report("operation", {**operation, "state": "succeeded", "phase": "done"})
    (shown,) = viewer.get(f"/operations?deployment={uuid}").json["items"]
    assert (shown["state"], shown["phase"], shown["site"]) == ("succeeded", "done", "harbor")
    assert viewer.get(f"/operations/{shown['id']}/log").text == "pulling\npulled\n"


def test_a_site_cannot_speak_of_anothers_operation(harbor, parts, client, clock, viewer: Api):
    """An operation's id of another site is rejected, not overwritten."""
    add_site(parts, "depot")
    uuid = add_deployment(parts, "harbor")
    operation = {
        "id": "00000000-0000-4000-8000-000000000001",
        "deployment": uuid,
        "node": "harbor-1",
        "kind": "install",
        "state": "running",
    }
    harbor.report("operation", operation)
    Runner(client, "depot", clock).report("operation", {**operation, "state": "failed"})
    assert viewer.get(f"/operations/{operation['id']}").json["state"] == "running"


def test_a_hand_run_playbook_is_in_the_history(harbor, parts, operator: Api, viewer: Api):
    """What a person did by hand stands there with the person's name, and moves no placement."""
    uuid = add_deployment(parts, "harbor")
    _install(harbor, uuid, "harbor-1")
    result = {
        "node": "harbor-1",
        "deployment": uuid,
        "kind": "update",
        "outcome": "succeeded",
        "at": "2026-03-01T12:00:00Z",
    }
    run = {"tool": "ansible-playbook", "user": "grace", "playbook": "update.yml"}
    answer = operator.post("/sites/harbor/runs", json={**run, "results": [result]})
    assert (answer.status_code, answer.json) == (201, {"results": 1, "unknown": []})
    last = viewer.get(f"/deployments/{uuid}/history").json["items"][-1]
    assert last["actor"] == "hand:grace"
    assert viewer.get(f"/deployments/{uuid}").json["state"] == "INSTALLED"
