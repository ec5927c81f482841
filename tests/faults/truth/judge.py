"""The time for which each claim stays false, and the claims that stay false for too long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.faults.truth.delays import Delay

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Statement:
    """A claim and the observation of the same moment."""

    channel: str  # the API, a command or a page
    subject: str
    delay: Delay
    holds: bool
    claimed: str
    observed: str
    # Read since the last look. The time of an earlier reading counts on, and a failure needs a
    # new one.
    fresh: bool = True
    lag: float = 0.0  # seconds by which its channel follows the others

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
        # By delay: the claim that was false for the longest time, with that time.
        self.longest: dict[str, tuple[float, Statement]] = {}
        self.compared: Counter[str] = Counter()  # by channel

    def look(self, at: float, statements: Iterable[Statement]) -> list[Spell]:
        """Take in one look, and return the claims that it finds false for too long.

        Where a channel claims nothing, or nothing can be observed, the time of the claim ends.
        """
        current = list(statements)
        self.compared.update(statement.channel for statement in current if statement.fresh)
        false = {statement.key: statement for statement in current if not statement.holds}
        for key in self._open.keys() - false.keys():
            del self._open[key]
            self._reported.discard(key)
        spells = [self._extend(at, statement) for statement in false.values()]
        return [spell for spell in spells if spell]

    def _extend(self, at: float, statement: Statement) -> Spell | None:
        limit = self._limits[statement.delay.name] + statement.lag + self._allowance
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
