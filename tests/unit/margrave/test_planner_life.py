"""Whole lives of a site: whatever is wanted, fails, sleeps or comes back, the promises hold."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from margrave.error_classes import POLICY, ErrorClass
from margrave.lifecycle import WORKING_STATE, Kind, Outcome, State, allowed
from margrave.placement import Node
from margrave.planner import plan
from margrave.planning import SiteView, Standing, Step, Wanted
from tests.unit.margrave.making import CAPABLE, ID, NOW, deployment

RELEASES = ("a" * 64, "b" * 64, "c" * 64)
NODES = ("n1", "n2", "n3")
DOCUMENT = deployment()


class Round(NamedTuple):
    """What the world does between two plans."""

    wanted: str | None
    silent: frozenset[str]
    drifted: str | None
    cancels: bool
    fails: dict[str, ErrorClass]  # by release: what an attempt at it ends with


class World:
    """An honest little site: it does what steps say, and every move goes by the table."""

    def __init__(self) -> None:
        self.now = NOW
        self.wanted: str | None = None
        self.silent: frozenset[str] = frozenset()
        self.standing: dict[str, Standing] = {}
        self.quarantine: set[tuple[str, str]] = set()
        self.tried: list[tuple[str, str]] = []  # (node, release) of new attempts

    def view(self) -> SiteView:
        wanted = (Wanted(DOCUMENT, self.wanted),) if self.wanted else ()
        nodes = tuple(Node(n, capabilities=CAPABLE, active=n not in self.silent) for n in NODES)
        return SiteView(
            "harbor", self.now, wanted, tuple(self.standing.values()), nodes,
            quarantine=frozenset(self.quarantine),
        )  # fmt: skip

    def want(self, release: str | None) -> None:
        """Another release is wanted: outcomes open, quarantine of others ends."""
        if release == self.wanted:
            return
        self.wanted = release
        self.quarantine = {one for one in self.quarantine if one[1] == release}
        for node, one in self.standing.items():
            if one.state is not State.DELETED:
                self.standing[node] = replace(one, outcome=Outcome.PENDING)

    def carry_out(self, step: Step, fails: dict[str, ErrorClass]) -> None:
        """One step with what follows from it."""
        if step.new_placement:
            self.standing[step.node] = Standing(ID, step.node, State.PENDING)
        if step.outcome is not None and step.node in self.standing:
            self.standing[step.node] = replace(self.standing[step.node], outcome=step.outcome)
        if not step.due or step.kind is None:
            return
        assert step.node not in self.silent, "nothing is begun on a silent node"
        self._begin(step)
        target = step.to_release or ""
        failure = fails.get(target) if step.kind is not Kind.ROLLBACK and not step.heal else None
        if failure is None:
            self._succeed(step)
        else:
            self._fail(step, failure)

    def _begin(self, step: Step) -> None:
        assert step.kind is not None
        one = self.standing[step.node]
        assert allowed(one.state, WORKING_STATE[step.kind]), (one.state, step.kind)
        if step.kind in (Kind.INSTALL, Kind.UPDATE) and not step.heal:
            assert (ID, step.to_release) not in self.quarantine, "what failed here is not begun"
            assert step.to_release == self.wanted, "only the newest is begun"
            self.tried.append((step.node, step.to_release or ""))
            one = replace(one, wanted_release=step.to_release, cancelled=False)
        changed = replace(one, state=WORKING_STATE[step.kind], attempt=step.attempt)
        self.standing[step.node] = replace(changed, healing=step.heal)

    def _succeed(self, step: Step) -> None:
        one = self.standing[step.node]
        if step.kind is Kind.DELETE:
            self._to(one, State.DELETED, release=None, outcome=Outcome.SUCCEEDED)
        elif step.kind is Kind.ROLLBACK:
            outcome = Outcome.HELD if one.cancelled else Outcome.ROLLED_BACK
            if not one.cancelled:
                self.quarantine.add((ID, one.wanted_release or ""))
            self._to(
                one, State.INSTALLED, release=step.to_release, outcome=outcome, cancelled=False
            )
        else:
            kept = one.outcome if step.heal and one.release != self.wanted else Outcome.SUCCEEDED
            self._to(
                one, State.INSTALLED, release=step.to_release, good_release=step.to_release,
                outcome=kept, drift="", attempt=0,
            )  # fmt: skip

    def _fail(self, step: Step, failure: ErrorClass) -> None:
        one = self.standing[step.node]
        spent = POLICY[failure].retries is not None and step.attempt > (
            POLICY[failure].retries or 0
        )
        self._to(
            one, State.FAILED, failed_kind=step.kind, error=failure,
            release=one.good_release if step.kind is Kind.UPDATE else one.release,
            outcome=Outcome.FAILED if spent else Outcome.PENDING,
        )  # fmt: skip

    def _to(self, one: Standing, state: State, **changes: object) -> None:
        assert allowed(one.state, state), (one.state, state)
        self.standing[one.node] = replace(one, state=state, **changes)  # type: ignore[arg-type]

    def turn(self, round_: Round) -> None:
        """The world moves, then the site is planned and carried out once."""
        self.now += timedelta(minutes=10)
        self.want(round_.wanted)
        self.silent = round_.silent
        for node, one in self.standing.items():
            if node == round_.drifted and one.state is State.INSTALLED:
                self.standing[node] = replace(one, drift="web is missing")
            if round_.cancels and one.state is State.FAILED and one.failed_kind is Kind.UPDATE:
                self.standing[node] = replace(one, cancelled=True)
        for step in plan(self.view()).steps:
            self.carry_out(step, round_.fails)


_rounds = st.lists(
    st.builds(
        Round,
        wanted=st.sampled_from([None, *RELEASES]),
        silent=st.frozensets(st.sampled_from(NODES), max_size=2),
        drifted=st.sampled_from([None, *NODES]),
        cancels=st.booleans(),
        fails=st.dictionaries(st.sampled_from(RELEASES), st.sampled_from(ErrorClass), max_size=2),
    ),
    max_size=12,
)
CALM = Round(None, frozenset(), None, False, {})


@settings(max_examples=300)
@given(_rounds)
def test_no_life_leaves_the_table(rounds: list[Round]) -> None:
    """Every move is a transition of the table; only the newest, unquarantined one is begun."""
    world = World()

    for round_ in rounds:
        world.turn(round_)


@settings(max_examples=200)
@given(_rounds, st.sampled_from(RELEASES))
def test_when_the_world_calms_down_the_newest_runs_everywhere(
    rounds: list[Round], newest: str
) -> None:
    """With all nodes there and nothing failing, a few turns end with the wanted one and no plan."""
    world = World()
    for round_ in rounds:
        world.turn(round_)
    world.want(None)  # another wish in between: what is quarantined or held is wanted anew
    for _ in range(4):
        world.turn(CALM)
    for _ in range(4):
        world.turn(CALM._replace(wanted=newest))

    assert {one.node: one.release for one in world.standing.values()} == dict.fromkeys(
        NODES, newest
    )
    assert plan(world.view()).steps == ()


@settings(max_examples=200)
@given(_rounds)
def test_what_is_removed_goes_from_everywhere(rounds: list[Round]) -> None:
    """Gone from Git ends at DELETED on every node, whatever came before."""
    world = World()
    for round_ in [*rounds, *[CALM] * 4]:
        world.turn(round_)

    assert {one.state for one in world.standing.values()} <= {State.DELETED}
    assert plan(world.view()).steps == ()


@settings(max_examples=200)
@given(_rounds, st.sampled_from(NODES))
def test_a_silent_node_blocks_no_other(rounds: list[Round], silent: str) -> None:
    """While one node is away the others come to the newest revision."""
    world = World()
    for round_ in [*rounds, *[CALM] * 4]:
        world.turn(round_)
    for _ in range(4):
        world.turn(CALM._replace(wanted=RELEASES[0], silent=frozenset({silent})))

    others = {n: world.standing[n].release for n in NODES if n != silent}
    assert set(others.values()) == {RELEASES[0]}
