"""How an error is told: one line with its cure on stderr, or the problem itself for machines."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from margrave.cli.exits import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from margrave.errors import MargraveError


def tell(error: MargraveError) -> None:
    """On stderr, in the form that was asked for."""
    for line in [as_json(error)] if wants_json(sys.argv) else lines(error):
        click.echo(line, err=True)


def tell_usage(error: click.ClickException) -> None:
    """Words that cannot be read as a command: click's own lines, or the same as JSON."""
    if not wants_json(sys.argv):
        error.show()
        return
    context = getattr(error, "ctx", None)
    cure = f"{context.command_path if context else 'margrave'} --help"
    body = {"title": type(error).__name__, "detail": error.format_message(), "cure": cure}
    click.echo(json.dumps(body, ensure_ascii=False), err=True)


def wants_json(words: Sequence[str]) -> bool:
    """Whether the answer was to be JSON: read from the words, which may make no sense otherwise.

    What stands behind `--` is another program's.
    """
    ours = words[: words.index("--")] if "--" in words else words
    pairs = zip(ours, [*ours[1:], ""], strict=True)
    return any(
        word in {"-ojson", "--output=json"} or (word in {"-o", "--output"} and after == "json")
        for word, after in pairs
    )


def lines(error: MargraveError) -> list[str]:
    """One line for each finding, or one for the error."""
    if isinstance(error, Problem) and error.findings:
        return [f"margrave: {_finding(one)}" for one in error.findings]
    first, *rest = str(error).splitlines() or [type(error).__name__]
    return [f"margrave: {first}", *rest]


def _finding(finding: dict[str, Any]) -> str:
    text = str(finding.get("detail") or finding.get("message") or finding.get("code") or "refused")
    cure = finding.get("cure")
    words = [str(finding.get("pointer") or ""), f"{text} ({cure})" if cure else text]
    return ": ".join(word for word in words if word)


def as_json(error: MargraveError) -> str:
    """The problem as the API told it; errors of this side take the same shape."""
    if isinstance(error, Problem):
        body: dict[str, Any] = {"status": error.status, **error.body}
    else:
        body = {"title": type(error).__name__, "detail": error.message, "cure": error.cure}
        findings = getattr(error, "findings", None)
        if findings:
            body["errors"] = [one.as_dict() for one in findings]
    return json.dumps(body, ensure_ascii=False)
