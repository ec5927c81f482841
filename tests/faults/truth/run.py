"""A whole truth test: begin, look every two seconds while things happen, come to rest, report."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from typing import Final

from tests.faults.truth.claims import API, COMMANDS, PAGES, Channel, Look
from tests.faults.truth.deeds import Fate
from tests.faults.truth.delays import limits
from tests.faults.truth.judge import Judge, Spell
from tests.faults.truth.observed import Observer
from tests.faults.truth.rules import Rules
from tests.faults.truth.waits import Waits
from tests.faults.truth.world import World

EVERY: Final = 2.0
# Claims and truth are read in sequence, and no more often than every two seconds.
ALLOWANCE: Final = 5.0
LONGEST: Final = 2 * EVERY  # a look that takes longer than this counts as so long
BETWEEN_READS: Final = 2.0
FIRST: Final = "1.0.0"

Say = Callable[[str], None]


@dataclass
class Reader:
    """Reads slow channels in turn, in a thread of its own."""

    world: World
    channels: tuple[Channel, ...]
    stop: threading.Event = field(default_factory=threading.Event)
    looks: dict[str, Look | None] = field(default_factory=dict)
    errors: list[Exception] = field(default_factory=list)

    def run(self) -> None:
        """Read until stopped."""
        turns: Iterator[Channel] = cycle(self.channels)
        while not self.stop.wait(BETWEEN_READS):
            channel = next(turns)
            try:
                self.looks[channel.name] = channel.look(self.world)
            except Exception as error:  # noqa: BLE001 - reported with the name of its channel
                self.looks[channel.name] = None
                self.errors.append(AssertionError(f"{channel.name}: {error!r}"))


class TruthTest:
    """One run over a world that is open."""

    def __init__(self, world: World, seed: int, say: Say, more: tuple[Channel, ...] = ()) -> None:
        self.world = world
        self.observer = Observer(world)
        self.waits = Waits(world, self.observer)
        self.fate = Fate(world, self.waits, seed)
        self.judge = Judge(dict(limits(world.pace)), ALLOWANCE)
        self.looks = 0
        self.slowest_look = 0.0
        self._rules = Rules(world, self.observer)
        channels = (COMMANDS, PAGES, more)
        self._readers = [Reader(world, group) for group in channels if group]
        self._threads = [threading.Thread(target=reader.run) for reader in self._readers]
        self._judged: dict[str, float] = {}
        self._last_look = time.monotonic()
        self._time = time.time()
        self.stalled = 0.0
        self._say = say

    def __enter__(self) -> TruthTest:
        """Begin to read the slow channels."""
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End everything that this has begun."""
        self.fate.end()
        for reader in self._readers:
            reader.stop.set()
        for thread in self._threads:
            thread.join()
        self.observer.close()

    def deploy_everywhere(self) -> None:
        """Deploy the application at all sites, looking on meanwhile."""
        threads = [
            threading.Thread(target=self.waits.deploy, args=(site, FIRST, "hello", 180))
            for site in self.world.sites
        ]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            self.look()

    def at_random(self, seconds: float) -> None:
        """Let things happen at random for so long."""
        end, due = time.monotonic() + seconds, time.monotonic()
        while time.monotonic() < end:
            if time.monotonic() >= due:
                self.fate.begin_one()
                due = time.monotonic() + self.fate.pause()
            self.look()

    def watch(self, seconds: float) -> None:
        """Look for so long while nothing new begins."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.look()

    def come_to_rest(self, seconds: float) -> None:
        """Undo all faults, and look on for so long."""
        ending = threading.Thread(target=self.fate.end)
        ending.start()
        while ending.is_alive():
            self.look()
        self.watch(seconds)

    def look(self) -> None:
        """Compare all claims with the truth, and wait for the time of the next look."""
        began = time.monotonic()
        truth = self.observer.look()
        looks = [API.look(self.world)]
        looks += [look for reader in self._readers for look in list(reader.looks.values())]
        statements = [
            statement
            for look in looks
            if look is not None
            for statement in self._rules.statements(look, truth, fresh=self._is_fresh(look))
        ]
        for spell in self.judge.look(self._clock(began), statements):
            self._say(f"FALSE {described(spell)}")
        self._judged |= {look.channel: look.at for look in looks if look is not None}
        self.looks += 1
        spent = time.monotonic() - began
        self.slowest_look = max(self.slowest_look, spent)
        time.sleep(max(0.0, EVERY - spent))

    def problems(self) -> Iterable[str]:
        """Return all that was found wrong."""
        for spell in self.judge.failures:
            yield described(spell)
        for ending in self.waits.endings:
            if ending.problem:
                words = " ".join(ending.ran.words)
                yield f"margrave {words}: {ending.problem}\n{ending.ran.output[-2000:]}"
        for error in self.fate.errors:
            yield repr(error)
        for reader in self._readers:
            yield from map(repr, reader.errors)

    def _clock(self, now: float) -> float:
        """Return the time of this run, which does not count what the machine stood still.

        While looks take many times as long as they should, the product gets no time either.
        """
        passed = now - self._last_look
        self._last_look = now
        self.stalled += max(0.0, passed - LONGEST)
        self._time += min(passed, LONGEST)
        return self._time

    def _is_fresh(self, look: Look) -> bool:
        return self._judged.get(look.channel) != look.at


def described(spell: Spell) -> str:
    """Return a false claim as a sentence."""
    first = spell.first
    return (
        f"{first.channel}: {first.subject}: {first.delay.name} is false for"
        f" {spell.seconds:.0f} s (at most {spell.limit:.0f} s): claims {first.claimed},"
        f" but {first.observed}"
    )
