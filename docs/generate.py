"""Writes what the code already knows, tables, schemas and types: `python docs/generate.py`."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from controller.api import ROUTES, families, openapi
from controller.api.meta import DOORS
from controller.api.schemas import schemas
from controller.settings import ControllerSettings
from margrave.cli.main import root
from margrave.error_classes import POLICY
from margrave.lifecycle import OUTCOME_ORDER, STATE_ORDER, TRANSITIONS, State, margo_word
from margrave.policy import reference as policy
from margrave.schemas import text_of, types_of
from margrave.terminal.examples import EXAMPLES
from runner import instruments
from runner.ports import NodeStatus
from runner.settings import RunnerSettings
from runner.store import Store
from runner.web.status import Status

HERE = Path(__file__).parent / "reference"
SCHEMAS = Path(__file__).parents[1] / "schemas"
NODE_CODE = (
    Path(__file__).parents[1] / "collections/ansible_collections/margrave/edge/plugins/module_utils"
)


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


def commands() -> str:
    """Every command with its options as a page."""
    found = "\n".join(_command(command, path) for path, command in _all(root, "margrave"))
    return f"""# Commands

Written from the commands themselves; a test fails when they differ. What holds for all of them,
and the exit codes: [the command](../cli.md).

{found}"""


def _all(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """The command and all below it; the demo's and the lab's have pages of their own."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None, name
            yield from _all(inner, f"{path} {name}")


def _command(command: click.Command, path: str) -> str:
    context = click.Context(command, info_name=path)
    usage = " ".join(command.collect_usage_pieces(context))
    text = inspect.cleandoc(command.help or "").replace("\b\n", "").strip()
    rows = [param.get_help_record(context) for param in command.get_params(context)]
    options = "\n".join(
        f"| `{_cell(row[0])}` | {_cell(row[1])} |"
        for row in rows
        if row is not None and row[1] and "--help" not in row[0]
    )
    examples = EXAMPLES.get(path.partition(" ")[2], ())
    shown = "".join(f"$ {line}\n" for line in examples)
    block = f"\n```console\n{shown}```\n" if shown else ""
    table = f"\n| option | |\n|---|---|\n{options}\n" if options else ""
    return f"## {path}\n\n`{path} {usage}`\n\n{text}\n{block}{table}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def api() -> str:
    """Every endpoint of the controller as a page."""
    described = openapi.document(ROUTES, DOORS)
    rows = "\n".join(
        f"| `{method.upper()} {path}` | {about['summary']} |"
        for path, methods in sorted(described["paths"].items())
        for method, about in methods.items()
        if method in {"get", "post", "put", "patch", "delete"}
    )
    return f"""# HTTP API of the controller

Written from the table of routes; a test fails when they differ. Bodies and answers stand in the
OpenAPI 3.1 description that each controller serves at `/openapi.json`. A refusal is
`application/problem+json` with `detail`, `cure`, and `errors`: pointer, finding and cure of each.

| endpoint | |
|---|---|
{rows}
"""


def metrics() -> str:
    """What can be asked of each process at /metrics, as a page."""
    ours = "\n".join(
        _metric(families.PREFIX + one.name, one.kind, one.labels, one.says)
        for one in families.FAMILIES
    )
    return f"""# Metrics

Written from the tables in `controller/api/families.py` and `runner/instruments.py` and from what a
runner answers; a test fails when they differ. All are in Prometheus' text format. Labels are
bounded: sites, states, kinds and classes of error, never a commit, an operation or an application.
What a process counts itself begins anew with it; what the database counts goes on.

## The controller

`GET /metrics`, with a viewer's token or from loopback. Of several controllers on one database each
tells what it took in itself (durations, waits, deliveries, requests to Git); the rest is the same.

| metric | kind | labels | what it says |
|---|---|---|---|
{ours}

## A site's runner

`GET /metrics`, with `http.token` or from loopback.

| metric | kind | labels | what it says |
|---|---|---|---|
{chr(10).join(_of_runner())}
"""


def _of_runner() -> Iterator[str]:
    """Rows of what a runner answers that has just begun; labels of what it has not counted yet."""
    labels = {instruments.PREFIX + one.name: one.labels for one in instruments.FAMILIES}
    with tempfile.TemporaryDirectory() as folder:
        status = Status("site", Store(Path(folder)), lambda _: NodeStatus.ACTIVE)
        lines = status.metrics().splitlines()
    for number, line in enumerate(lines):
        if not line.startswith("# HELP "):
            continue
        _, _, name, says = line.split(" ", 3)
        kind = lines[number + 1].rpartition(" ")[2]
        sample = next((one for one in lines if one.startswith(name + "{")), "")
        own = [part.partition("=")[0] for part in sample.partition("{")[2].split(",") if sample]
        yield _metric(name, kind, labels.get(name, own), says.rstrip("."))


def _metric(name: str, kind: str, labels: Iterable[str], says: str) -> str:
    return f"| `{name}` | {kind} | {', '.join(labels)} | {_cell(says)} |"


PAGES = {
    "states.md": states,
    "errors.md": errors,
    "configuration.md": configuration,
    "commands.md": commands,
    "api.md": api,
    "metrics.md": metrics,
    "policy.md": policy.page,
}


def schema_files() -> dict[str, str]:
    """What `schemas/` holds: a file for each schema, as the controller serves it, and the types."""
    found = {f"{name}.json": text_of(schema) for name, schema in schemas().items()}
    return {**found, "margrave.d.ts": types_of(schemas())}


def main() -> None:
    """Write all pages, schemas, types and copies of the policy's code; remove stale schemas."""
    for name, page in PAGES.items():
        (HERE / name).write_text(page())
    SCHEMAS.mkdir(exist_ok=True)
    wanted = schema_files()
    for path in SCHEMAS.iterdir():
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (SCHEMAS / name).write_text(text)
    for name, text in policy.node_copies().items():
        (NODE_CODE / name).write_text(text)


if __name__ == "__main__":
    main()
