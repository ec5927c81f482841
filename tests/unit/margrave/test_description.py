"""The rules of a description that no single key can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from margrave.documents.description import read_description, render_description
from margrave.errors import DocumentError
from margrave.parameters import check, check_change
from tests.unit.margrave.margo_making import description

if TYPE_CHECKING:
    from collections.abc import Callable

Change = Callable[[Any], object] if TYPE_CHECKING else object


def told(change: Change) -> str:
    """The findings of the description after a change, one a line, without the file."""
    value = description()
    change(value)
    with pytest.raises(DocumentError) as refused:
        read_description(render_description(value))
    return "\n".join(str(one) for one in refused.value.findings)


def expression(value: Any) -> Any:
    """The description's first expression of a property selector, and its list."""
    profile = value["deploymentProfiles"][0]
    rules = profile["deviceConstraints"]["eligibilityRules"]
    return rules[0]["propertySelector"]["matchExpressions"]


def schema(value: Any, index: int) -> Any:
    """One of the description's schemas."""
    return value["configuration"]["schema"][index]


def test_the_description_is_whole_and_its_text_is_one() -> None:
    """What is read, written and read again is the same value and the same bytes."""
    value = {**description(), "x-acme-extensions": {"any": [1, {"thing": None}]}}
    value["deploymentProfiles"][0]["components"][0]["x-acme-extensions"] = {"a": 1}
    once = render_description(value)

    assert read_description(once).raw == value
    assert render_description(read_description(once).raw) == once


BROKEN: dict[str, tuple[Callable[[Any], object], str]] = {
    "profile id twice": (
        lambda v: v["deploymentProfiles"][1].update(id="pump-helm"),
        '/deploymentProfiles/1/id: "pump-helm" stands twice (rename one)',
    ),
    "no profile": (
        lambda v: v.update(deploymentProfiles=[]),
        "/deploymentProfiles: has too few items (write 1 at least)",
    ),
    "component twice": (
        lambda v: v["deploymentProfiles"][1]["components"].append(
            v["deploymentProfiles"][1]["components"][0]
        ),
        '"pump-compose" stands twice',
    ),
    "revision with plus": (
        lambda v: v["deploymentProfiles"][0]["components"][0]["properties"].update(
            revision="1.0.0+build"
        ),
        "'1.0.0+build' is not a revision",
    ),
    "revision with a v": (
        lambda v: v["deploymentProfiles"][0]["components"][0]["properties"].update(
            revision="v1.0.0"
        ),
        "'v1.0.0' is not a revision",
    ),
    "version no tag": (
        lambda v: v["metadata"].update(version="1.0 beta"),
        "/metadata/version: '1.0 beta' is not a version that a registry can tag",
    ),
    "unknown target": (
        lambda v: v["parameters"]["rate"]["targets"][0].update(components=["pumpe"]),
        'no component is called "pumpe" (did you mean "pump"?)',
    ),
    "variable of Compose": (
        lambda v: v["parameters"]["rate"]["targets"][1].update(pointer="pump.rate"),
        '"pump.rate" is no name of an environment variable (write such as pump_rate)',
    ),
    "no path of values": (
        lambda v: v["parameters"]["rate"]["targets"][0].update(pointer="pump..rate"),
        '"pump..rate" is no path of values',
    ),
    "values below each other": (
        lambda v: v["parameters"]["mail"]["targets"].append(
            {"pointer": "pump.rate.mail", "components": ["pump"]}
        ),
        '"pump.rate" cannot be set beside "pump.rate.mail"',
    ),
    "default is a mapping": (
        lambda v: v["parameters"]["rate"].update(value={"a": 1}),
        "is no value that a parameter can have",
    ),
    "default is a mixed list": (
        lambda v: v["parameters"]["mail"].update(value=[1, "a"]),
        "is a list of several kinds",
    ),
    "default outside its schema": (
        lambda v: v["parameters"]["rate"].update(value=61),
        "/parameters/rate/value: 61 is too high (write 60 or less)",
    ),
    "author without @": (
        lambda v: v["metadata"]["catalog"]["author"][0].update(email="author"),
        "'author' is not an e-mail address",
    ),
    "icon outside": (
        lambda v: v["metadata"]["catalog"]["application"].update(icon="../icon.png"),
        '"../icon.png" leads out of the package',
    ),
    "setting twice": (
        lambda v: v["configuration"]["sections"][0]["settings"][1].update(parameter="rate"),
        '"rate" has two settings',
    ),
    "unknown schema": (
        lambda v: v["configuration"]["sections"][0]["settings"][0].update(schema="rate"),
        'no schema is called "rate" (did you mean "rates"?)',
    ),
    "schema twice": (lambda v: schema(v, 1).update(name="rates"), '"rates" stands twice'),
    "rule of another type": (
        lambda v: schema(v, 0).update(minLength=1),
        "/configuration/schema/0/minLength: is no rule for integer",
    ),
    "bounds crossed": (
        lambda v: schema(v, 0).update(minValue=61),
        "/configuration/schema/0/minValue: 61 is more than maxValue, which is 60",
    ),
    "bound of whole numbers": (
        lambda v: schema(v, 0).update(minValue=1.5),
        "1.5 bounds whole numbers",
    ),
    "pattern does not compile": (
        lambda v: schema(v, 2).update(regexMatch="["),
        "is no regular expression that can be used: unclosed character class",
    ),
    "no options": (
        lambda v: schema(v, 1).update(options=[]),
        "/configuration/schema/1/options: has nothing to select from",
    ),
    "option twice": (
        lambda v: schema(v, 1).update(options=["red", "red"]),
        '/configuration/schema/1/options/1: "red" stands twice',
    ),
    "option of another kind": (
        lambda v: schema(v, 0).update(options=["5"]),
        "/configuration/schema/0/options/0: is no option for integer",
    ),
    "Gt with two": (
        lambda v: expression(v)[1].update(values=[1, 2]),
        "/values: Gt compares with one number (write values: [4])",
    ),
    "Gt with text": (
        lambda v: expression(v)[1].update(values=["4"]),
        "Gt compares with one number",
    ),
    "In without values": (
        lambda v: expression(v)[1].update(operator="In", values=[]),
        "In needs values (name one at least)",
    ),
    "In of two kinds": (
        lambda v: expression(v)[1].update(operator="In", values=[1, "a"]),
        "are not of one kind",
    ),
    "Exists with values": (
        lambda v: expression(v)[1].update(operator="Exists"),
        "are of no use to Exists (remove them)",
    ),
    "ContainsAll without items": (
        lambda v: expression(v)[0].pop("itemSelector"),
        "ContainsAll needs itemSelector",
    ),
    "ContainsAll with values": (
        lambda v: expression(v)[0].update(values=["gpu"]),
        "are of no use to ContainsAll",
    ),
    "items for Gt": (
        lambda v: expression(v)[1].update(itemSelector={"matchExpressions": []}),
        "/itemSelector: is of no use to Gt",
    ),
    "key no pointer": (
        lambda v: expression(v)[1].update(key="cpus/0/cores"),
        '"cpus/0/cores" is not a JSON pointer (write /cpus/0/cores)',
    ),
    "key within no pointer": (
        lambda v: expression(v)[0]["itemSelector"]["matchExpressions"][0].update(key="type"),
        '"type" is not a JSON pointer (write /type)',
    ),
    "other without words": (
        lambda v: (
            v["deploymentProfiles"][0].pop("description"),
            v["deploymentProfiles"][0]["deviceConstraints"]["capacityRequirements"]["cpu"].update(
                architectures=["other"]
            ),
        ),
        '"other" says nothing of the architecture',
    ),
    "custom without labels": (
        lambda v: (
            v["deploymentProfiles"][0].update(type="custom"),
            v["deploymentProfiles"][0]["deviceConstraints"]["eligibilityRules"][0].pop(
                "labelSelector"
            ),
        ),
        "has no labelSelector",
    ),
    "memory in bytes": (
        lambda v: v["deploymentProfiles"][0]["deviceConstraints"]["capacityRequirements"].update(
            memory="512M"
        ),
        "'512M' is not as required (match [0-9]+(Mi|Gi|Ki))",
    ),
    "extension in the wrong place": (
        lambda v: v["metadata"].update({"x-acme-extensions": {}}),
        "/metadata/x-acme-extensions: is no extension that may stand here",
    ),
    "extension that is no mapping": (
        lambda v: v.update({"x-acme-extensions": "a"}),
        "/x-acme-extensions: is not a mapping",
    ),
    "our words for keys": (
        lambda v: v["deploymentProfiles"][0]["components"][0].update(ours={"path": "a"}),
        "/deploymentProfiles/0/components/0/ours: is not a key that is known here",
    ),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_broken_rule_is_told_at_its_place(name: str) -> None:
    """Each says what was found, and what to write instead."""
    change, words = BROKEN[name]

    assert words in told(change)


def test_rules_speak_though_the_shape_is_wrong_elsewhere() -> None:
    """A person mends a document in one go."""

    def change(value: Any) -> None:
        value["metadata"]["catalog"]["organization"] = "Example"
        value["parameters"]["rate"]["value"] = 1
        value["parameters"]["mail"]["targets"][0]["components"] = ["mailer"]

    findings = told(change)

    assert "/metadata/catalog/organization: is not a list" in findings
    assert "1 is too low (write 5 or more)" in findings
    assert 'no component is called "mailer"' in findings


def test_a_setting_of_choices_takes_them_alone() -> None:
    """Options bound a value, one or several as the schema says."""
    read = read_description(render_description(description()))

    assert check(read, {"colour": "red"}) == []
    assert [one.message for one in check(read, {"colour": "green"})] == ["'green' is no option"]


def test_what_is_immutable_stays_as_it_was_installed() -> None:
    """An update may set it, but not to something else."""
    read = read_description(render_description(description()))

    assert check_change(read, {"colour": "red", "rate": 5}, {"colour": "red", "rate": 6}) == []
    assert check_change(read, {}, {"colour": "red"}) == []
    [finding] = check_change(read, {"colour": "red"}, {"colour": "blue"})
    assert (finding.pointer, finding.code) == ("/parameters/colour", "immutable")


def test_a_version_need_not_be_semantic() -> None:
    """Margo asks only that it equal the registry's tag."""
    value = description()
    value["metadata"]["version"] = "2026-spring"

    assert read_description(render_description(value)).version == "2026-spring"
