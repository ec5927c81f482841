"""The types that programs get of the schemas name what there is, and say what may be missing."""

from __future__ import annotations

import re

from margrave.schemas import all_schemas, types_of

MADE = all_schemas()


def test_types_name_only_types_that_there_are() -> None:
    """Each type is declared once, and each one used is declared."""
    text = types_of(MADE)
    declared = re.findall(r"^export (?:interface|type) (\w+)", text, re.M)
    plain = re.sub(r"/\*\*.*?\*/|\"[^\"]*\"|`[^`]*`", "", text)
    used = set(re.findall(r"[:|<,(=] ?\(?([A-Z]\w+)", plain))

    assert len(declared) == len(set(declared))
    assert used - {"Record", "Partial"} <= set(declared)
    assert plain.count("{") == plain.count("}")


def test_types_know_what_is_optional_and_what_is_foreign() -> None:
    """A deployment's id is always there, its parameters need not be."""
    text = types_of(MADE)

    assert "export interface ApplicationDeployment {" in text
    assert "  id: string;\n" in text
    assert "  parameters?: Record<string, ApplicationDeploymentParameter>;\n" in text
    assert "  [foreign: `x-${string}-extensions`]: object | null | undefined;\n" in text
    assert 'nodes?: "all" | number | string[];\n' in text
