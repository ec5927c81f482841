"""The runner's pure parts: limits, secrets, arguments, observations."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from margrave.documents.deployment import Deployment, read_deployment, render
from margrave.documents.extensions import Extensions, Policy
from margrave.documents.site import SiteDocument, SitePart
from margrave.errors import MargraveError
from margrave.lifecycle import Kind, Outcome, State
from margrave.sections import Registry
from runner.outbox.backoff import Backoff
from runner.ports import Observation, Status
from runner.reconcile import arguments
from runner.reconcile.limits import narrowed
from runner.reconcile.observe import seen_change
from runner.reconcile.sensitive import Secrets, Sensitive, hidden
from runner.reconcile.view import plain_release
from runner.store.values import Placement

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def deployment(
    value: Any = "hello", health: dict[str, str] | None = None, timeout: str | None = "0m15s"
) -> Deployment:
    """A deployment with one parameter."""
    properties = {"repository": "oci://r.example/s", "revision": "1.0.0"}
    if timeout:
        properties["timeout"] = timeout
    component = {
        "name": "web",
        "properties": properties,
        "x-margrave-extensions": {"source": "components/" + "ab" * 32},
    }
    target = {"pointer": "GREETING", "components": ["web"]}
    spec = {
        "applicationId": "storefront",
        "deploymentProfile": {"type": "compose", "components": [component]},
        "parameters": {"greeting": {"value": value, "targets": [target]}},
        "x-margrave-extensions": {"health": health} if health else {},
    }
    document = {
        "id": "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
        "metadata": {"name": "storefront", "namespace": "default", "deviceId": "harbor/*"},
        "spec": spec,
    }
    return read_deployment(render(document), "x.yaml")


def placement(**changes: Any) -> Placement:
    """An installed placement."""
    made = Placement(
        deployment="d",
        node="harbor-1",
        incarnation=1,
        name="storefront",
        state=State.INSTALLED,
        outcome=Outcome.SUCCEEDED,
        since=NOW,
        release="a" * 64,
        revision="sha256:" + "a" * 64,
        health="healthy",
    )
    return replace(made, **changes)


def test_the_runner_only_narrows_the_sites_policy() -> None:
    """Deny wins, lists are cut to what both allow, unset keys change nothing."""
    wide = Policy(
        privileged="allow", host_paths=["/data", "/etc"], registries=["*"], devices=["/dev/a"]
    )
    document = SiteDocument(SitePart(policy=wide))
    own = {
        "privileged": "deny",
        "host_paths": ["/data", "/srv"],
        "registries": ["r.example"],
        "devices": ["*"],
        "capabilities": ["NET_ADMIN"],
        "host_namespaces": None,
    }
    policy = narrowed(document, own)
    assert policy["privileged"] == "deny"
    assert policy["host_paths"] == ["/data"]
    assert policy["registries"] == ["r.example"]
    assert policy["devices"] == ["/dev/a"]
    assert policy["capabilities"] == []
    assert narrowed(document, {})["privileged"] == "allow"


def test_a_rotated_secret_is_another_release(tmp_path: Path) -> None:
    """The revision stays, the release differs, and the value is nowhere in it."""
    (tmp_path / "db").write_text("first\n")
    secrets = Secrets(tmp_path, tmp_path / "key")
    document = deployment("secret://db")
    before = secrets.release_of(document)
    assert before == Secrets(tmp_path, tmp_path / "key").release_of(document)
    (tmp_path / "db").write_text("second\n")
    assert secrets.release_of(document) != before
    assert secrets.release_of(deployment()) == plain_release(deployment())


def test_secrets_are_resolved_only_for_the_call(tmp_path: Path) -> None:
    """What is stored names them; what travels holds them, values of charts in their own types."""
    (tmp_path / "db").write_text("s3cret\n")
    (tmp_path / "login").write_text("pw\n")
    registries = [
        Registry(host="r.example", username="u", password_file=tmp_path / "login"),
        Registry(host="plain.example:5000", insecure=True),
        Registry(host="nothing.to.say"),
    ]
    add = Sensitive(Secrets(tmp_path, tmp_path / "key"), registries)
    variables = {"A": "secret://db", "B": "plain"}
    values = {"db.password": "secret://db", "web.replicas": 2, "web.tags": ["secret://db"]}

    stored = [{"name": "web", "variables": variables}, {"name": "db", "values": values}]

    added = add({"components": stored})

    assert hidden({"components": stored}, added) == ("s3cret", "pw")
    assert added["components"] == [
        {"name": "web", "variables": {"A": "s3cret", "B": "plain"}},
        {"name": "db", "values": {**values, "db.password": "s3cret"}},
    ]
    assert added["registries"] == [
        {"host": "r.example", "username": "u", "password": "pw"},
        {"host": "plain.example:5000", "insecure": True},
    ]


@pytest.mark.parametrize("name", ["missing", "../key", "a/b", ""])
def test_a_secret_that_is_not_there_is_told_by_name(tmp_path: Path, name: str) -> None:
    """No name leads out of the folder."""
    (tmp_path / "secrets").mkdir()
    (tmp_path / "key").write_text("k")
    with pytest.raises(MargraveError, match="secret"):
        Secrets(tmp_path / "secrets", tmp_path / "key").value(name)


def test_a_component_keeps_its_own_limit_unless_the_document_sets_one(tmp_path: Path) -> None:
    """`health.timeout` holds for components without a limit, or for all when it is written."""
    own = arguments.release_arguments(deployment(), Extensions(), {}, tmp_path)
    assert own["components"][0]["timeout"] == 15
    written = deployment(health={"timeout": "90s"})
    assert (
        arguments.release_arguments(written, written.extensions, {}, tmp_path)["components"][0][
            "timeout"
        ]
        is None
    )
    assert arguments.deadline(Kind.UPDATE, own) > 3600
    assert arguments.deadline(Kind.DELETE, {}) < 3600


def test_a_chart_is_called_for_with_its_namespace_and_typed_values(tmp_path: Path) -> None:
    """From Git by its folder and digest, else from the registry for the node to pull."""
    raw = dict(deployment().raw)
    profile = {**raw["spec"]["deploymentProfile"], "type": "helm"}
    delivered = profile["components"][0]
    pulled = {"name": "db", "properties": {"repository": "oci://r.example/db", "revision": "2.1.0"}}
    profile["components"] = [delivered, pulled]
    values = {"replicas": (2, ["web"]), "debug": (True, ["web", "db"]), "tags": (["a"], ["db"])}
    raw["metadata"] = {**raw["metadata"], "namespace": "shop"}
    raw["spec"] = {
        **raw["spec"],
        "deploymentProfile": profile,
        "parameters": {
            name: {"value": value, "targets": [{"pointer": f"app.{name}", "components": to}]}
            for name, (value, to) in values.items()
        },
    }
    document = read_deployment(render(raw), "x.yaml")

    made = arguments.release_arguments(document, Extensions(), {}, tmp_path)

    assert (made["profile"], made["namespace"]) == ("helm", "shop")
    assert made["components"] == [
        {
            "name": "web",
            "src": str(tmp_path / ("ab" * 32)),
            "digest": "sha256:" + "ab" * 32,
            "values": {"app.replicas": 2, "app.debug": True},
            "timeout": 15,
        },
        {
            "name": "db",
            "repository": "oci://r.example/db",
            "revision": "2.1.0",
            "values": {"app.debug": True, "app.tags": ["a"]},
            "timeout": None,
        },
    ]


def observed(at: datetime, **workload: Any) -> Observation:
    """An observation of one workload."""
    found = [{"deployment": "d", **workload}] if workload else []
    return Observation("harbor-1", Status.OK, {"workloads": found}, at)


def test_drift_is_told_in_words() -> None:
    """And nothing is told of a placement that something is at work on."""
    drift = [{"component": "web", "what": "missing"}]
    later = NOW + timedelta(seconds=1)
    seen = seen_change(placement(), observed(later, health="degraded", drift=drift))
    assert seen == {"health": "degraded", "drift": ["web missing"]}
    assert seen_change(placement(state=State.UPDATING), observed(later, drift=drift)) == {}


def test_a_workload_that_vanished_is_drift() -> None:
    """Nothing of it on the node is not the same as nothing said."""
    seen = seen_change(placement(), observed(NOW + timedelta(seconds=1)))
    assert seen["drift"] == ["nothing of it is on the node"]


def test_backoff_grows_to_a_limit_and_begins_anew() -> None:
    """Doubled, jittered, never above the limit."""
    backoff = Backoff(first=1, longest=8)
    waits = [backoff.failed() for _ in range(8)]
    assert waits[0] <= 1
    assert max(waits) <= 8
    assert waits[-1] >= 4
    backoff.succeeded()
    assert backoff.failed() <= 1
