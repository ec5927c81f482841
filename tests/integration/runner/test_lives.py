"""Whole lives of a site, lived by the runner itself: whatever is wanted, fails, falls silent or is
drained, the promises hold, and in the end it rests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from margrave.documents.deployment import Deployment
from margrave.lifecycle import Kind, Outcome, State
from runner.reconcile.view import plain_release
from runner.store import Operation
from tests.support.lives import NODES, Life
from tests.unit.margrave.making import deployment

SHOP, DATABASE = "3f2504e0-4f89-41d3-9a0c-0305e82c3301", "0b7c8d9e-1f20-4a31-8b42-c5d6e7f80912"
NAMES = {SHOP: "shop", DATABASE: "database"}
VERSIONS = ("1.0.0", "1.1.0", "1.2.0")
CURABLE = ("link", "registry", "disk", "auth")
FINAL = ("health", "engine", "config", "image", "conflict", "internal")


class Round(NamedTuple):
    """What happens between two ticks."""

    versions: dict[str, str | None]  # by deployment: another one is wanted, or none any more
    drained: frozenset[str] | None
    closed: str | None  # what holds the site: "", a pause or a window
    away: frozenset[str] | None
    fails: dict[str, str] | None  # by version: the class
    drift: tuple[str, str] | None
    command: tuple[str, str] | None
    slow: int
    at_once: bool
    seconds: int


class Ways(NamedTuple):
    """How the two deployments are wanted, for a whole life."""

    number: Any
    data: bool
    move: str
    batch: Any
    then: str
    requires: bool


DEPLOYMENTS = st.sampled_from([SHOP, DATABASE])
_NODE = st.sampled_from(NODES)
_rounds = st.lists(
    st.builds(
        Round,
        versions=st.dictionaries(DEPLOYMENTS, st.sampled_from([*VERSIONS, None]), max_size=2),
        drained=st.none() | st.frozensets(_NODE, max_size=2),
        closed=st.none() | st.sampled_from(["", "paused", "windows"]),
        away=st.none() | st.frozensets(_NODE, max_size=2),
        fails=st.none()
        | st.dictionaries(st.sampled_from(VERSIONS), st.sampled_from(CURABLE + FINAL), max_size=2),
        drift=st.none() | st.tuples(DEPLOYMENTS, _NODE),
        command=st.none() | st.tuples(st.sampled_from(["cancel", "retry", "release"]), DEPLOYMENTS),
        slow=st.integers(0, 2),
        at_once=st.booleans(),
        seconds=st.sampled_from([1, 30, 400]),
    ),
    min_size=1,
    max_size=10,
)
_ways = st.builds(
    Ways,
    number=st.sampled_from(["all", 1, 2, ["n1", "n3"]]),
    data=st.booleans(),
    move=st.sampled_from(["deny", "allow"]),
    batch=st.sampled_from(["canary", "all", 1, "50%"]),
    then=st.sampled_from(["rollback", "hold"]),
    requires=st.booleans(),
)
CLOSED = {
    "": "",
    "paused": "paused: {reason: audit, by: ann}\n",
    "windows": 'windows: [{cron: "0 0 1 1 *", duration: 1h}]\n',
}
CALM = Round({}, None, None, None, None, None, None, 0, True, 400)


class Site:
    """A life with what is wanted of it."""

    def __init__(self, life: Life, ways: Ways) -> None:
        life.begin()
        self.life, self.ways = life, ways
        self.versions: dict[str, str] = {}
        self.drained: frozenset[str] = frozenset()
        self.closed = ""
        self.written: dict[str, set[str]] = {one: set() for one in NAMES}  # nodes with its data
        if ways.data:
            life.executor.volumes = {SHOP, DATABASE}

    def document(self, one: str, version: str) -> Deployment:
        """A deployment of this version, as it is wanted for the whole life."""
        ways = self.ways
        return deployment(
            id=one, name=NAMES[one], release=version,
            placement={"nodes": ways.number, "move": ways.move}, strategy={"batch": ways.batch},
            failure={"then": ways.then},
            requires=["database"] if ways.requires and one == SHOP else [],
        )  # fmt: skip

    def release(self, one: str, version: str) -> str:
        """What a runner calls it."""
        return plain_release(self.document(one, version))

    def push(self) -> None:
        """What is wanted now, as a commit."""
        nodes = ", ".join(f"{node}: {{drain: true}}" for node in sorted(self.drained))
        text = f"nodes: {{{nodes}}}\n{CLOSED[self.closed]}"
        wanted = [self.document(one, version) for one, version in self.versions.items()]
        self.life.want(wanted, text)

    def turn(self, round_: Round) -> list[Operation]:
        """The world moves, then the runner ticks; what it began keeps the promises."""
        executor = self.life.executor
        changed = {one: version for one, version in round_.versions.items() if version}
        gone = {one for one, version in round_.versions.items() if version is None}
        self.versions = {
            one: version for one, version in {**self.versions, **changed}.items() if one not in gone
        }
        self.drained = self.drained if round_.drained is None else round_.drained
        self.closed = self.closed if round_.closed is None else round_.closed
        self.push()
        if round_.away is not None:
            for name, node in executor.nodes.items():
                node.away = name in round_.away
        if round_.fails is not None:
            executor.fails = {
                self.release(one, version): cls
                for one in NAMES
                for version, cls in round_.fails.items()
            }
        if round_.drift is not None:
            one, name = round_.drift
            if one in executor.nodes[name].running:
                executor.nodes[name].drift[one] = [{"what": "web is missing"}]
        if round_.command is not None:
            self.life.command(*round_.command)
        executor.turns, executor.works_at_once = round_.slow, round_.at_once
        begun = self.life.turn(round_.seconds)
        for operation in begun:
            self.keeps_promises(operation)
        for name, node in executor.nodes.items() if self.ways.data else ():
            for one in node.running:
                self.written[one].add(name)
        self.life.at_work()
        return begun

    def keeps_promises(self, begun: Operation) -> None:
        """What no operation may be begun for."""
        if begun.node in self.drained:
            assert begun.kind is Kind.DELETE, f"{begun.kind} on a drained node"
        if begun.kind is Kind.DELETE:
            return
        assert begun.deployment in self.versions, "nobody wants it"
        standing = self.life.standing()
        mine = {node: one for (key, node), one in standing.items() if key == begun.deployment}
        stays = [one for one in mine.values() if one.state not in (State.DELETING, State.DELETED)]
        number = self.ways.number
        if isinstance(number, int):
            doomed = [one for one in stays if one.node in self.drained]
            assert len(stays) - len(doomed) <= number, "more placements than are wanted"
        if begun.kind is Kind.INSTALL and number == 1 and self.ways.move == "deny":
            bound = self.written[begun.deployment]
            assert not bound or begun.node in bound, f"its data is on {bound}, not {begun.node}"

    def rests(self) -> None:
        """Nothing is at work, and what is not as wanted says why."""
        assert not self.life.at_work()
        for (key, node), one in self.life.standing().items():
            if one.state is State.DELETED:
                continue
            told = f"{NAMES[key]} on {node}: {one.state} {one.outcome} {one.reason} {one.error}"
            told += f" drift {one.drift} waits {one.waiting} {self.ways} {self.closed}"
            assert key in self.versions or one.waiting, told
            version = self.versions.get(key)
            well = (one.state, one.outcome) == (State.INSTALLED, Outcome.SUCCEEDED)
            if well and not one.drift and version and one.release == self.release(key, version):
                continue
            assert one.outcome in (Outcome.HELD, Outcome.ROLLED_BACK) or one.waiting, told


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    """One runner for all lives."""
    made = Life(tmp_path_factory.mktemp("life"))
    yield made
    made.runner.close()


def few(lives: int) -> settings:
    """So many lives. Each takes about a second, so one that fails is shrunk by who mends it."""
    return settings(max_examples=lives, phases=[Phase.explicit, Phase.reuse, Phase.generate])


def comes_to_rest(site: Site, rounds: list[Round]) -> None:
    """However ill its releases are: nothing flaps, and who is not as wanted says why."""
    for round_ in rounds:
        site.turn(round_)
    # What is the site's own trouble is tried for ever; what is the release's own ends.
    fails = {one: cls for one, cls in (rounds[-1].fails or {}).items() if cls in FINAL}
    site.turn(CALM._replace(away=frozenset(), fails=fails))
    for _ in range(20):
        site.turn(CALM)
    for _ in range(3):
        assert not site.turn(CALM), "it does not come to rest"
    site.rests()


def gets_well(site: Site, rounds: list[Round]) -> None:
    """Drains, pauses and failures over, and tried again by a person: as many as are wanted run."""
    for round_ in rounds:
        site.turn(round_)
    well = CALM._replace(away=frozenset(), fails={}, drained=frozenset(), closed="")
    for _ in range(8):
        site.turn(well)
    site.turn(well._replace(versions=dict.fromkeys(NAMES, VERSIONS[0])))
    for one in NAMES:
        site.life.command("retry", one)
    for _ in range(12):
        site.turn(well)
    assert not site.turn(well)
    site.rests()
    number = site.ways.number
    wanted = len(number) if isinstance(number, list) else {"all": len(NODES)}.get(number, number)
    for one in NAMES:
        runs = [name for name, node in site.life.executor.nodes.items() if one in node.running]
        assert len(runs) == wanted, f"{NAMES[one]} runs on {runs}"
        assert {site.life.standing()[one, node].outcome for node in runs} == {Outcome.SUCCEEDED}


@few(6)
@given(ways=_ways, rounds=_rounds)
def test_every_life_comes_to_rest_with_a_reason(
    life: Life, ways: Ways, rounds: list[Round]
) -> None:
    """No step is begun for ever."""
    comes_to_rest(Site(life, ways), rounds)


@few(6)
@given(ways=_ways, rounds=_rounds)
def test_when_all_is_well_again_the_wanted_runs_where_it_should(
    life: Life, ways: Ways, rounds: list[Round]
) -> None:
    """Whatever happened before."""
    gets_well(Site(life, ways), rounds)


def test_a_look_during_an_install_does_not_take_its_data_for_none(life: Life) -> None:
    """The node was looked at while it installed; drained then, it keeps what it may have written,
    also while the delete that takes the install's place is on its way."""
    site = Site(life, Ways(1, data=True, move="deny", batch=1, then="rollback", requires=False))
    slow = CALM._replace(slow=1, seconds=30)
    installing = slow._replace(versions={DATABASE: VERSIONS[0]})
    drained = slow._replace(drained=frozenset({"n1"}))
    begun = [site.turn(round_) for round_ in (installing, drained, slow, CALM)]
    assert [(one.node, one.kind) for turn in begun for one in turn] == [
        ("n1", Kind.INSTALL),
        ("n1", Kind.DELETE),
    ]


@pytest.mark.full
@few(40)
@given(ways=_ways, rounds=_rounds)
def test_many_lives_come_to_rest(life: Life, ways: Ways, rounds: list[Round]) -> None:
    """The first promise, for longer."""
    comes_to_rest(Site(life, ways), rounds)


@pytest.mark.full
@few(40)
@given(ways=_ways, rounds=_rounds)
def test_many_lives_get_well(life: Life, ways: Ways, rounds: list[Round]) -> None:
    """The second one, for longer."""
    gets_well(Site(life, ways), rounds)
