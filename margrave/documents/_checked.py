"""From a parsed text to a checked part: its shape, then the rules that no single key can tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import TYPE_CHECKING

from margrave.documents import generations
from margrave.documents._reading import TOLD, Model, findings_of
from margrave.errors import DocumentError
from margrave.findings import Finding
from margrave.yaml_text import Parsed

if TYPE_CHECKING:
    from margrave.documents.generations import Kind

# Rules see the value as it was written, so that they speak even when the shape is wrong elsewhere.
Rules = Callable[[Parsed], Iterable[Finding]]


def checked(
    parsed: Parsed, model: type[Model], rules: Rules, kind: Kind, *, bounded: bool = True
) -> Model:
    """Return the part, or raise DocumentError with every finding; of an older generation it says
    which. Unless `bounded`, values that are out of bounds are no findings."""
    part, findings = _check(parsed, model, rules, bounded=bounded)
    if part is not None and not findings:
        return part
    told = generations.told(kind, parsed, lambda mended: _check(mended, model, rules)[1])
    raise DocumentError(told or findings)


def _check(
    parsed: Parsed, model: type[Model], rules: Rules, *, bounded: bool = True
) -> tuple[Model | None, list[Finding]]:
    part, findings = findings_of(parsed, model, bounded=bounded)
    seen = {(one.pointer, one.message) for one in findings}
    for one in islice(rules(parsed), TOLD):
        if (one.pointer, one.message) not in seen:
            seen.add((one.pointer, one.message))
            findings.append(one)
    return part, findings
