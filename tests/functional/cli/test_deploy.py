"""`deploy`, `create`, `update`, `plan` and the other verbs that ask for a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.functional.cli.conftest import Answer, Call, FakeController, Run

LIST = "/api/v1/deployments"
ACTIONS = "/api/v1/deployments/actions"
HARBOR = "11111111-1111-4111-8111-111111111111"
DEPOT = "22222222-2222-4222-8222-222222222222"


def deployment(site: str, name: str, **more: Any) -> dict[str, Any]:
    """A deployment as the API shows it."""
    base = {
        "id": name,
        "name": "storefront",
        "app": "storefront",
        "version": "1.0.0",
        "site": site,
        "state": "INSTALLED",
        "outcome": "succeeded",
        "revision": "sha256:new",
        "commit": "c1",
        "request": "r1",
    }
    return base | more


def placement(owner: str, **more: Any) -> dict[str, Any]:
    """A placement as the API shows it."""
    base = {
        "deployment": owner,
        "site": "harbor",
        "node": "harbor-1",
        "incarnation": 1,
        "state": "INSTALLED",
        "outcome": "succeeded",
        "wanted_revision": "sha256:new",
        "attempt": 1,
        "since": "2030-01-01T00:00:00Z",
        "error": None,
    }
    return base | more


@pytest.fixture
def known(controller: FakeController) -> FakeController:
    """A controller that knows the application and has it at harbor."""
    version = {
        "id": "storefront",
        "version": "1.1.0",
        "parameters": [
            {"name": "greeting", "default": "hello", "type": "string"},
            {"name": "size", "default": 1, "type": "integer"},
        ],
    }
    controller.on("GET", "/api/v1/apps/storefront", 200, version)
    controller.on("GET", "/api/v1/apps/storefront/versions/1.1.0", 200, version)
    controller.on("GET", "/api/v1/apps/storefront/versions/1.0.0", 200, version)
    controller.lists(LIST, deployment("harbor", HARBOR))
    controller.on("GET", f"{LIST}/{HARBOR}", 200, deployment("harbor", HARBOR))
    accepted = {"id": "r1", "position": 1, "deployments": [{"id": HARBOR, "site": "harbor"}]}
    controller.on("POST", LIST, 202, accepted)
    controller.on("POST", ACTIONS, 202, accepted)
    controller.on("POST", "/api/v1/plans", 200, {"plan": {"sites": [], "findings": []}})
    controller.on("GET", "/api/v1/requests/r1", 200, {"state": "published", "commit": "c1"})
    return controller


def test_deploy_creates_where_it_is_lacking_and_updates_where_it_is(
    run: Run, known: FakeController
) -> None:
    """Both are planned first, so that one that is refused does not leave the other alone."""
    ran = run(
        "deploy", "storefront@1.1.0", "--site", "harbor", "--site", "depot", "--set", "size=5",
        "--set", "greeting=5",
    )  # fmt: skip

    assert ran.code == 0, ran.err
    parameters = {"size": 5, "greeting": "5"}
    create = {
        "app": "storefront",
        "version": "1.1.0",
        "name": "storefront",
        "targets": {"sites": ["depot"]},
        "parameters": parameters,
    }
    update = {
        "action": "update",
        "select": {"ids": [HARBOR]},
        "version": "1.1.0",
        "parameters": parameters,
    }
    assert known.sent("POST", LIST) == [create]
    assert known.sent("POST", ACTIONS) == [update]
    assert known.sent("POST", "/api/v1/plans") == [create, update]


def test_a_plan_that_fails_stops_both(run: Run, known: FakeController) -> None:
    """What would be refused at one site leaves the other alone too."""
    finding = {"pointer": "/targets", "message": "port 8000 is taken", "severity": "error"}
    known.on("POST", "/api/v1/plans", 200, {"plan": {"sites": [], "findings": [finding]}})

    ran = run("deploy", "storefront@1.1.0", "--site", "harbor", "--site", "depot")

    assert (ran.code, "port 8000 is taken" in ran.err) == (1, True)
    assert known.sent("POST", LIST) == known.sent("POST", ACTIONS) == []


def test_deploy_without_a_version_means_the_newest(run: Run, known: FakeController) -> None:
    """The version that the catalogue calls newest is written into the request."""
    run("deploy", "storefront", "--site", "depot")

    assert known.sent("POST", LIST)[0]["version"] == "1.1.0"


def test_a_name_taken_by_another_application_is_refused(run: Run, known: FakeController) -> None:
    """Exit code 5, and nothing is sent."""
    known.lists(LIST, deployment("harbor", HARBOR, app="other"))

    assert run("deploy", "storefront", "--site", "harbor").code == 5
    assert known.sent("POST", LIST) == known.sent("POST", ACTIONS) == []


def test_json_is_what_the_api_answers(run: Run, known: FakeController) -> None:
    """The 202 body as it came."""
    ran = run("deployment", "update", "storefront", "--version", "1.1.0", "-o", "json")

    assert ran.json == {
        "id": "r1",
        "position": 1,
        "deployments": [{"id": HARBOR, "site": "harbor"}],
    }


def test_update_without_anything_to_change_is_usage(run: Run, known: FakeController) -> None:
    """Exit code 2, and nothing is sent."""
    assert run("deployment", "update", "storefront").code == 2
    assert known.sent("POST", ACTIONS) == []


@pytest.mark.parametrize("verb", ["retry", "cancel", "release", "rollback"])
def test_a_verb_is_one_action_on_all_of_that_name(
    run: Run, known: FakeController, verb: str
) -> None:
    """A name means all its sites, in one request."""
    known.lists(LIST, deployment("harbor", HARBOR), deployment("depot", DEPOT))

    assert run("deployment", verb, "storefront").code == 0
    assert known.sent("POST", ACTIONS) == [{"action": verb, "select": {"ids": [HARBOR, DEPOT]}}]


def test_site_narrows_a_name(run: Run, known: FakeController) -> None:
    """Only that site's deployment is meant; a site without it is not found."""
    known.lists(LIST, deployment("harbor", HARBOR), deployment("depot", DEPOT))

    run("deployment", "delete", "storefront", "--site", "depot", "--yes")
    assert known.sent("POST", ACTIONS)[0]["select"] == {"ids": [DEPOT]}
    assert run("deployment", "delete", "storefront", "--site", "hub", "--yes").code == 3


def test_a_beginning_of_an_id_is_enough(run: Run, known: FakeController) -> None:
    """Unambiguous: that one. Ambiguous: usage."""
    known.lists(LIST, deployment("harbor", HARBOR), deployment("depot", "11" + DEPOT[2:]))

    assert run("deployment", "retry", "1111").code == 0
    assert known.sent("POST", ACTIONS)[0]["select"] == {"ids": [HARBOR]}
    assert run("deployment", "retry", "11").code == 2


@pytest.mark.parametrize(
    ("action", "code"), [("install", 4), ("update", 4), ("delete", 4), ("none", 0), (None, 0)]
)
def test_plan_says_whether_it_would_change(
    run: Run, known: FakeController, action: str | None, code: int
) -> None:
    """4 when something would change, 0 when nothing would."""
    node = {"node": "harbor-1", "action": action, "from": "1.0.0", "to": "1.1.0"}
    plan = {"hash": "h", "sites": [{"site": "harbor", "nodes": [node]}], "findings": []}
    known.on("POST", "/api/v1/plans", 200, {"plan": plan})

    ran = run("deployment", "plan", "storefront@1.1.0", "--site", "harbor", "-o", "json")

    assert (ran.code, ran.json) == (code, {"plan": plan})
    assert known.sent("POST", ACTIONS) == []


def test_a_plan_with_findings_fails(run: Run, known: FakeController) -> None:
    """A port that is taken is told, with exit code 1."""
    finding = {"pointer": "/x", "message": "port 8000 is taken", "severity": "error"}
    plan = {"hash": "h", "sites": [], "findings": [finding]}
    known.on("POST", "/api/v1/plans", 200, {"plan": plan})

    ran = run("deployment", "plan", "storefront", "--version", "1.1.0")

    assert (ran.code, "port 8000 is taken" in ran.out) == (1, True)


class Moves:
    """A deployment that goes from answer to answer each time it is looked at."""

    def __init__(self, controller: FakeController, *steps: dict[str, Any]) -> None:
        self.steps = list(steps)
        controller.does("GET", f"{LIST}/{HARBOR}/placements", self._placements)

    def _placements(self, _: Call) -> Answer:
        step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        return 200, {"items": [placement(HARBOR, **step)], "next": None}


WAIT = ("deployment", "update", "storefront", "--version", "1.1.0", "--wait")


def test_wait_ends_with_0_when_all_succeeded(run: Run, known: FakeController) -> None:
    """An old success is not taken for the new one: the wanted revision is judged."""
    old = {"wanted_revision": "sha256:old"}
    Moves(known, old, {"state": "UPDATING", "outcome": "pending"}, {})

    ran = run(*WAIT, "-o", "json")

    assert ran.code == 0, ran.err
    assert ran.json["placements"][0]["wanted_revision"] == "sha256:new"
    assert len([one for one in known.calls if one.path.endswith("/placements")]) == 3


def test_wait_waits_for_the_request_to_be_published(run: Run, known: FakeController) -> None:
    """Nothing is judged while the request stands in the queue."""
    states = ["queued", "publishing", "published"]
    known.does(
        "GET",
        "/api/v1/requests/r1",
        lambda _: (200, {"state": states.pop(0) if len(states) > 1 else states[0], "commit": "c1"}),
    )
    Moves(known, {})

    assert run(*WAIT).code == 0
    assert states == ["published"]


@pytest.mark.parametrize(
    "end",
    [
        {"outcome": "rolled-back"},
        {"outcome": "held"},
        {"state": "FAILED", "outcome": "failed"},
        {"state": "FAILED", "outcome": "rollback-failed"},
    ],
)
def test_wait_ends_with_1_when_one_ended_otherwise(
    run: Run, known: FakeController, end: dict[str, Any]
) -> None:
    """Rolled back is no success; the line says where and why."""
    error = {"class": "health", "code": "x", "message": "never healthy", "cure": "see its log"}
    Moves(known, {**end, "error": error})

    ran = run(*WAIT)

    assert ran.code == 1
    assert f"harbor/harbor-1: {end['outcome']}: health: never healthy (see its log)" in ran.err


def test_a_failure_that_goes_back_is_waited_for(run: Run, known: FakeController) -> None:
    """FAILED is passed through on the way back; the end is rolled-back."""
    Moves(known, {"state": "FAILED", "outcome": "failed"}, {"outcome": "rolled-back"})

    ran = run(*WAIT)

    assert (ran.code, "harbor/harbor-1: rolled-back" in ran.err) == (1, True)


def test_wait_ends_with_124_at_the_limit(run: Run, known: FakeController) -> None:
    """What was still missing is told."""
    Moves(known, {"state": "UPDATING", "outcome": "pending"})

    ran = run(*WAIT, "--timeout", "1s")

    assert ran.code == 124
    assert "storefront at harbor" in ran.err


def test_a_request_that_is_refused_ends_the_wait(run: Run, known: FakeController) -> None:
    """The document was gone when it was published: 1, with the reason."""
    known.on("GET", "/api/v1/requests/r1", 200, {"state": "failed", "error": {"message": "gone"}})

    ran = run(*WAIT)

    assert (ran.code, "gone" in ran.err) == (1, True)


def test_delete_waits_until_it_is_gone(run: Run, known: FakeController) -> None:
    """DELETED is success."""
    Moves(known, {})
    known.on("GET", f"{LIST}/{HARBOR}", 200, deployment("harbor", HARBOR, state="DELETED"))

    assert run("deployment", "delete", "storefront", "--yes", "--wait").code == 0


def test_retry_is_not_judged_by_the_old_failure(run: Run, known: FakeController) -> None:
    """The placement has to move before its outcome counts."""
    held = {"outcome": "held"}
    Moves(known, held, held, {"state": "UPDATING", "outcome": "pending", "attempt": 2}, {})

    assert run("deployment", "retry", "storefront", "--wait").code == 0


def test_retry_ends_when_one_failed_again_and_the_other_is_held_again(
    run: Run, known: FakeController
) -> None:
    """The held one looks as before; the one that was tried tells that all has ended."""
    failed = {"outcome": "rolled-back"}
    rows = [
        [placement(HARBOR, **failed, since=since), placement(HARBOR, node="n2", outcome="held")]
        for since in ("2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z", "2030-01-01T00:01:00Z")
    ]
    known.does(
        "GET",
        f"{LIST}/{HARBOR}/placements",
        lambda _: (200, {"items": rows.pop(0) if len(rows) > 1 else rows[0], "next": None}),
    )

    assert run("deployment", "retry", "storefront", "--wait", "--timeout", "5s").code == 1


def test_a_controller_that_restarts_is_waited_for(run: Run, known: FakeController) -> None:
    """503 in the middle is not the end."""
    answers: list[Answer] = [(503, {"detail": "starting"}), (200, deployment("harbor", HARBOR))]
    known.does(
        "GET", f"{LIST}/{HARBOR}", lambda _: answers.pop(0) if len(answers) > 1 else answers[0]
    )
    Moves(known, {})

    assert run(*WAIT).code == 0
