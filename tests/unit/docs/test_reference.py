"""The documents say what the code says."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[3] / "docs"


def _generator() -> Any:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", sorted(_generator().PAGES))
def test_a_reference_page_is_what_the_code_says(name: str) -> None:
    """A table in the docs that differs from the code fails; `python docs/generate.py` mends it."""
    assert (DOCS / "reference" / name).read_text() == _generator().PAGES[name]()


def test_alerts_ask_for_metrics_that_there_are() -> None:
    """A rule about a metric that nobody answers would never fire."""
    known = set(re.findall(r"`(margrave_\w+)`", _generator().metrics()))
    rules = (DOCS.parent / "roles/observability/files/rules.yml").read_text()
    asked = set(re.findall(r"\bmargrave_\w+", rules))
    assert {one for one in asked if not one.startswith("margrave_beacon_")} <= known
