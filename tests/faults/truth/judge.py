"""The time for which each claim stays false, and the claims that stay false for too long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.faults.truth.delays import Delay

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Statement:
    """One claim compared with what was observed at the same moment."""

    channel: str  # the API, a command or a page
    subject: str
    delay: Delay
    holds: bool
    claimed: str
    observed: str
    # Whether the claim was read just now. One that was read before counts on, but only a claim
    # that is read again is found to be false for too long.
    fresh: bool = True

    @property
    def key(self) -> Key:
        """Claims of one kind about one subject in one channel share their time."""
        return (self.channel, self.subject, self.delay.name)


@dataclass
class Spell:
    """A time during which a claim was false without a break."""

    first: Statement
    began: float
    ended: float
    limit: float
    history: list[tuple[float, str, str]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Return how long it has lasted so far."""
        return self.ended - self.began

    def extend(self, at: float, statement: Statement) -> None:
        """Note one more look at which the claim was false."""
        self.ended = at
        entry = (statement.claimed, statement.observed)
        if not self.history or self.history[-1][1:] != entry:
            self.history.append((at, *entry))


class Judge:
    """Follows all claims over the looks of one run."""

    def __init__(self, limits: dict[str, float], allowance: float) -> None:
        self._limits = limits
        self._allowance = allowance
        self._open: dict[Key, Spell] = {}
        self._reported: set[Key] = set()
        self.failures: list[Spell] = []
        # Of each kind the claim that was found false for the longest time, and that time.
        self.longest: dict[str, tuple[float, Statement]] = {}
        self.compared: Counter[str] = Counter()  # by channel

    def look(self, at: float, statements: Iterable[Statement]) -> list[Spell]:
        """Take in one look, and return the claims that it finds false for too long.

        Where a channel claims nothing, or nothing can be observed, the time of the claim ends.
        """
        current = list(statements)
        self.compared.update(one.channel for one in current if one.fresh)
        false = {one.key: one for one in current if not one.holds}
        for key in self._open.keys() - false.keys():
            del self._open[key]
            self._reported.discard(key)
        return [spell for one in false.values() if (spell := self._extend(at, one))]

    def _extend(self, at: float, statement: Statement) -> Spell | None:
        limit = self._limits[statement.delay.name] + self._allowance
        spell = self._open.setdefault(statement.key, Spell(statement, at, at, limit))
        spell.extend(at, statement)
        known, _ = self.longest.get(statement.delay.name, (-1.0, statement))
        if statement.fresh and spell.seconds > known:
            self.longest[statement.delay.name] = (spell.seconds, statement)
        late = statement.fresh and spell.seconds > limit
        if not late or statement.key in self._reported:
            return None
        self._reported.add(statement.key)
        self.failures.append(spell)
        return spell
