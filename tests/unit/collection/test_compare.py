"""Drift is told by service, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils._compare import (
    drift,
    health,
    made_otherwise,
)
from ansible_collections.margrave.edge.plugins.module_utils._containers import (
    COMPONENT,
    CONFIG_HASH,
    SERVICE,
    Container,
)
from ansible_collections.margrave.edge.plugins.module_utils._release import Part, Release


def _release(finished: bool = False) -> Release:
    part = Part(
        name="shop",
        digest="sha256:0",
        project="p",
        images={"web": {"reference": "web:1", "id": "image", "ours": True}},
        services={"web": {"hash": "h1", "count": 1, "finished": finished}},
    )
    return Release("0" * 64, "sha256:r", "1.0.0", "shop", "app", {}, [part], proven=True)


def _container(hashed: str = "h1", **facts: Any) -> Container:
    labels = {COMPONENT: "shop", SERVICE: "web", CONFIG_HASH: hashed}
    given = {"id": "1", "name": "web-1", "image": "web:1", "image_id": "image", "labels": labels}
    return Container(**{**given, "state": "running", "health": "healthy", **facts})


@pytest.mark.parametrize(
    ("containers", "what"),
    [
        ([_container()], []),
        ([], ["missing"]),
        ([_container(state="exited")], ["stopped"]),
        ([_container(health="unhealthy")], ["unhealthy"]),
        ([_container("h2")], ["changed"]),
        ([_container(image_id="other")], ["image"]),
        ([_container(), _container(id="2", labels={COMPONENT: "gone"})], ["extra"]),
        ([_container(), _container(id="2", name="web-2")], ["extra"]),
    ],
)
def test_each_kind_of_drift(containers: list[Container], what: list[str]) -> None:
    """Whatever a person changes on the node has a word."""
    assert what == [one.what for one in drift(_release(), containers)]


def test_a_job_that_is_done_has_not_drifted() -> None:
    """A container that ran to its end stays as it is."""
    assert drift(_release(finished=True), [_container(state="exited", health="")]) == []


def test_health_in_a_word() -> None:
    """Healthy, degraded, or unknown while it starts and where nothing was proven."""
    assert health(_release(), [_container()]) == "healthy"
    assert health(_release(), []) == "degraded"
    assert health(_release(), [_container(health="starting")]) == "unknown"
    assert health(None, []) == "unknown"


FACETS = {"environment": "e", "mounts": "m", "ports": "p", "limits": "l"}


@pytest.mark.parametrize("category", sorted(FACETS))
def test_what_a_person_changes_has_a_category(category: str) -> None:
    """What was noted when it ran healthy is what it is compared with, one category each."""
    release = _release()
    release.parts[0].services["web"]["facets"] = FACETS
    same, other = _container(facets=FACETS), _container(facets={**FACETS, category: "x"})

    assert drift(release, [same]) == []
    assert [one.what for one in drift(release, [other])] == [category]
    assert not made_otherwise(release.parts[0], same)
    assert made_otherwise(release.parts[0], other)
    assert drift(release, [_container()]) == []  # nobody looked closely


def test_what_another_release_made_is_left_to_compose() -> None:
    """Going to another release, nothing old is taken away before the new one can be made."""
    release = _release()
    release.parts[0].services["web"]["facets"] = FACETS
    old = _container("of another release", facets={**FACETS, "environment": "x"})

    assert not made_otherwise(release.parts[0], old)


def test_a_mount_source_that_is_gone_is_drift(tmp_path: Path) -> None:
    """A close look tells what each container mounts; a list of all goes by what was noted."""
    here, gone = str(tmp_path), str(tmp_path / "gone")
    release = _release()
    release.parts[0].services["web"] |= {"facets": FACETS, "sources": [here, gone]}
    close = _container(facets=FACETS, sources=(here, gone), lost=(gone,))

    for container in (close, _container()):
        (found,) = drift(release, [container])
        assert (found.what, found.detail) == (
            "mounts",
            f"web-1 mounts {gone}, which is not on the node",
        )
    assert drift(release, [_container(facets=FACETS, sources=(here,))]) == []
