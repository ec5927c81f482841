"""A chart's files are looked at before anything is published."""

from __future__ import annotations

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _chart_table

from margrave import chart_files

CHART = "apiVersion: v2\nname: web\nversion: 1.0.0\n"
DIGEST = "sha256:" + "0" * 64
HOOK = "metadata: {annotations: {helm.sh/hook: %s}}\n"


def files(**more: str | None) -> dict[str, bytes]:
    """A good chart with these files changed; `__` is a slash."""
    texts: dict[str, str | None] = {
        "Chart.yaml": CHART,
        "values.yaml": "web: {replicas: 1}\n",
        "templates/web.yaml": "kind: Pod\n# no lookup and no helm.sh/hook: pre-install here\n",
        "README.md": "crds and {{ lookup }} are only words here",
    }
    for name, text in more.items():
        path = name.replace("__", "/")
        texts[path if path in ("NOTES", "web.tgz") else f"{path}.yaml"] = text
    return {name: text.encode() for name, text in texts.items() if text is not None}


def test_a_good_chart_has_no_flaws() -> None:
    """Nor has one whose subcharts lie in it, packed or not, and whose hook is a test."""
    needs = CHART + "dependencies: [{name: db, version: 1.x.x}, {name: mq, version: 2.x.x}]\n"
    whole = files(
        Chart=needs, charts__db__Chart=CHART, templates__test=HOOK % '"test, test-success"'
    )
    assert chart_files.flaws(files()) == []
    assert chart_files.flaws({**whole, "charts/mq-2.0.1.tgz": b"\x1f\x8b"}) == []


def test_values_are_text() -> None:
    """As Helm wants them, and as their images are pinned."""
    assert [str(one) for one in chart_files.flaws({**files(), "values.yaml": b"a: \xe9"})] == [
        "values.yaml: is not UTF-8"
    ]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"Chart": None}, "Chart.yaml: is missing"),
        ({"Chart": "name: web\n"}, "Chart.yaml: has no apiVersion"),
        ({"Chart": CHART.replace("v2", "v1")}, "Chart.yaml: apiVersion is v1"),
        ({"Chart": CHART + "type: library\n"}, "Chart.yaml: is a library"),
        ({"Chart": CHART + "name: again\n"}, "Chart.yaml: "),
        ({"Chart": "- a list\n"}, "Chart.yaml: has no name"),
        (
            {"Chart": CHART + "dependencies: [{name: db, version: 1.x.x}]\n"},
            "Chart.yaml: needs the chart db",
        ),
        ({"crds__one": "kind: X\n"}, "crds/one.yaml: definitions of resources"),
        ({"charts__db__crds__one": "kind: X\n"}, "charts/db/crds/one.yaml: definitions"),
        ({"templates__a": '{{- if (lookup "v1" "Pod" "" "") }}\n'}, "templates/a.yaml: lookup"),
        ({"templates__a": HOOK % "pre-install"}, "templates/a.yaml: is a hook (pre-install)"),
        ({"templates__a": HOOK % "'test,post-upgrade'"}, "is a hook (test,post-upgrade)"),
        ({"charts__db__templates__a": HOOK % '"pre-delete"'}, "is a hook (pre-delete)"),
    ],
)
def test_what_refuses_a_chart(more: dict[str, str | None], told: str) -> None:
    """Each with what would help."""
    found = chart_files.flaws(files(**more))
    assert any(told in str(one) for one in found), found
    assert all(one.cure for one in found)


VALUES = f"""
image: registry.example/web:1.0.0
db: {{image: {{repository: registry.example/db, tag: "16"}}}}
mq: {{image: {{repository: registry.example/mq, tag: "4", digest: "{DIGEST}"}}}}
web: {{replicas: 1, ports: [{{number: 80}}], extra: null}}
"""
IMAGES = f"""
image: {{{{ .Values.image }}}}
image: busybox:1
- image: "registry.example/side@{DIGEST}"
"""


def test_images_that_can_move_and_values_that_are_not_there_are_worth_a_look() -> None:
    """A warning each: a template may do as it likes with values, so nothing is refused."""
    pointers = ["web.replicas", "web.ports[0].number", "web.extra.deep", "web.replica", "webs.x"]

    found = chart_files.remarks(files(values=VALUES, templates__web=IMAGES), pointers)

    assert [str(one).partition(", ")[0] for one in found] == [
        "values.yaml: has no value web.replica",
        "values.yaml: has no value webs.x",
        "values.yaml: db.image: registry.example/db:16 is not pinned",
        "templates/web.yaml: busybox:1 is not pinned",
    ]
    assert found[0].cure == 'did you mean "web.replicas"?'


def test_a_lookup_of_a_library_is_worth_a_look() -> None:
    """Many libraries have one that the chart does not use; a node finds nothing with it."""
    found = files(charts__common__templates___secrets='{{ lookup "v1" "Secret" "" "" }}')

    assert chart_files.flaws(found) == []
    (remark,) = chart_files.remarks(found, [])
    assert "lookup finds nothing" in str(remark)
    assert "parameters" in remark.cure


def test_kinds_that_nodes_may_refuse_are_worth_a_look() -> None:
    """The same that nodes take without being told so; what a template says is not yet made."""
    made = "kind: Deployment\n---\nkind: HelmChart\n---\n{{ if .Values.rbac }}\nkind: ClusterRole\n"

    found = chart_files.remarks(files(templates__web=made), [])

    assert [str(one).partition(",")[0] for one in found] == [
        "templates/web.yaml: makes a ClusterRole",
        "templates/web.yaml: makes a HelmChart",
    ]
    assert {kind for kinds in _chart_table.TABLE.values() for kind in kinds} == chart_files.KINDS


def test_values_that_are_not_read_are_told() -> None:
    """Helm may read them all the same; what nobody looked at is not passed over in silence."""
    found = [str(one) for one in chart_files.remarks(files(values="a: 1\na: 2\n"), ["b"])]
    assert len(found) == 1
    assert "its images are not pinned" in found[0]


@pytest.mark.parametrize(
    ("value", "whole"),
    [
        ("registry.example:5000/web:1.0.0", True),
        ("web:1", True),
        ("registry.example:5000/web", False),
        ("web", False),
        (f"registry.example/web:1@{DIGEST}", True),
        (f"registry.example/web@{DIGEST}", True),
        (f"registry.example:5000/web@{DIGEST}", True),
        ("{{ .Values.x }}:1", False),
        (1.0, False),
    ],
)
def test_a_whole_image_has_a_tag(value: object, whole: bool) -> None:
    """Or a digest; what has none of them may be the beginning of what a template makes."""
    assert chart_files.is_image("image", value) is whole
    assert chart_files.is_image("picture", value) is False
