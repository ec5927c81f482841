"""Labels tell the revision that gave a thing its present shape."""

from __future__ import annotations

from typing import Any

from ansible_collections.margrave.edge.plugins.module_utils._model import (
    COMPONENT,
    DEPLOYMENT,
    REVISION,
    Existing,
    images,
    labelled,
    pinned,
    volume_names,
)


def _ours(revision: str) -> dict[str, str]:
    return {DEPLOYMENT: "id", REVISION: revision, COMPONENT: "shop"}


def _model(web: str) -> dict[str, Any]:
    return {
        "services": {
            "web": {"image": web, "labels": {"own": "1"}},
            "cache": {"image": "cache:1"},
        },
        "networks": {"default": {"name": "p_default"}, "lan": {"name": "lan", "external": True}},
        "volumes": {"data": {"name": "p_data"}, "old": {"name": "old", "external": True}},
    }


def test_everything_made_is_labelled() -> None:
    """Services, networks and volumes carry the labels; what is external is left alone."""
    model = labelled(_model("web:1"), _ours("r1"), None, Existing())

    assert {"own": "1", **_ours("r1")} == model["services"]["web"]["labels"]
    assert _ours("r1") == model["networks"]["default"]["labels"]
    assert _ours("r1") == model["volumes"]["data"]["labels"]
    assert "labels" not in model["networks"]["lan"]
    assert "labels" not in model["volumes"]["old"]


def test_a_service_that_stays_the_same_keeps_its_label() -> None:
    """An update that changes one service leaves the other's container as it is."""
    first = labelled(_model("web:1"), _ours("r1"), None, Existing())

    second = labelled(_model("web:2"), _ours("r2"), first, Existing())

    assert second["services"]["web"]["labels"][REVISION] == "r2"
    assert first["services"]["cache"] == second["services"]["cache"]


def test_networks_and_volumes_keep_the_labels_they_have() -> None:
    """A volume is never made anew because of a label."""
    there = Existing({"p_default": _ours("r0")}, {"p_data": _ours("r0")})

    model = labelled(_model("web:2"), _ours("r2"), None, there)

    assert model["volumes"]["data"]["labels"][REVISION] == "r0"
    assert model["networks"]["default"]["labels"][REVISION] == "r0"


def test_a_pull_policy_alone_replaces_no_container() -> None:
    """It says when an image is fetched, and nothing of the container."""
    first = labelled(_model("web:1"), _ours("r1"), None, Existing())
    changed = _model("web:1")
    changed["services"]["web"]["pull_policy"] = "always"

    second = labelled(changed, _ours("r2"), first, Existing())

    assert second["services"]["web"]["labels"] == first["services"]["web"]["labels"]


def test_compose_gets_the_image_that_the_release_noted() -> None:
    """Under the noted name, else as the author wrote it."""
    noted = {
        "web": {"reference": "web:1", "pin": "sha256:1"},
        "cache": {"reference": "cache:1"},
    }

    assert images(pinned(_model("web:1"), noted)) == {"web": "sha256:1", "cache": "cache:1"}


def test_what_a_model_names() -> None:
    """Images and own volumes of a model."""
    assert images(_model("web:1")) == {"web": "web:1", "cache": "cache:1"}
    assert volume_names(_model("web:1")) == ["p_data"]
