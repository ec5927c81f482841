"""A chart's files are looked at before anything is published."""

from __future__ import annotations

import pytest

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
sidecar: {{image: "registry.example/side@{DIGEST}"}}
db: {{image: {{repository: registry.example/db, tag: "16"}}}}
mq: {{image: {{repository: registry.example/mq, digest: "{DIGEST}"}}}}
web: {{replicas: 1, ports: [{{number: 80}}], extra: null}}
"""


def test_images_that_can_move_and_values_that_are_not_there_are_worth_a_look() -> None:
    """A warning each: a template may do as it likes with values, so nothing is refused."""
    pointers = ["web.replicas", "web.ports[0].number", "web.extra.deep", "web.replica", "webs.x"]

    found = [str(one) for one in chart_files.remarks(files(values=VALUES), pointers)]

    assert [one.partition(", which")[0] for one in found if "has no value" in one] == [
        "values.yaml: has no value web.replica",
        "values.yaml: has no value webs.x",
    ]
    assert [one.split()[1:3] for one in found if "by its tag" in one] == [
        ["db.image:", "registry.example/db:16"],
        ["image:", "registry.example/web:1.0.0"],
    ]
    assert [one.cure for one in chart_files.remarks(files(), ["web.replica"])] == [
        'did you mean "web.replicas"?'
    ]
    assert chart_files.remarks(files(values="a: 1\na: 2\n"), ["b"]) == []
