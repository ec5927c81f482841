"""What is known already is not asked of the engine: with many nodes at work each request counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import (
    _images,
    _model,
    _release,
    _request,
)
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._compose_driver import ComposeDriver
from ansible_collections.margrave.edge.plugins.module_utils._containers import Container
from ansible_collections.margrave.edge.plugins.module_utils._engine import Engine
from ansible_collections.margrave.edge.plugins.module_utils._files import make_folder, write_json
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._record import replace

ID = "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f"
DIGEST = "sha256:" + "0" * 64
ENGINE = Engine("podman", "/nowhere")


@pytest.fixture
def call(tmp_path: Path) -> Call:
    return Call(_request.read({"deployment": ID}), "update", Layout(str(tmp_path)), check=False)


def _release_with(image: str) -> _release.Release:
    images = {"web": {"reference": image, "id": f"id of {image}", "ours": True}}
    part = _release.Part("web", DIGEST, "margrave-3f2a9c016d3e-web", images=images)
    return _release.Release("a" * 64, DIGEST, "1.0.0", "shop", "shop", {}, [part])


def test_what_is_needed_still_is_not_looked_for(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine is asked what it runs only where an image might go: each update would pay."""
    asked: list[str] = []

    def containers(_engine: Engine, *_: Any, **__: Any) -> list[Container]:
        asked.append("containers")
        return [Container("1", "n", "i", "id of busy", "running", "")]

    monkeypatch.setattr(Engine, "containers", containers)
    same, busy, gone = (_release_with(image) for image in ("web:1", "busy", "gone"))
    Path(call.folder.release(same.release)).mkdir(parents=True)
    same.store(call.folder)

    assert _images.unused(call.layout, ENGINE, [same]) == []
    assert asked == []
    assert _images.unused(call.layout, ENGINE, [same, busy, gone]) == ["gone"]
    assert asked == ["containers"]


def test_what_was_left_alone_is_not_looked_at_again(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container is made of what it was made of; one that is new, or was not seen, is asked."""
    monkeypatch.setattr(ComposeDriver, "engine", ENGINE)
    monkeypatch.setattr(Engine, "closely", lambda _, one: replace(one, facets={"asked": "now"}))
    old = Container("1", "n", "i", "", "running", "", facets={"asked": "before"})
    new, unseen = replace(old, id="2", facets={}), replace(old, id="3", facets={})
    later = replace(old, state="exited", facets={})

    driver = ComposeDriver(call)
    found = [driver._looked_at(one, [old, unseen]) for one in (later, new, unseen)]

    assert [one.facets["asked"] for one in found] == ["before", "now", "now"]
    assert found[0].state == "exited"


MODEL = {
    "networks": {"default": {"name": "shop_default"}, "out": {"name": "lan", "external": True}},
    "volumes": {"data": {"name": "shop_data"}},
}


def test_what_the_model_before_made_is_not_asked_for(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Networks and volumes keep their labels: those are known, until there is one more."""
    asked: list[str] = []

    def networks(_engine: Engine, _labels: list[str]) -> list[dict[str, Any]]:
        asked.append("networks")
        return [{"Name": "shop_default", "Labels": {"margrave.revision": "of the engine"}}]

    def volumes(_engine: Engine, _labels: list[str]) -> list[dict[str, Any]]:
        asked.append("volumes")
        return []

    monkeypatch.setattr(ComposeDriver, "engine", ENGINE)
    monkeypatch.setattr(Engine, "networks", networks)
    monkeypatch.setattr(Engine, "volumes", volumes)
    driver = ComposeDriver(call)
    before = _model.labelled(MODEL, {"margrave.revision": "one"}, None, _model.Existing())

    known = driver._existing(MODEL, before)
    after = _model.labelled(MODEL, {"margrave.revision": "two"}, before, known)

    assert asked == []
    assert after == before
    assert "labels" not in after["networks"]["out"]
    more = {**MODEL, "volumes": {**MODEL["volumes"], "logs": {"name": "shop_logs"}}}
    assert driver._existing(more, before).networks == {
        "shop_default": {"margrave.revision": "of the engine"}
    }
    assert driver._existing(MODEL, None).volumes == {}
    assert asked == ["networks", "volumes"] * 2


@pytest.mark.parametrize(
    ("notes", "looks"),
    [
        (None, 1),
        ({"phase": "done"}, 0),
        ({"phase": "done", "error": {"code": "not-healthy"}}, 1),
        ({"phase": "switch"}, 1),
    ],
)
def test_who_ended_well_left_nothing_aside(
    call: Call, monkeypatch: pytest.MonkeyPatch, notes: dict[str, Any] | None, looks: int
) -> None:
    """Only after a call that failed or was killed may somebody's container still stand aside."""
    asked: list[str] = []

    def containers(_engine: Engine, *_: Any, **__: Any) -> list[Container]:
        asked.append("containers")
        return []

    monkeypatch.setattr(ComposeDriver, "engine", ENGINE)
    monkeypatch.setattr(Engine, "containers", containers)
    if notes:
        make_folder(call.folder.path)
        write_json(call.folder.journal, notes)
    driver = ComposeDriver(call)
    call.begin("prefetch")

    driver.proven()
    driver.proven()

    assert len(asked) == looks
