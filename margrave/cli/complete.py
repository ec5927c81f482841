"""Names for the shell's completion: asked of the controller, and silent when it does not answer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from click.shell_completion import CompletionItem

from margrave.cli.paths import at
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import click

    from margrave.cli.api import Api

# Somebody has just pressed Tab: better nothing than a wait.
PATIENCE = 2.0
# More than fit on a screen help nobody choose.
MOST = 100


def _api(ctx: click.Context) -> Api:
    from margrave.cli import contexts
    from margrave.cli.api import Api

    account = contexts.chosen(str(ctx.find_root().params.get("context") or ""))
    return Api(account.url, account.token, pair=account.pair, timeout=PATIENCE)


def _from(ask: Callable[[Api, str], Iterable[tuple[str, str]]]) -> Any:
    def complete(ctx: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
        try:
            found = list(ask(_api(ctx), typed))
        except MargraveError:
            # There is no place for an error in a half-typed line: there are no names, that is all.
            return []
        return [CompletionItem(name, help=about) for name, about in found if name.startswith(typed)]

    return complete


def _apps(api: Api, typed: str) -> Iterable[tuple[str, str]]:
    """Applications; behind an @ their versions."""
    name, at_sign, _ = typed.partition("@")
    if at_sign:
        found = api.get(at("apps", name))
        return [(f"{name}@{version}", "") for version in found["versions"]]
    page = api.page(at("apps"), MOST, q=name or None)
    return [(str(one["id"]), str(one.get("name") or "")) for one in page["items"]]


def _some(api: Api, path: str, typed: str, form: str, **params: Any) -> dict[str, dict[str, Any]]:
    """What begins as typed, by its name: searched for where the list has a search, and in any
    case read page by page, until there is enough to choose from or the patience is over."""
    from margrave.cli.api import PAGE

    until, cursor = time.monotonic() + PATIENCE, None
    found: dict[str, dict[str, Any]] = {}
    while True:
        page = api.get(path, limit=PAGE, cursor=cursor, q=typed or None, **params)
        for one in page["items"]:
            name = form.format(**one)
            if name.startswith(typed):
                found.setdefault(name, one)
        cursor = page.get("next")
        if cursor is None or len(found) >= MOST or time.monotonic() > until:
            return found


def _sites(api: Api, typed: str) -> Iterable[tuple[str, str]]:
    return [(name, "") for name in _some(api, at("sites"), typed, "{name}")]


def _nodes(api: Api, typed: str) -> Iterable[tuple[str, str]]:
    """By name, or as <site>/<node> once there is a slash."""
    site, slash, name = typed.partition("/")
    if slash:
        path = at("sites", site, "nodes")
        return [(f"{site}/{one}", site) for one in _some(api, path, name, "{name}")]
    found = _some(api, at("nodes"), typed, "{name}")
    return [(one, str(row["site"])) for one, row in found.items()]


def _deployments(api: Api, typed: str) -> Iterable[tuple[str, str]]:
    found = _some(api, at("deployments"), typed, "{name}")
    return [(name, str(one["app"])) for name, one in found.items()]


def _sources(api: Api, typed: str) -> Iterable[tuple[str, str]]:
    found = _some(api, at("app-sources"), typed, "{name}")
    return [(name, str(one["url"])) for name, one in found.items()]


def versions(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Those of the application of the deployment that is named before."""

    def ask(api: Api, _typed: str) -> Iterable[tuple[str, str]]:
        page = api.page(at("deployments"), 1, name=ctx.params.get("wanted"))
        apps = [str(one["app"]) for one in page["items"]]
        return [(one, "") for app in apps for one in api.get(at("apps", app))["versions"]]

    found: list[CompletionItem] = _from(ask)(ctx, param, typed)
    return found


def _plannable(api: Api, typed: str) -> Iterable[tuple[str, str]]:
    return dict([*_apps(api, typed), *_deployments(api, typed)]).items()


apps = _from(_apps)
plannable = _from(_plannable)
sites = _from(_sites)
nodes = _from(_nodes)
deployments = _from(_deployments)
sources = _from(_sources)


def contexts(_ctx: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
    """Those kept on this machine."""
    from margrave.cli import contexts as kept

    try:
        known = kept.load().known
    except MargraveError:
        return []
    return [
        CompletionItem(name, help=one.url) for name, one in known.items() if name.startswith(typed)
    ]
