"""A share of the full suite for each day: every file's turn comes, no run takes long.

`make test-share` loads this plugin. The date decides with which file the run begins; the others
follow in their order until the time is spent. Each file gets a part of the time at most, and a long
one begins elsewhere each day, so neither starves the others. What had no turn is listed at the end.
"""

from __future__ import annotations

import time
from collections import defaultdict
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

# Steps of the golden ratio visit a circle evenly, however many days or files there are.
_GOLDEN_STEP: Final = 0.6180339887498949

Value = TypeVar("Value")


def start_of(day: date, count: int) -> int:
    """Return the place among `count` at which a day's run begins."""
    return int(day.toordinal() * _GOLDEN_STEP % 1 * count)


def rotated(values: Sequence[Value], day: date) -> list[Value]:
    """Return the values in their order, beginning at the day's place."""
    start = start_of(day, len(values))
    return [*values[start:], *values[:start]]


class Rotation:
    """Order tests by the day and stop starting new ones when the time is spent."""

    def __init__(self, day: date, seconds: float, seconds_per_file: float) -> None:
        self._day = day
        self._seconds = seconds
        self._seconds_per_file = seconds_per_file
        self._begin: float | None = None
        self._file_begin: dict[str, float] = {}
        self.without_turn: dict[str, int] = defaultdict(int)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Order files, and the tests in each, from the day's place on."""
        files: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in items:
            files[_file_of(item)].append(item)
        order = rotated(sorted(files), self._day)
        items[:] = [item for name in order for item in rotated(files[name], self._day)]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> bool | None:
        """Run the test, or pass it over when its file or the whole run had its time."""
        now, name = time.monotonic(), _file_of(item)
        if self._begin is None:
            self._begin = now  # collecting takes none of the time
        if now - self._begin < self._seconds:
            begin = self._file_begin.setdefault(name, now)
            if now - begin < self._seconds_per_file:
                return None
        self.without_turn[name] += 1
        # The test before kept the fixtures that it shares with this one.
        item.session._setupstate.teardown_exact(nextitem)
        return True

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand a worker's counts to the run that started it."""
        output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["without_turn"] = dict(self.without_turn)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add the counts of a worker that ended."""
        for name, count in getattr(node, "workeroutput", {}).get("without_turn", {}).items():
            self.without_turn[name] += count

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List how many tests of each file had no turn."""
        terminalreporter.section(f"share of the full suite for {self._day}")
        for name, count in sorted(self.without_turn.items()):
            terminalreporter.line(f"{name}: {count} without a turn")


def _file_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a share."""
    group = parser.getgroup("rotation")
    group.addoption("--share-day", default="", help="the day that decides, YYYY-MM-DD; today")
    group.addoption("--share-minutes", type=float, default=18.0, help="for the whole run")
    group.addoption("--share-file-minutes", type=float, default=5.0, help="for each file at most")


def pytest_configure(config: pytest.Config) -> None:
    """Take part in the run."""
    given = config.getoption("--share-day")
    day = date.fromisoformat(given) if given else datetime.now(tz=UTC).date()
    seconds = 60 * config.getoption("--share-minutes")
    per_file = 60 * config.getoption("--share-file-minutes")
    config.pluginmanager.register(Rotation(day, seconds, per_file), "margrave-rotation")
