"""`margrave lint PATH…`: the checks of CI, without a controller."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from margrave.cli.exits import Exit
from margrave.cli.options import shows

if TYPE_CHECKING:
    from margrave.cli.output import Output


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@shows
def lint(out: Output, paths: tuple[Path, ...]) -> Exit:
    """Check packages, registries, deployments repositories, or single documents."""
    from margrave.cli.lint import check

    findings = [finding for path in paths for finding in check(path)]
    if out.for_eyes:
        for one in findings:
            click.echo(f"{one.severity}: {one}")
        count = sum(one.severity == "error" for one in findings)
        click.echo(f"{count} error(s), {len(findings) - count} warning(s)" if findings else "good")
    else:
        out.answer({"findings": [one.as_dict() for one in findings]})
    return Exit.FAILED if any(one.severity == "error" for one in findings) else Exit.DONE
