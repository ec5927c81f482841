"""Reading deployments, sites and descriptions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from margrave.documents.deployment import read_deployment, render
from margrave.documents.description import read_description
from margrave.documents.site import read_site
from margrave.errors import DocumentError
from margrave.parameters import check
from tests.unit.margrave.making import deployment, raw_deployment

STOREFRONT = Path(__file__).parents[3] / "examples/apps/storefront/1.0.0/margo.yaml"


def told(data: bytes, read: Any = read_deployment) -> list[str]:
    """The findings of a document that is refused, as text."""
    with pytest.raises(DocumentError) as refused:
        read(data, "f.yaml")
    return [str(one) for one in refused.value.findings]


def test_a_deployment_says_what_runs() -> None:
    """Variables, components and policies are read as written, defaults filled in."""
    read = deployment(strategy={"batch": 2})

    assert read.variables("storefront") == {"GREETING": "hello"}
    assert read.components[0].source == "components/" + "ab" * 32
    assert (read.extensions.strategy.batch, read.extensions.drift) == (2, "heal")


def test_policies_order_and_comments_leave_the_revision_as_it_is() -> None:
    """A revision is what runs; how and when is no part of it."""
    plain, other = deployment(), deployment(strategy={"batch": "all"}, drift="report")
    commented = b"# by hand\n" + render(raw_deployment())

    assert plain.revision == other.revision == read_deployment(commented).revision
    assert plain.document_digest != read_deployment(commented).document_digest
    assert plain.revision != deployment(release="1.1.0").revision


def test_every_finding_is_told_at_once_with_its_place() -> None:
    """A person mends a document in one go."""
    raw = raw_deployment(strategy={"bach": "all"}, priority="urgent")
    raw["metadata"]["name"] = "Store Front"
    raw["spec"]["deploymentProfile"]["components"][0]["properties"]["timeout"] = "5m"

    assert told(render(raw)) == [
        (
            "f.yaml:4:9: /metadata/name: 'Store Front' is not a name"
            " (small letters a-z, digits and inner dashes, 63 at most)"
        ),
        (
            "f.yaml:14:18: /spec/deploymentProfile/components/0/properties/timeout: '5m' is no"
            " duration (write 5m0s)"
        ),
        ("f.yaml:26:15: /spec/x-margrave-extensions/priority: urgent needs a reason (add reason)"),
        (
            "f.yaml:28:13: /spec/x-margrave-extensions/strategy/bach: is not a key that is"
            ' known here (did you mean "batch"?)'
        ),
    ]


def test_rules_over_several_keys_are_findings_too() -> None:
    """Targets name components that exist; urgent needs a reason."""
    raw = raw_deployment(priority="urgent")
    raw["spec"]["parameters"]["greeting"]["targets"][0]["components"] = ["web"]
    findings = "\n".join(told(render(raw)))

    assert 'no component is called "web" (known are storefront)' in findings
    assert "urgent needs a reason (add reason)" in findings


def test_other_peoples_extensions_are_left_alone() -> None:
    """`x-…-extensions` that are not ours are nobody's business."""
    raw = raw_deployment()
    raw["spec"]["x-acme-extensions"] = {"anything": [1]}

    assert read_deployment(render(raw)).raw["spec"]["x-acme-extensions"] == {"anything": [1]}


def test_a_site_document_is_all_optional_and_strict() -> None:
    """An empty mapping is a site document; a wrong key is told with the nearest right one."""
    assert read_site(b"{}\n").timezone == "UTC"
    assert read_site(b"nodes: {harbor-1: {drain: true}}\n").drains("harbor-1")
    assert told(b"timzone: Europe/Oslo\n", read_site) == [
        'f.yaml:1:10: /timzone: is not a key that is known here (did you mean "timezone"?)'
    ]


def test_a_pause_ends_at_a_time_or_not_at_all() -> None:
    """What is no time would stop the planner where it compares."""
    paused = "paused: {{reason: audit, by: ann, until: {}}}\n"

    read = read_site(paused.format("2026-03-02T12:00:00+01:00"))
    assert read.paused is not None and read.paused.until is not None
    beyond = ("9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+01:00")
    for text in ("tomorrow", "2026-03-02", "2026-03-02T12:00:00", "2026-02-30T12:00:00Z", *beyond):
        assert "is no time" in told(paused.format(text).encode(), read_site)[0]


def test_the_example_application_is_read_whole() -> None:
    """The storefront has one compose profile, one component in its package and one parameter."""
    description = read_description(STOREFRONT.read_bytes())

    assert (description.id, description.version) == ("storefront", "1.0.0")
    assert description.profiles[0].components[0].path == "compose"
    assert list(description.parameters) == ["greeting"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("hi", []),
        ("x" * 41, ["/parameters/greeting: has 41 characters (write 40 at most)"]),
        ("", ["/parameters/greeting: is empty (give a value)"]),
        (5, ["/parameters/greeting: 5 is not text (write text)"]),
        ({"secret": "greeting"}, []),
    ],
    ids=["fits", "long", "empty", "number", "secret"],
)
def test_parameters_are_checked_against_their_schema(value: object, words: list[str]) -> None:
    """A value outside its schema is a finding with what to write."""
    description = read_description(STOREFRONT.read_bytes())

    assert [str(one) for one in check(description, {"greeting": value})] == words


def test_an_unknown_parameter_is_told_with_the_nearest_one() -> None:
    """A typing error is answered with what was probably meant."""
    description = read_description(STOREFRONT.read_bytes())

    [finding] = check(description, {"greting": "hi"})

    assert (finding.code, finding.cure) == ("unknown-key", 'did you mean "greeting"?')


def test_a_description_whose_parts_do_not_fit_together_is_refused() -> None:
    """Paths stay inside the package, targets and settings name what exists."""
    text = STOREFRONT.read_text()
    broken = text.replace("./compose", "../../etc").replace("parameter: greeting", "parameter: x")
    findings = "\n".join(told(broken.encode(), read_description))

    assert '"../../etc" leads out of the package' in findings
    assert 'no parameter is called "x" (known are greeting)' in findings
