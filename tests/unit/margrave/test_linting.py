"""The rules between documents, what is mended, and the forms in which findings are told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from margrave.cli.lint import formats
from margrave.documents.deployment import read_deployment, render
from margrave.findings import Finding, Severity
from margrave.linting import Kind, kind_of, read, registry
from margrave.linting.mending import mend
from margrave.linting.repository import Content, Placed, Repository, check
from tests.unit.margrave.making import raw_deployment

HEX = "ab" * 32
WITH_COMPOSE = {HEX: Content(HEX, frozenset({"compose.yaml"}))}
OTHER = "3f2504e0-4f89-41d3-9a0c-0305e82c3302"


def placed(site: str = "harbor", stem: str | None = None, **ours: Any) -> Placed:
    """A good document, at its place unless told otherwise."""
    raw = raw_deployment(**ours)
    name = stem or raw["id"]
    found = read(Kind.DEPLOYMENT, render(raw), f"deployments/{site}/{name}.yaml")
    assert found.findings == ()
    return Placed(site, name, found)


def told(*deployments: Placed, components: dict[str, Content] | None = None) -> list[Finding]:
    return list(check(Repository(deployments, WITH_COMPOSE if components is None else components)))


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("margo.yaml", Kind.DESCRIPTION),
        ("sites/margo.yaml", Kind.DESCRIPTION),
        ("sites/harbor.yaml", Kind.SITE),
        ("srv/deployments/sites/harbor.yaml", Kind.SITE),
        ("srv/sites/deployments/harbor/x.yaml", Kind.DEPLOYMENT),
        ("anything.yaml", Kind.DEPLOYMENT),
        ("sites", Kind.DEPLOYMENT),
    ],
)
def test_the_nearest_folder_says_what_a_file_is(path: str, kind: Kind) -> None:
    """Of a single file margo.yaml is a description, one below sites/ a site, else a deployment."""
    assert kind_of(path.split("/")) is kind


def test_a_good_repository_has_no_findings() -> None:
    """What the other tests break is whole before."""
    assert told(placed(), placed(id=OTHER, name="database")) == []


def test_place_and_document_agree() -> None:
    """File name and folder say what id and deviceId say."""
    found = told(placed(site="depot", stem="web"))

    assert {one.pointer for one in found} == {"/id", "/metadata/deviceId"}
    assert {one.file for one in found} == {"deployments/depot/web.yaml"}
    assert all(one.line for one in found)


def test_a_device_below_a_node_is_no_place() -> None:
    """A site's nodes have no nodes of their own."""
    assert [one.code for one in told(placed(device="harbor/harbor-1/x"))] == ["place"]


def test_an_id_stands_once() -> None:
    """The second of two says where the first is."""
    (found,) = told(placed(), placed(site="depot", device="depot/*"))

    assert found.pointer == "/id"
    assert "deployments/harbor/" in found.message


def test_a_name_stands_once_at_a_site() -> None:
    """At another site it is free."""
    (found,) = told(placed(), placed(id=OTHER))

    assert (found.pointer, found.code) == ("/metadata/name", "twice")
    assert told(placed(), placed(id=OTHER, site="depot", device="depot/*")) == []


def test_a_component_is_there_and_holds_compose() -> None:
    """Both are told at the source that names it."""
    pointer = "/spec/deploymentProfile/components/0/x-margrave-extensions/source"

    (missing,) = told(placed(), components={})
    (empty,) = told(placed(), components={HEX: Content(HEX)})

    assert missing.pointer == empty.pointer == pointer
    assert "not in the repository" in missing.message
    assert "no compose.yaml" in empty.message


def test_what_is_required_is_at_the_site() -> None:
    """A near miss is named."""
    (found,) = told(placed(requires=["databse"]), placed(id=OTHER, name="database"))

    assert found.pointer == "/spec/x-margrave-extensions/requires/0"
    assert 'did you mean "database"?' in found.cure


def test_a_circle_of_requirements_is_found() -> None:
    """Neither would ever start, so both are told."""
    first = placed(requires=["database"])
    second = placed(id=OTHER, name="database", requires=["storefront"])

    assert [one.code for one in told(first, second)] == ["circle", "circle"]
    assert [one.code for one in told(placed(requires=["storefront"]))] == ["circle"]


DESCRIPTION = """\
apiVersion: v1
id: shop
metadata:
  name: Shop  # as people say
  version: 1.0.0
  catalog: {organization: [{name: Example}]}
deploymentProfiles:
  - type: compose
    id: compose
    components:
      - name: web
        properties: {repository: "oci://r.example/web", revision: 1.0.0, wait: yes, timeout: 90s}
"""


def test_a_version_stands_once_in_a_registry() -> None:
    """The later one says where the first is."""
    packages = [
        read(Kind.DESCRIPTION, DESCRIPTION.replace("wait: yes, timeout: 90s", "").encode(), file)
        for file in ("a/margo.yaml", "b/margo.yaml")
    ]

    (found,) = registry.check(packages)

    assert (found.file, found.pointer) == ("b/margo.yaml", "/metadata/version")
    assert "a/margo.yaml" in found.message


def test_a_scalar_is_mended_where_it_stands() -> None:
    """Comments, order and line ends stay; the result has no findings left."""
    text = DESCRIPTION.replace("name: Shop", "name: 12").replace("\n", "\r\n")

    mended = mend(Kind.DESCRIPTION, text.encode(), "margo.yaml")

    assert mended is not None
    expected = text.replace("name: 12", 'name: "12"').replace("yes", "true").replace("90s", "1m30s")
    assert mended.data.decode() == expected
    assert len(mended.notes) == 3
    assert read(Kind.DESCRIPTION, mended.data, "margo.yaml").findings == ()


def test_what_needs_a_decision_stays() -> None:
    """`no` as a parameter's value may mean Norway, an unknown key may mean anything."""
    raw = render(raw_deployment()).replace(b"value: hello", b"value: no")

    assert mend(Kind.DEPLOYMENT, raw, "x.yaml") is None
    assert [one.code for one in read(Kind.DEPLOYMENT, raw, "x.yaml").findings] == ["surprise"]
    assert mend(Kind.SITE, b"lables: {}\n", "sites/x.yaml") is None


def test_an_older_generation_is_brought_up() -> None:
    """A document of before rc.2 is read after it, and each change has a note."""
    raw = raw_deployment()
    raw["metadata"]["annotations"] = {
        "id": raw.pop("id"),
        "applicationId": raw["spec"].pop("applicationId"),
    }
    raw |= {"apiVersion": "application.margo.org/v1alpha1", "kind": "ApplicationDeployment"}

    mended = mend(Kind.DEPLOYMENT, b"# why\n" + render(raw), "x.yaml")

    assert mended is not None
    assert read_deployment(mended.data).id == raw_deployment()["id"]
    assert any("comments" in note for note in mended.notes)
    assert mend(Kind.DEPLOYMENT, mended.data, "x.yaml") is None


def test_a_document_at_a_wrong_place_is_told_as_what_it_is() -> None:
    """Its own reader's findings stand behind the one about the place, and it is mended as such."""
    text = DESCRIPTION.replace("apiVersion: v1", "apiVersion: margo.org/v1-alpha1")
    found = read(Kind.DEPLOYMENT, text.replace("id: shop", "").encode(), "shop.yaml").findings

    assert "is an application description, where a deployment belongs" in found[0].message
    assert "name it margo.yaml" in found[0].cure
    assert any(one.pointer == "/id" for one in found)
    mended = mend(Kind.DEPLOYMENT, text.encode(), "shop.yaml")
    assert mended is not None
    assert mend(Kind.DESCRIPTION, text.encode(), "margo.yaml") == mended


def test_json_stays_json() -> None:
    """What devices exchange is mended in the form that they exchange it in."""
    status = {
        "apiVersion": "deployment.margo.org/v1alpha1",
        "kind": "DeploymentStatusManifest",
        "deploymentId": OTHER,
        "adoptedManifestVersion": 1,
        "status": {"state": "installed"},
        "components": [{"name": "web", "state": "installed"}],
    }

    mended = mend(Kind.STATUS, json.dumps(status).encode(), "status.json")

    assert mended is not None
    assert set(json.loads(mended.data)) == set(status) - {"apiVersion", "kind"}
    assert read(Kind.STATUS, mended.data, "status.json").findings == ()


@given(st.text(max_size=200))
def test_mending_never_fails(text: str) -> None:
    """Whatever a file holds, it is mended or left alone."""
    data = text.encode("utf-8", "surrogatepass")
    for kind in Kind:
        mended = mend(kind, data, "x.yaml")
        assert mended is None or mended.notes


FOUND = [
    Finding("/a/0", "50% is, well: wrong\nhere", "write\r1", "invalid", "my docs/a,b.yaml", 3, 7),
    Finding("", "is a link", "", "unreadable", "/srv/ø.yaml", severity=Severity.WARNING),
]


def test_plain_findings_have_the_promised_fields() -> None:
    """`margrave lint -o json` is what scripts are written for."""
    (first, _) = formats.plain(FOUND)["findings"]

    assert list(first) == ["file", "line", "column", "pointer", "severity", "message", "cure"]
    assert type(first["severity"]) is str


def test_sarif_names_rule_place_and_level() -> None:
    """Paths are URIs, and what has no line has no region."""
    run = json.loads(json.dumps(formats.sarif(FOUND)))["runs"][0]
    first, second = run["results"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]

    assert rules == ["invalid", "unreadable"]
    assert rules[first["ruleIndex"]] == first["ruleId"]
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "my%20docs/a%2Cb.yaml"},
        "region": {"startLine": 3, "startColumn": 7},
    }
    assert first["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "/a/0"}]
    assert (first["level"], second["level"]) == ("error", "warning")
    assert second["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "file:///srv/%C3%B8.yaml"}
    }


def test_annotations_keep_to_their_line() -> None:
    """A message cannot end the command it stands in, nor begin another."""
    first, second = formats.github(FOUND).splitlines()

    assert first == (
        "::error file=my docs/a%2Cb.yaml,line=3,col=7,title=/a/0"
        "::/a/0: 50%25 is, well: wrong%0Ahere (write%0D1)"
    )
    assert second == "::warning file=/srv/ø.yaml::is a link"


def test_gitlab_knows_a_finding_again_after_lines_moved() -> None:
    """The fingerprint has no line in it."""
    moved = [FOUND[0].at(FOUND[0].file, 30, 1), FOUND[1]]

    before, after = formats.gitlab(FOUND), formats.gitlab(moved)

    assert [one["fingerprint"] for one in before] == [one["fingerprint"] for one in after]
    assert before[0]["location"] == {"path": "my docs/a,b.yaml", "lines": {"begin": 3}}
    assert before[1]["location"]["lines"]["begin"] == 1


def test_a_document_cannot_paint_the_terminal() -> None:
    """Control characters are shown, not sent."""
    assert formats.line(Finding("", "\x1b[31mred\n")) == r"error: \x1b[31mred\n"
