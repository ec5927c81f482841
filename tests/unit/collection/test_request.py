"""No name from outside becomes a path unchecked."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _request
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError

ID = "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f"
DIGEST = "sha256:" + "0" * 64


def _params(**more: Any) -> dict[str, Any]:
    return {"deployment": ID, "revision": DIGEST, **more}


def test_release_follows_from_the_revision() -> None:
    """Without secrets a release is named after its revision."""
    request = _request.read(_params())

    assert hashlib.sha256(DIGEST.encode()).hexdigest() == request.release


def test_without_a_revision_what_is_to_run_names_it() -> None:
    """Content, values and place are in it; what only says how long it may take is not."""
    one = {"name": "a", "digest": DIGEST, "variables": {"A": "1"}}

    def revision(**more: Any) -> str | None:
        asked = {"components": [{**one, **more}], "revision": None, "namespace": None, **more}
        return _request.read(_params(**asked)).revision

    assert revision() == revision(timeout=9)
    changed = [
        revision(digest=DIGEST.replace("0", "1")),
        revision(variables={"A": "2"}),
        revision(values={"b": 1}),
        revision(namespace="other"),
    ]
    assert len({revision(), *changed}) == len(changed) + 1


@pytest.mark.parametrize(
    "params",
    [
        _params(deployment="../../etc"),
        _params(trace="two words"),
        _params(trace="x" * 129),
        _params(trace="ticket-7\n"),
        _params(deployment=ID + "\n"),
        _params(revision="latest"),
        _params(release="../x"),
        _params(to_release="current"),
        _params(components=[{"name": "../x", "digest": DIGEST}]),
        _params(components=[{"name": "a", "digest": "none"}]),
        _params(components=[{"name": "a", "digest": DIGEST}, {"name": "a", "digest": DIGEST}]),
        _params(fence={"runner": "me", "epoch": 1, "seq": 1}),
    ],
)
def test_wrong_names_are_refused(params: dict[str, Any]) -> None:
    """Each is refused as of class config, and says what it should have been."""
    with pytest.raises(ConfigError) as refused:
        _request.read(params)

    assert refused.value.cure


def test_values_become_text_as_yaml_writes_them() -> None:
    """A flag is true or false, not Python's word for it."""
    one = {"name": "a", "digest": DIGEST, "variables": {"A": True, "B": 1, "C": None}}

    request = _request.read(_params(components=[one]))

    assert request.components[0].variables == {"A": "true", "B": "1", "C": ""}


def test_projects_do_not_meet() -> None:
    """Components that Compose cannot tell apart by name get projects of their own."""
    request = _request.read(_params())

    assert request.project("web") == "margrave-3f2a9c0159fc0a5d-web"
    assert request.project("we.b") != request.project("we-b")


@pytest.mark.parametrize("profile", ["compose", "helm"])
def test_ids_that_begin_alike_share_no_project(profile: str) -> None:
    """Ids that were written by hand may differ in their last digit alone."""
    one, other = (
        _request.read(_params(deployment=ID[:-1] + last, profile=profile)) for last in "12"
    )

    assert one.project("web") != other.project("web")
    assert len(one.project("a-component-with-a-long-name" * 3)) <= 53 or profile == "compose"
