"""Writes what the code already knows, tables, schemas and types: `python docs/generate.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from controller.api.schemas import schemas
from controller.settings import ControllerSettings
from margrave.error_classes import POLICY
from margrave.lifecycle import OUTCOME_ORDER, STATE_ORDER, TRANSITIONS, State, margo_word
from margrave.schemas import text_of, types_of
from runner.settings import RunnerSettings

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


def configuration() -> str:
    """Every key of both configuration files as a page."""
    return f"""# Configuration

Written from the settings' models; a test fails when they differ. One TOML file per process:
`--config FILE`, else `./margrave.toml`, else `/etc/margrave/margrave.toml`. Each key is also an
environment variable `MARGRAVE_<SECTION>__<KEY>` (lists are JSON; `registries` is
`MARGRAVE_REGISTRIES__JSON`), which stands over the file; a secret can also come from a file, by
`<key>_file` or `…_FILE`. An unknown key is an error, and all errors are told at once. Durations are
a number and s, m or h; relative paths begin at the file's folder.

## Controller

{_keys(ControllerSettings)}

## Runner

{_keys(RunnerSettings)}
"""


def _keys(settings: type[BaseModel]) -> str:
    rows = "\n".join(_rows(settings, ""))
    return f"| key | default | what it is |\n|---|---|---|\n{rows}"


def _rows(section: type[BaseModel], above: str) -> Iterator[str]:
    for name, field in section.model_fields.items():
        inner = _section_in(field.annotation)
        many = inner is not None and field.annotation is not inner
        if inner is not None:
            yield from _rows(inner, f"{above}{name}{'[]' if many else ''}.")
        else:
            yield f"| `{above}{name}` | {_default(field)} | {field.description} |"


def _section_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for one in get_args(annotation) if (found := _section_in(one))), None)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "must be given"
    value = field.default
    if value is None or value == ():
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


PAGES = {"states.md": states, "errors.md": errors, "configuration.md": configuration}


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
