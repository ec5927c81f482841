"""`margrave lint PATH…`: the checks of CI, without a controller."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from margrave.cli.exits import Exit
from margrave.terminal.asking import Misuse
from margrave.terminal.options import shows
from margrave.terminal.shape import Verb

if TYPE_CHECKING:
    from margrave.findings import Finding
    from margrave.terminal.output import Output

FORMATS = ("sarif", "github", "gitlab")


@click.command(cls=Verb)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--fix", is_flag=True, help="mend first what needs no decision, and say what")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="what forges show beside a change"
)
@shows
def lint(out: Output, paths: tuple[Path, ...], form: str | None, *, fix: bool) -> Exit:
    """Check packages, registries, deployments repositories, or single documents."""
    from margrave.cli.lint import check, mend_below

    if form and not out.for_eyes:
        raise Misuse(f"-o {out.format} and --format {form} ask for two answers", "give one")
    changed = [one for path in paths for one in mend_below(path)] if fix else []
    findings = list(dict.fromkeys(one for path in paths for one in check(path)))
    if form:
        click.echo(_formed(form, findings), nl=False)
    elif out.for_eyes:
        _tell(findings, changed)
    else:
        out.answer(_answer(findings, changed, fix=fix))
    return _exit(findings)


def _exit(findings: list[Finding]) -> Exit:
    from margrave.cli.lint.files import MISSING

    codes = {one.code for one in findings if one.severity == "error"}
    if codes == {MISSING}:
        return Exit.NOT_FOUND
    return Exit.FAILED if codes else Exit.DONE


def _tell(findings: list[Finding], changed: list[dict[str, Any]]) -> None:
    from margrave.cli.lint import formats

    for file in changed:
        for change in file["changes"]:
            click.echo(f"mended: {file['file']}: {change}")
    for one in findings:
        click.echo(_printable(formats.line(one)))
    count = sum(one.severity == "error" for one in findings)
    click.echo(f"{count} error(s), {len(findings) - count} warning(s)" if findings else "good")


def _answer(findings: list[Finding], changed: list[dict[str, Any]], *, fix: bool) -> dict[str, Any]:
    from margrave.cli.lint import formats

    answer = formats.plain(findings)
    return {**answer, "mended": changed} if fix else answer


def _formed(form: str, findings: list[Finding]) -> str:
    from margrave.cli.lint import formats

    if form == "github":
        return _printable(formats.github(findings))
    made = formats.sarif(findings) if form == "sarif" else formats.gitlab(findings)
    return json.dumps(made, indent=2) + "\n"


def _printable(text: str) -> str:
    """Halves of characters, which YAML can spell, are no text that a terminal takes."""
    return text.encode("utf-8", "backslashreplace").decode()
