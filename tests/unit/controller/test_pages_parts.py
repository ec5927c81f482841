"""What pages are made of: values from forms, values as words, charts."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from werkzeug.datastructures import MultiDict

from controller.pages import charts, fields, words

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def _parameter(kind: str, default: Any = None, **schema: Any) -> dict[str, Any]:
    return {"name": "x", "default": default, "schema": {"dataType": kind, **schema}}


def _read(one: dict[str, Any], *pairs: tuple[str, str]) -> dict[str, Any]:
    return fields.values([one], MultiDict(pairs))


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("string", "8", "8"),
        ("integer", "8", 8),
        ("integer", "8.5", "8.5"),
        ("integer", "eight", "eight"),
        ("integer", "true", True),
        ("double", " 2.5 ", 2.5),
        ("boolean", "true", True),
        ("boolean", "yes", "yes"),
        ("array[integer]", "1\n 2\n\nthree", [1, 2, "three"]),
    ],
)
def test_what_is_typed_becomes_a_value_where_it_is_one(kind: str, text: str, value: object):
    """What is no value of its kind stays text, so that the API's own rule can say what is wrong."""
    assert _read(_parameter(kind), ("p.x", text)) == {"x": value}


def test_an_empty_field_says_nothing_and_a_secret_is_named():
    """Left empty keeps what stands; a secret goes by its name, the default comes back as null."""
    one = _parameter("string")
    assert _read(one, ("p.x", "  ")) == {}
    assert _read(one, ("p.x", "db-password"), ("k.x", "secret")) == {"x": {"secret": "db-password"}}
    assert _read(one, ("p.x", "left over"), ("k.x", "default")) == {"x": None}


def test_options_are_values_not_their_texts():
    """A number among the options comes back as that number; several where several may be chosen."""
    one = _parameter("integer", options=[1, 2, 3])
    assert _read(one, ("p.x", "2")) == {"x": 2}
    several = _parameter("string", options=["a", "b"], multiselect=True)
    assert _read(several, ("p.x", "a"), ("p.x", "b")) == {"x": ["a", "b"]}


def test_findings_stand_at_their_field():
    """By the pointer, items of lists included, and never at one whose name begins alike."""
    named = [{"name": name, "default": None} for name in ("host", "hosts")]
    findings = [{"pointer": "/parameters/hosts/1", "message": "x"}]
    made = fields.fields(named, MultiDict(), findings)
    assert [one.findings for one in made] == [[], findings]


def test_values_read_as_people_write_them():
    """Text as it is, the rest as JSON, lists with commas."""
    told = [words.said(one) for one in ("a", True, 2, ["a", 1], {"secret": "x"})]
    assert told == ["a", "true", "2", "a, 1", '{"secret": "x"}']


def test_times_within_a_sentence_are_times():
    """Told in the reader's zone like all others; the rest of the sentence stays text."""
    told = str(words.timed("no window before 2026-03-02T01:00:00Z <or> so", NOON))
    stamp = "2026-03-02T01:00:00Z"
    time = f'<time class="moment" datetime="{stamp}" title="{stamp}">2026-03-02 01:00</time>'
    assert told == f"no window before {time} &lt;or&gt; so"
    assert str(words.timed("at 2026-03-01T13:05:00.123Z", NOON)).endswith(">13:05</time>")
    assert words.timed(None, NOON) == ""


def test_limits_to_sites_are_typed_as_they_are_told():
    """Names or labels; what an expression says has no words for a field."""
    told = [None, ["oslo", "bergen"], {"matchLabels": {"zone": "shop"}, "matchExpressions": []}]
    assert [words.limits(one) for one in told] == ["", "oslo bergen", "zone=shop"]
    expression = {"key": "zone", "operator": "Exists", "values": []}
    assert words.limits({"matchLabels": {}, "matchExpressions": [expression]}) is None


def _svg(made: str) -> ET.Element:
    found = re.search(r"<svg.*</svg>", made, re.DOTALL)
    assert found
    return ET.fromstring(found[0])


def test_a_bar_is_as_wide_as_its_numbers_say():
    """Each part in proportion, and said in words for who does not see it."""
    made = charts.progress({"succeeded": 3, "failed": 1}, {})
    widths = [float(one.attrib["width"]) for one in _svg(made).iter("rect")]
    assert widths == [449, 149]
    assert "3 succeeded, 1 failed" in _svg(made).attrib["aria-label"]
    assert charts.progress({}, {}) == ""


def test_what_is_not_heard_of_is_grey_whatever_it_was():
    """Neither green nor red: a part of its own, taken from the outcomes that it last had."""
    made = charts.progress({"succeeded": 3, "failed": 1}, {"succeeded": 2, "failed": 1})
    parts = [(one.attrib["class"], one.findtext("title")) for one in _svg(made).iter("rect")]
    assert parts == [("good", "1 succeeded"), ("unknown", "3 not heard of")]


def test_days_are_columns_with_their_numbers():
    """Every day has a place, also those on which nothing happened; none at all is said."""
    words_ = ("succeeded", "rolled_back", "failed", "deleted")
    none = {"known": True, **dict.fromkeys(words_, 0)}
    days: list[dict[str, Any]] = [{"day": f"2026-03-{one:02}", **none} for one in range(1, 15)]
    assert "Nothing was installed" in charts.days(days)
    days[3] |= {"succeeded": 4, "failed": 2}
    groups = list(_svg(charts.days(days)).iter("g"))
    assert len(groups) == 14
    titles = [one.findtext("title") for one in groups]
    assert titles[3] == "2026-03-04 UTC: 4 succeeded, 2 failed tries"
    assert titles[4] == "2026-03-05 UTC: nothing"
    assert "days in UTC" in charts.days(days)


def test_a_day_of_silence_is_told_as_its_share():
    """Fresh, silent and unknown parts of the day follow each other without a gap."""
    spans = [
        {"freshness": "fresh", "from": (NOON - timedelta(hours=12)).isoformat()},
        {"freshness": "unknown", "from": (NOON - timedelta(hours=6)).isoformat()},
    ]
    told = {"since": (NOON - timedelta(hours=24)).isoformat(), "until": NOON.isoformat()}
    drawn = _svg(charts.spans({**told, "spans": spans}))
    assert drawn.attrib["aria-label"] == "Freshness: silent for 25 % of the last day"
    placed = [(one.attrib["class"], float(one.attrib.get("x", 0))) for one in drawn.iter("rect")]
    assert placed == [("none", 0), ("good", 560), ("unknown", 840)]
    assert "not known" in charts.spans({**told, "spans": []})
