"""What stands in schemas/ is what the models say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.unit.docs.test_reference import _generator

FOLDER = Path(__file__).parents[3] / "schemas"
FILES: dict[str, str] = _generator().schema_files()


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_stored_schema_is_what_the_models_say(name: str) -> None:
    """A model that changed and a file that did not: `python docs/generate.py` mends it."""
    assert (FOLDER / name).read_text() == FILES[name]


def test_nothing_else_is_stored() -> None:
    """A schema whose model is gone goes with it."""
    assert {path.name for path in FOLDER.iterdir()} == set(FILES)


@pytest.mark.parametrize("name", sorted(name for name in FILES if name.endswith(".json")))
def test_a_stored_schema_is_one(name: str) -> None:
    """Those of requests and reports too satisfy the metaschema of 2020-12."""
    Draft202012Validator.check_schema(json.loads(FILES[name]))
