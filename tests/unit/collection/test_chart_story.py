"""Charts over several calls: fetched once, and their data found again after all of them."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import (
    _driver,
    _kubernetes,
    _request,
    _stage,
)
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._delete import delete
from ansible_collections.margrave.edge.plugins.module_utils._errors import RegistryError
from ansible_collections.margrave.edge.plugins.module_utils._kubernetes import Cluster
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._prefetch import prefetch
from ansible_collections.margrave.edge.plugins.module_utils._programs import Ran

ID = "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f"
CHART = {"repository": "oci://registry.site/charts/web", "revision": "1.0.0", "name": "web"}
CLAIM: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {
        "name": "data",
        "namespace": "shop",
        "annotations": {"helm.sh/resource-policy": "keep"},
    },
}


class Programs:
    """Stands for helm and kubectl: a registry with one chart, and a cluster with one claim."""

    def __init__(self) -> None:
        self.away = False
        self.claims = [json.loads(json.dumps(CLAIM))]

    def helm(self, words: list[str], *_more: Any) -> Ran:
        """Pull and render the chart; there are no releases."""
        if words[0] == "pull":
            if self.away:
                return Ran(1, "", "Error: dial tcp 10.0.0.1:443: connect: connection refused")
            self._pull(Path(words[words.index("--destination") + 1]))
        told = {"template": "the chart's", "show": "name: web\nversion: 1.0.0\n", "list": "[]"}
        return Ran(0, told.get(words[0], ""), "")

    @staticmethod
    def _pull(folder: Path) -> None:
        with tarfile.open(folder / "web-1.0.0.tgz", "w:gz") as tar:
            entry, data = tarfile.TarInfo("web/Chart.yaml"), b"name: web\n"
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))

    def kubectl(self, words: list[str], *_more: Any, **_limit: float) -> str:
        """Read the manifest; list, label and delete the claim."""
        if words[0] == "create":
            return json.dumps(CLAIM)
        if words[0] == "label":
            key, _, value = words[-1].partition("=")
            self.claims[0]["metadata"].setdefault("labels", {})[key] = value
        if words[0] == "delete":
            self.claims = [one for one in self.claims if one["metadata"]["name"] not in words]
        everywhere = words[0] == "get" and "-A" in words
        return json.dumps({"kind": "List", "items": self.claims if everywhere else []})


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Programs:
    """A node with Kubernetes, and no other engine."""
    made = Programs()
    for name, run in (("helm", made.helm), ("helm_alone", made.helm), ("kubectl", made.kubectl)):
        monkeypatch.setattr(Cluster, name, lambda _self, *a, _run=run, **k: _run(*a, **k))
    monkeypatch.setattr(Cluster, "version", lambda _self: "1.33.0")
    monkeypatch.setattr(Cluster, "api_versions", lambda _self: ["v1"])
    monkeypatch.setattr(_kubernetes, "required", SimpleNamespace)
    monkeypatch.setattr(_driver, "here", lambda: ["helm"])
    return made


def _call(tmp_path: Path, kind: str, check: bool = False, **more: Any) -> Call:
    layout = Layout(str(tmp_path / "state"), str(tmp_path / "run"))
    policy = {"registries": ["*"]}
    return Call(
        _request.read({"deployment": ID, "policy": policy, **more}), kind, layout, check=check
    )


def _wanted(**more: str) -> dict[str, Any]:
    return {"profile": "helm", "namespace": "shop", "components": [{**CHART, **more}]}


def test_a_chart_that_was_made_ready_needs_no_registry(tmp_path: Path, programs: Programs) -> None:
    """The install takes it from the node, checked or for real; another version is fetched."""
    ready = _call(tmp_path, "prefetch", **_wanted())
    prefetch(ready)
    programs.away = True

    again = _call(tmp_path, "prefetch", **_wanted())
    prefetch(again)
    rehearsed = _call(tmp_path, "install", check=True, **_wanted())
    _stage.rehearse(rehearsed, _stage.contents(rehearsed))
    install = _call(tmp_path, "install", **_wanted())
    release = _stage.stage(install, install.observe(), _stage.contents(install))

    assert (ready.result.changed, again.result.changed) == (True, False)
    assert ready.result.next_revision == release.revision
    assert release.parts[0].digest.startswith("sha256:")
    with pytest.raises(RegistryError):
        prefetch(_call(tmp_path, "prefetch", **_wanted(revision="2.0.0")))


def test_data_that_was_kept_is_found_when_it_is_to_go(tmp_path: Path, programs: Programs) -> None:
    """Nothing on the node knows of the deployment any more, but the claim itself does."""
    prefetch(_call(tmp_path, "prefetch", **_wanted()))

    kept, removed, again = (
        _call(tmp_path, "delete"),
        *(_call(tmp_path, "delete", volumes="remove") for _ in range(2)),
    )
    delete(kept)
    left = len(programs.claims)
    delete(removed)
    delete(again)

    assert (kept.result.volumes_kept, left) == (["data"], 1)
    assert (removed.result.changed, removed.result.volumes_kept) == (True, [])
    assert (programs.claims, again.result.changed) == ([], False)
