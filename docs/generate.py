"""Writes what the code already knows, tables, schemas and types: `python docs/generate.py`."""

from __future__ import annotations

from pathlib import Path

from controller.api.schemas import schemas
from margrave.error_classes import POLICY
from margrave.lifecycle import OUTCOME_ORDER, STATE_ORDER, TRANSITIONS, State, margo_word
from margrave.schemas import text_of, types_of

HERE = Path(__file__).parent / "reference"
SCHEMAS = Path(__file__).parents[1] / "schemas"


def states() -> str:
    """The life cycle of a placement as a page."""
    rows = "\n".join(
        f"| {frm} | {to} | {how.trigger} | {how.actor} |" for (frm, to), how in TRANSITIONS.items()
    )
    words = "\n".join(f"| {state} | {margo_word(state)} |" for state in State)
    return f"""# States of a placement

Written from the table in `margrave/lifecycle.py`; a test fails when they differ.

| from | to | trigger | actor |
|---|---|---|---|
{rows}

A deployment's state is the first of these that any of its placements has:
{", ".join(STATE_ORDER)}.
Its outcome is the first of: {", ".join(OUTCOME_ORDER)}.

| state | Margo's word |
|---|---|
{words}
"""


def errors() -> str:
    """The classes of error as a page."""
    rows = "\n".join(
        f"| `{cls}` | {policy.meaning} |"
        f" {'without end' if policy.retries is None else policy.retries} |"
        f" {'yes' if policy.rolls_back else 'no'} |"
        for cls, policy in POLICY.items()
    )
    return f"""# Classes of error

Written from the table in `margrave/error_classes.py`; a test fails when they differ.
`failure.retries` of a deployment overrides the retries of each class.

| class | meaning | retries | goes back when spent |
|---|---|---|---|
{rows}
"""


PAGES = {"states.md": states, "errors.md": errors}


def schema_files() -> dict[str, str]:
    """What `schemas/` holds: a file for each schema, as the controller serves it, and the types."""
    found = {f"{name}.json": text_of(schema) for name, schema in schemas().items()}
    return {**found, "margrave.d.ts": types_of(schemas())}


def main() -> None:
    """Write all pages, schemas and types; what no longer is made goes."""
    for name, page in PAGES.items():
        (HERE / name).write_text(page())
    SCHEMAS.mkdir(exist_ok=True)
    wanted = schema_files()
    for path in SCHEMAS.iterdir():
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (SCHEMAS / name).write_text(text)


if __name__ == "__main__":
    main()
