"""A chart is looked at before Helm reads it, packed or not."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import (
    _chart_source,
    _charted,
    _charts,
    _helm,
    _release,
)
from ansible_collections.margrave.edge.plugins.module_utils._archive import digest_of
from ansible_collections.margrave.edge.plugins.module_utils._cri import full_name
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
from ansible_collections.margrave.edge.plugins.module_utils._programs import Ran

GOOD = {"Chart.yaml": "name: web\n", "templates/web.yaml": "kind: Pod\n# no lookup here\n"}


def _folder(path: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return path


def _packed(path: Path, files: dict[str, str]) -> Path:
    path.mkdir()
    with tarfile.open(path / "web-1.0.0.tgz", "w:gz") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"web/{name}")
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    return path


@pytest.mark.parametrize(
    ("more", "finding"),
    [
        ({}, None),
        ({"templates/a.yaml": '{{- if (lookup "v1" "Pod" "" "") }}'}, "lookup"),
        ({"charts/sub/templates/a.yaml": '{{ $x := lookup "v1" }}'}, None),
        ({"crds/one.yaml": "kind: X"}, "definitions of resources"),
        ({"charts/sub/crds/one.yaml": "kind: X"}, "definitions of resources"),
        ({"Chart.yaml": None}, "no Chart.yaml"),
    ],
)
def test_what_margo_forbids_charts(
    tmp_path: Path, more: dict[str, str | None], finding: str | None
) -> None:
    """The same findings for a folder and for a packed chart, subcharts included."""
    files = {name: text for name, text in {**GOOD, **more}.items() if text is not None}

    for folder in (_folder(tmp_path / "plain", files), _packed(tmp_path / "packed", files)):
        chart = _charts.path_in(str(folder))
        if finding is None:
            _charts.check("web", chart)
            continue
        with pytest.raises(ConfigError, match=finding) as refused:
            _charts.check("web", chart)
        assert refused.value.cure


def test_what_is_no_chart(tmp_path: Path) -> None:
    """Rubbish is told as such, not raised as it is."""
    (tmp_path / "web.tgz").write_bytes(b"rubbish")

    with pytest.raises(ConfigError, match="cannot be read"):
        _charts.check("web", _charts.path_in(str(tmp_path)))


@pytest.mark.parametrize(
    ("words", "kind", "code"),
    [
        (
            "Error: exists and cannot be imported into the current release",
            "engine",
            "foreign-object",
        ),
        ("Error: Kubernetes cluster unreachable: dial tcp", "engine", "kubernetes-away"),
        ("Error: something else", "engine", "helm-failed"),
    ],
)
def test_helms_words_become_classes(words: str, kind: str, code: str) -> None:
    """Whose trouble it is follows from what Helm says."""
    with pytest.raises(_helm.EdgeError) as raised:
        _helm._must(Ran(1, "", words), "upgrade", 5.0)

    assert (raised.value.kind, raised.value.code) == (kind, code)


def test_helm_that_does_not_end() -> None:
    """A chart that takes longer than its time is ill, and says where to look."""
    with pytest.raises(_helm.HealthError, match="had not ended after 5 s") as raised:
        _helm._must(Ran(None, "", ""), "upgrade", 5.0)

    assert "kubectl" in raised.value.cure


def test_claims_of_stateful_sets_are_known_by_pattern() -> None:
    """Data that a set makes per replica is found when it is to be kept or removed."""
    objects = [
        {"kind": "PersistentVolumeClaim", "metadata": {"name": "data"}},
        {
            "kind": "StatefulSet",
            "metadata": {"name": "db"},
            "spec": {"volumeClaimTemplates": [{"metadata": {"name": "disk"}}]},
        },
    ]

    assert _charted.claims(objects) == ["data", "disk-db-[0-9]*"]


@pytest.mark.parametrize(
    ("reference", "full"),
    [
        ("web", "docker.io/library/web:latest"),
        ("site/web:1", "docker.io/site/web:1"),
        ("docker.io/site/web:1", "docker.io/site/web:1"),
        ("registry.site:5000/web", "registry.site:5000/web:latest"),
        ("registry.site/web@sha256:0", "registry.site/web@sha256:0"),
    ],
)
def test_images_as_containerd_names_them(reference: str, full: str) -> None:
    """Whatever a chart writes is looked for under the name that it has on the node."""
    assert full_name(reference) == full


def test_a_chart_that_was_fetched_is_kept_as_long_as_it_is_whole(tmp_path: Path) -> None:
    """The next call takes it from the disk; one that is not what was noted is fetched again."""
    folder = Folder(str(tmp_path))
    place = Path(_release.component_folder(folder, "r", "web"))
    place.parent.mkdir(parents=True)
    packed = next(_packed(place, GOOD).glob("*.tgz"))
    digest = digest_of(packed.read_bytes())
    parts = [_release.Part(name=name, digest=digest, project="p") for name in ("web", "gone")]
    release = _release.Release("r", "sha256:r", None, "", "", {}, parts)

    assert _chart_source.kept(folder, release) == {"web": packed.read_bytes()}
    packed.write_bytes(packed.read_bytes()[:-1])
    assert _chart_source.kept(folder, release) == {}
