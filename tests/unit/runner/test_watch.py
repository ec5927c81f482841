"""What Git wants, and when the runner takes it up."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from margrave.documents.site import SiteDocument
from runner.reconcile.watch import Watch
from runner.source import Desired, Source
from runner.store import Store


class Moving:
    """A remote that has another commit each time, and notes whose components are kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        self.kept: list[str] = []

    def fetch(self, last: Desired | None, accepted: str | None) -> Desired:
        """git fetch."""
        del last, accepted
        self._number += 1
        name = f"{self._number:040}"
        return Desired(name, f"tree {name}", (), SiteDocument(), self._folder, {}, None)

    def keep_components(self, _: object, *states: Desired | None) -> None:
        """Components that these states name are not removed."""
        self.kept = [one.commit for one in states if one]


def test_a_tick_goes_on_with_what_it_began_with(tmp_path: Path) -> None:
    """What is fetched meanwhile is for the next tick; the components of both stay until then."""
    store = Store(tmp_path / "state", lambda: datetime.now(UTC))
    source = Moving(tmp_path)
    watch = Watch(store, cast(Source, source))
    watch.look(hinted=True)
    begun = watch.take_up()
    assert begun is not None

    for _ in range(3):
        watch.look(hinted=True)

    newest = watch.newest()
    assert newest is not None
    assert watch.desired() is begun
    assert {begun.commit, newest.commit} <= set(source.kept)
    assert watch.take_up() is watch.desired() is newest
    store.close()
