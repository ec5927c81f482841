"""Our reading beside that of the standard's own schemas; docs/margo.md tells each disagreement."""

from __future__ import annotations

import copy
import fnmatch
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from margrave.documents.capabilities import read_capabilities
from margrave.documents.deployment import read_deployment
from margrave.documents.description import read_description
from margrave.documents.manifest import read_manifest
from margrave.documents.problem import read_problem
from margrave.documents.status import read_status
from margrave.errors import DocumentError
from tests.support import margo_schemas
from tests.unit.margrave import margo_making
from tests.unit.margrave.margo_making import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from margrave.findings import Finding

DOCS = Path(__file__).parents[3] / "docs/margo.md"
READERS: dict[str, Callable[[bytes], object]] = {
    "description": read_description,
    "deployment": read_deployment,
    "manifest": read_manifest,
    "status": read_status,
    "capabilities": read_capabilities,
    "problem": read_problem,
}

pytestmark = pytest.mark.skipif(
    not margo_schemas.SPEC.is_dir(), reason="the standard's files do not lie beside this checkout"
)


def put(new: Any) -> Callable[[Any, Any], None]:
    """A change: this in place of what was there."""
    return lambda holder, key: holder.__setitem__(key, copy.deepcopy(new))


def add(name: str, new: Any) -> Callable[[Any, Any], None]:
    """A change: one more key, where there are keys."""

    def change(holder: Any, key: Any) -> None:
        if isinstance(holder[key], dict):
            holder[key][name] = new

    return change


def twice(holder: Any, key: Any) -> None:
    """A change: an item stands again at the end."""
    if isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))


CHANGES: dict[str, Callable[[Any, Any], object]] = {
    "missing": lambda holder, key: holder.pop(key),
    "twice": twice,
    "unknown key": add("unknown", 1),
    "extension": add("x-acme-extensions", {}),
    "null": put(None),
    "-1": put(-1),
    "1.5": put(1.5),
    "true": put(True),
    "words": put("two words"),
    "no words": put(""),
    "[]": put([]),
    "{}": put({}),
}


def telling(value: Any) -> list[tuple[Any, ...]]:
    """The places, of those in lists that look alike the first two."""
    kept: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for path in places(value):
        kept.setdefault(tuple("*" if isinstance(one, int) else one for one in path), []).append(
            path
        )
    return [path for alike in kept.values() for path in alike[:2]]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a value but the whole."""
    if path:
        yield path
    if not isinstance(value, (dict, list)):
        return
    for step, below in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield from places(below, (*path, step))


@cache
def validators() -> dict[str, Draft202012Validator]:
    """The standard's schemas by document."""
    return {**margo_schemas.from_api(), "description": margo_schemas.from_model()}


def findings(kind: str, value: Any) -> tuple[Finding, ...]:
    """What we find."""
    try:
        READERS[kind](as_json(value))
    except DocumentError as error:
        return error.findings
    return ()


@cache
def disagreements() -> tuple[tuple[str, str, str, tuple[Finding, ...]], ...]:
    """Kind, change, place and our findings of each broken document that one of the two takes."""
    apart = []
    for kind in READERS:
        whole = getattr(margo_making, kind)()
        for name, change in CHANGES.items():
            for path in telling(whole):
                value = copy.deepcopy(whole)
                holder = value
                for step in path[:-1]:
                    holder = holder[step]
                change(holder, path[-1])
                if value == whole:  # there are no keys to add to, no list to lengthen
                    continue
                found = findings(kind, value)
                if validators()[kind].is_valid(value) is bool(found):
                    apart.append((kind, name, "/".join(map(str, path)), found))
    return tuple(apart)


def rows(heading: str) -> set[tuple[str, str]]:
    """Document and second column of each row below a heading of the docs, one for each document."""
    section = DOCS.read_text().partition(f"### {heading}\n")[2].partition("\n### ")[0]
    lines = re.findall(r"^\| ([a-z, ]+) \| (.+?) \| .+ \|$", section, re.MULTILINE)
    told = {(kind, words) for kinds, words in lines for kind in kinds.split(", ")}
    return {(kind, words) for kind, words in told if kind in READERS}


@pytest.mark.parametrize("kind", sorted(READERS))
def test_both_take_what_is_whole(kind: str) -> None:
    """What the other tests break."""
    value = getattr(margo_making, kind)()

    assert findings(kind, value) == ()
    assert list(validators()[kind].iter_errors(value)) == []


def test_each_refusal_of_ours_alone_is_explained() -> None:
    """By the rule that our finding names; and no rule is told that never made a difference."""
    told = rows("Refused here, taken by the schemas")
    used, unexplained = set(), set()
    for kind, _, _, found in disagreements():
        for one in found:
            fitting = {row for row in told if row[0] == kind and row[1] in one.message}
            used |= fitting
            if not fitting:
                unexplained.add((kind, str(one)))

    assert unexplained == set()
    assert told - used == set()


def test_each_refusal_of_theirs_alone_is_explained() -> None:
    """By what was written where; and none is told that there is not."""
    told = rows("Taken here, refused by the schemas")
    used, unexplained = set(), set()
    for kind, change, place, found in disagreements():
        if found:
            continue
        fitting = {
            (document, what)
            for document, what in told
            if document == kind
            and what.startswith(f"`{change}` at ")
            and fnmatch.fnmatch(place, what.split("`")[3])
        }
        used |= fitting
        if not fitting:
            unexplained.add((kind, change, place))

    assert unexplained == set()
    assert told - used == set()


@pytest.mark.full
def test_the_model_is_read_as_linkml_reads_it() -> None:
    """But for extensions, which LinkML cannot say, and three leniencies of its own."""
    generator = pytest.importorskip("linkml.generators.jsonschemagen").JsonSchemaGenerator
    model = margo_schemas.SPEC / "application-description.linkml.yaml"
    made = generator(
        str(model), top_class="ApplicationDescription", include_range_class_descendants=True
    )
    theirs = Draft202012Validator(json.loads(made.serialize()))
    whole = margo_making.description()
    apart = set()
    for name, change in CHANGES.items():
        for path in places(whole):
            value = copy.deepcopy(whole)
            holder = value
            for step in path[:-1]:
                holder = holder[step]
            change(holder, path[-1])
            if theirs.is_valid(value) is not validators()["description"].is_valid(value):
                apart.add((name, str(path[0]) if name != "null" else str(path[-1])))

    assert apart == {
        ("extension", "deploymentProfiles"),
        ("null", "parameters"),
        ("null", "values"),
        ("[]", "parameters"),
    }
