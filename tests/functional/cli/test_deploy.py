"""`deploy`, `create`, `update`, `plan` and the other verbs that ask for a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.functional.cli.storefront import ACTIONS, DEPOT, HARBOR, LIST, deployment

if TYPE_CHECKING:
    from tests.functional.cli.conftest import FakeController, Run


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
        "select": {"ids": [HARBOR], "sites": ["harbor"]},
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
    select = {"ids": [HARBOR, DEPOT], "sites": ["depot", "harbor"]}
    assert known.sent("POST", ACTIONS) == [{"action": verb, "select": select}]


@pytest.mark.parametrize(
    ("verb", "extra"),
    [
        ("rollback", {"priority": "urgent", "reason": "tills stop"}),
        ("delete", {"priority": "bulk", "reason": "end of season"}),
        ("retry", {"reason": "the registry is back"}),
        ("cancel", {"reason": "wrong shop"}),
        ("release", {"reason": "it was the disk"}),
    ],
)
def test_how_urgent_and_why_is_said_with_the_verb(
    run: Run, known: FakeController, verb: str, extra: dict[str, str]
) -> None:
    """As the API takes it: what is urgent passes a closed window, and the reason is kept."""
    words = [word for name, value in extra.items() for word in (f"--{name}", value)]
    yes = ("--yes",) if verb == "delete" else ()
    assert run("deployment", verb, "storefront", *words, *yes).code == 0

    select = {"ids": [HARBOR], "sites": ["harbor"]}
    assert known.sent("POST", ACTIONS) == [{"action": verb, "select": select, **extra}]


def test_site_narrows_a_name(run: Run, known: FakeController) -> None:
    """Only that site's deployment is meant; a site without it is not found."""
    known.lists(LIST, deployment("harbor", HARBOR), deployment("depot", DEPOT))

    run("deployment", "delete", "storefront", "--site", "depot", "--yes")
    assert known.sent("POST", ACTIONS)[0]["select"] == {"ids": [DEPOT], "sites": ["depot"]}
    assert run("deployment", "delete", "storefront", "--site", "hub", "--yes").code == 3


def test_a_beginning_of_an_id_is_enough(run: Run, known: FakeController) -> None:
    """Unambiguous: that one. Ambiguous: usage."""
    known.lists(LIST, deployment("harbor", HARBOR), deployment("depot", "11" + DEPOT[2:]))

    assert run("deployment", "retry", "1111").code == 0
    assert known.sent("POST", ACTIONS)[0]["select"] == {"ids": [HARBOR], "sites": ["harbor"]}
    assert run("deployment", "retry", "11").code == 2


@pytest.mark.parametrize(
    "words",
    [
        ("deployment", "update", "storefront", "--version", "1.1.0"),
        ("deploy", "storefront@1.1.0", "--site", "harbor"),
    ],
)
def test_a_parameter_may_be_a_secret_of_the_site(
    run: Run, known: FakeController, words: tuple[str, ...]
) -> None:
    """`--secret` sends the form that the API takes, beside values of `--set`."""
    assert run(*words, "--secret", "greeting=db-password", "--set", "size=2").code == 0

    [body] = known.sent("POST", ACTIONS)
    assert body["parameters"] == {"greeting": {"secret": "db-password"}, "size": 2}


def test_the_json_of_a_secret_is_no_value(run: Run, known: FakeController) -> None:
    """The application would get that text: refused with the option that means it."""
    ran = run("deployment", "update", "storefront", "--set", 'greeting={"secret": "db-password"}')

    assert (ran.code, "--secret greeting=db-password" in ran.err) == (2, True), ran.err
    assert known.sent("POST", ACTIONS) == []


def test_a_parameter_with_two_values_is_refused(run: Run, known: FakeController) -> None:
    """Neither the value nor the secret wins."""
    words = ("--set", "greeting=ahoy", "--secret", "greeting=db-password")

    assert run("deployment", "update", "storefront", *words).code == 2
