"""Options that many commands share, so that they read and behave the same everywhere."""

from __future__ import annotations

import functools
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from margrave import durations
from margrave.cli import complete
from margrave.terminal.options import Duration
from margrave.times import in_utc

if TYPE_CHECKING:
    from collections.abc import Callable

    from margrave.cli.api import Api

F = TypeVar("F", bound="Callable[..., Any]")


def calls(function: F) -> F:
    """Hands in `api`: the controller, as whoever is signed in."""

    @functools.wraps(function)
    def with_api(*args: Any, **kwargs: Any) -> Any:
        return function(*args, api=connect(), **kwargs)

    return with_api  # type: ignore[return-value]  # click sees the wrapper's own signature


def connect() -> Api:
    """The controller that `--context`, the environment or `margrave login` names."""
    from margrave.cli import contexts
    from margrave.cli.api import Api

    who = contexts.chosen(click.get_current_context().meta.get(contexts.CONTEXT, ""))
    return Api(who.url, who.token, pair=who.pair)


def follows(function: F) -> F:
    """Adds `-w`, handed in as `follow`."""
    return click.option("-w", "--watch", "follow", is_flag=True, help="again after each change")(
        function
    )


def naming(what: str, name: str, metavar: str | None = None) -> Callable[[F], F]:
    """An argument that names a thing of the controller's; the shell completes it."""
    return click.argument(name, metavar=metavar, shell_complete=getattr(complete, what))


def in_site(function: F) -> F:
    """`--site`, where it narrows to one."""
    return click.option("--site", help="only at this site", shell_complete=complete.sites)(function)


class Pair(click.ParamType[tuple[str, str]]):
    """`key=value`; everything behind the first `=` is the value."""

    name = "key=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        key, equals, text = str(value).partition("=")
        if not equals or not key:
            self.fail(f"{value!r} is not key=value", param, ctx)
        return key, text


class Moment(click.ParamType[str]):
    """A time with its zone, or how far from now it is; as the API takes it."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            when = _moment(str(value))
        except (ValueError, OverflowError):
            self.fail(f'"{value}" is no time: write 2030-01-31T18:00:00Z, or 2h', param, ctx)
        return _stamp(when)


def _stamp(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def _moment(text: str) -> datetime:
    """Read a time with its zone, or a duration from now."""
    if re.fullmatch(durations.PATTERN, text):
        return datetime.now(UTC) + timedelta(seconds=durations.seconds(text))
    when = datetime.fromisoformat(text)
    if when.tzinfo is None:
        raise ValueError("a time without a zone")
    return in_utc(when)


def waits(function: F) -> F:
    """Adds `--wait` and `--timeout`."""
    timeout = click.option(
        "--timeout", type=Duration(), default="10m", show_default=True, help="how long to wait"
    )
    wait = click.option("--wait", is_flag=True, help="until every placement has ended")
    return wait(timeout(function))


def sites(*, required: bool = False) -> Callable[[F], F]:
    """`--site`, as often as needed."""
    return click.option(
        "--site",
        "sites",
        multiple=True,
        required=required,
        metavar="SITE",
        help="repeatable",
        shell_complete=complete.sites,
    )


def limited(function: F) -> F:
    """`--site` and `--where`, handed in together as `limits` for the body of who may act where."""

    @functools.wraps(function)
    def with_limits(
        *args: Any, sites: tuple[str, ...], where: tuple[tuple[str, str], ...], **kwargs: Any
    ) -> Any:
        if sites and where:
            raise click.UsageError("sites are limited by name (--site) or by label (--where)")
        limits: dict[str, Any] = {"sites": list(sites)} if sites else {}
        limits |= {"sites": {"matchLabels": dict(where)}} if where else {}
        return function(*args, limits=limits, **kwargs)

    labelled = click.option(
        "--where", multiple=True, type=Pair(), help="sites with this label; repeatable"
    )
    return labelled(sites()(with_limits))  # type: ignore[return-value]  # as above


def ends(function: F) -> F:
    """`--expires`, handed in as `until` for the body of a token."""

    @functools.wraps(function)
    def with_end(*args: Any, expires: int | None, **kwargs: Any) -> Any:
        until = {}
        if expires is not None:
            end = datetime.now(UTC) + timedelta(seconds=expires)
            until = {"expires_at": _stamp(end)}
        return function(*args, until=until, **kwargs)

    option = click.option(
        "--expires", type=Duration(), help="how long it holds, such as 720h; for ever if not given"
    )
    return option(with_end)  # type: ignore[return-value]  # as above


def sets(function: F) -> F:
    """Add `--set` and `--secret`, handed in together as `values`; a secret's value is a mapping."""

    @functools.wraps(function)
    def with_secrets(
        *args: Any,
        values: tuple[tuple[str, str], ...],
        secrets: tuple[tuple[str, str], ...],
        **kwargs: Any,
    ) -> Any:
        named = ((parameter, {"secret": name}) for parameter, name in secrets)
        return function(*args, values=(*values, *named), **kwargs)

    secret = click.option(
        "--secret",
        "secrets",
        multiple=True,
        type=Pair(),
        metavar="PARAMETER=NAME",
        help="a parameter whose value is the site's secret NAME; repeatable",
    )
    value = click.option(
        "--set", "values", multiple=True, type=Pair(), help="a parameter's value; repeatable"
    )
    return value(secret(with_secrets))  # type: ignore[return-value]  # as above


def labels(function: F) -> F:
    """`--label key=value`, as often as needed."""
    return click.option("--label", "labels", multiple=True, type=Pair(), help="repeatable")(
        function
    )


def versions(*words: str, help_: str) -> Callable[[F], F]:
    """An option that takes a version; the shell completes those of what is named before it."""
    return click.option(*words, help=help_, shell_complete=complete.versions)


EXTRAS: Final[dict[str, dict[str, Any]]] = {
    "profile": {"help": "of several the one to run, by id or type"},
    "priority": {"type": click.Choice(["urgent", "normal", "bulk"]), "help": "whose turn it is"},
    "reason": {"help": "why; needed with urgent"},
}


def extras(*names: str) -> Callable[[F], F]:
    """These of `--profile`, `--priority` and `--reason`, handed in as `extra` for the body."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def with_extra(*args: Any, **kwargs: Any) -> Any:
            given = {name: kwargs.pop(name) for name in names}
            extra = {name: value for name, value in given.items() if value is not None}
            return function(*args, extra=extra, **kwargs)

        decorated: Any = with_extra  # click sees the wrapper's own signature
        for name in reversed(names):
            decorated = click.option(f"--{name}", **EXTRAS[name])(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate
