"""Options that every room's commands share, so that they read and behave the same everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from margrave import durations
from margrave.errors import MargraveError
from margrave.terminal.output import FORMATS, Output

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


def shows(function: F) -> F:
    """Adds `-o` and hands in `out`."""
    return click.option(
        "-o",
        "--output",
        "out",
        type=click.Choice(FORMATS),
        default="table",
        callback=lambda _ctx, _param, value: Output(value),
        help="table for eyes; json and yaml are what the API answers; name for pipes",
    )(function)


def configured(function: F) -> F:
    """Adds `--config`, for what stands on the machine that it is typed on."""
    return click.option(
        "--config", metavar="FILE", help="the configuration; ./margrave.toml if not given"
    )(function)


class Duration(click.ParamType[int]):
    """`90s`, `5m` or `2h`, in seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            return durations.seconds(value)
        except MargraveError as error:
            self.fail(str(error), param, ctx)
