"""Beats of beacons: who is believed, what follows, what is kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from margrave.errors import MargraveError
from runner.nodes import Beats, Came, News, with_beacon
from runner.nodes.beats import NotBelieved, signature
from runner.ports import Beacon, NodeStatus

NODE = "harbor-1"
BEAT = timedelta(seconds=10)
CHECK = timedelta(seconds=60)


class Registry:
    """Beacons in memory."""

    def __init__(self) -> None:
        self.beacons: dict[str, Beacon] = {}
        self.problems: dict[str, Sequence[str]] = {}
        self.writes = 0

    def list(self) -> tuple[Beacon, ...]:
        return tuple(self.beacons.values())

    def save(self, beacon: Beacon) -> None:
        self.beacons[beacon.node] = beacon

    def heard(self, some: Iterable[tuple[Beacon, Sequence[str]]]) -> None:
        self.writes += 1
        for beacon, problems in some:
            if beacon.node in self.beacons:
                self.beacons[beacon.node] = beacon
                self.problems[beacon.node] = problems


@dataclass
class Site:
    """A runner's beats at a time of our own, and what they gave rise to."""

    registry: Registry = field(default_factory=Registry)
    now: datetime = datetime(2026, 11, 18, 12, tzinfo=UTC)
    said: list[str] = field(default_factory=list)
    stepped: timedelta = timedelta()  # by which the wall clocks of runner and node are off

    def __post_init__(self) -> None:
        self.beats = self.start()
        self.key = self.beats.issue(NODE)

    def start(self) -> Beats:
        """As at the start of the process: all there is, is the registry."""
        news = News(
            back=lambda name: self.said.append(f"back {name}"),
            restarted=lambda name: self.said.append(f"restarted {name}"),
            changed=lambda: self.said.append("changed"),
            silent=lambda: self.said.append("silent"),
        )
        return Beats(self.registry, self, BEAT, news)

    def __call__(self) -> datetime:
        return self.now + self.stepped

    def monotonic(self) -> float:
        return self.now.timestamp()

    def came(self, later: float = 0.0, key: str = "", **body: Any) -> Came:
        """A beat, signed so many seconds from now by the node's clock."""
        raw = json.dumps({"protocol": 1, "boot_id": "b1", **body}).encode()
        stamp = str(int((self().timestamp() + later) * 1000))
        return Came(NODE, stamp, signature(key or self.key, NODE, stamp, raw), raw)

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def site() -> Site:
    """A site whose one node has a key and has not spoken yet."""
    return Site()


def test_a_beat_with_the_nodes_key_counts_from_when_it_came(site: Site) -> None:
    """The node's own clock may be off within the window: ours is the one that judges."""
    assert site.beats.heard(NODE) is None
    assert site.beats.take(site.came(later=-120)) == site.now
    assert site.beats.heard(NODE) == site.now
    assert site.said == [f"back {NODE}"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"signature": "v1=" + "0" * 64}, "does not fit"),
        ({"signature": ""}, "does not fit"),
        ({"signature": "é"}, "does not fit"),
        ({"body": b'{"protocol": 1, "changed": ["x"]}'}, "does not fit"),
        ({"timestamp": "1"}, "does not fit"),
        ({"node": "harbor-2"}, "does not fit"),
    ],
)
def test_whatever_differs_from_what_was_signed_is_not_believed(site, change, says) -> None:
    """Body, time and name are one; an unknown node is told the same as a wrong key."""
    with pytest.raises(NotBelieved, match=says):
        site.beats.take(replace(site.came(), **change))
    assert site.beats.heard(NODE) is None


@pytest.mark.parametrize("word", ["", "soon", "-5", "9" * 40, "٣"])
def test_a_signed_time_that_is_none_is_not_believed(site: Site, word: str) -> None:
    """Whoever has the key may still be broken."""
    body = b"{}"
    with pytest.raises(NotBelieved, match="is no time"):
        site.beats.take(Came(NODE, word, signature(site.key, NODE, word, body), body))


@pytest.mark.parametrize(("off", "words"), [(301, "301 s ahead"), (-3600, "3600 s behind")])
def test_a_clock_that_is_far_off_is_told_by_how_much(site, off, words) -> None:
    """Five minutes are forgiven, and the cure is named."""
    with pytest.raises(NotBelieved, match=words) as caught:
        site.beats.take(site.came(later=off))
    assert "timedatectl" in caught.value.cure


def test_a_recorded_beat_counts_once_even_over_a_restart(site: Site) -> None:
    """What somebody overheard keeps no dead node alive."""
    beat = site.came()
    site.beats.take(beat)
    with pytest.raises(NotBelieved, match="came before"):
        site.beats.take(beat)
    site.beats.sync()
    with pytest.raises(NotBelieved, match="came before"):
        site.start().take(beat)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b"\xff", b"[" * 5000, b'{"protocol": 2}', b"{}"]
)
def test_a_signed_body_that_cannot_be_read_is_told_apart(site: Site, body: bytes) -> None:
    """The key was right, so this is the beacon's defect and no attack; nothing counts."""
    stamp = str(int(site.now.timestamp() * 1000))
    with pytest.raises(MargraveError) as caught:
        site.beats.take(Came(NODE, stamp, signature(site.key, NODE, stamp, body), body))
    assert not isinstance(caught.value, NotBelieved)
    assert site.beats.heard(NODE) is None


def test_a_rotated_key_takes_over_with_its_first_beat(site: Site) -> None:
    """Until the node has it the old one counts; after its first use only the new one does."""
    old, fresh = site.key, site.beats.issue(NODE, rotate=True)
    assert fresh != old
    assert site.beats.issue(NODE) == fresh
    site.beats.take(site.came())
    site.wait(10)
    site.beats.take(site.came(key=fresh))
    site.wait(10)
    with pytest.raises(NotBelieved):
        site.beats.take(site.came(key=old))
    site.beats.sync()
    assert site.registry.beacons[NODE].old_key is None


def test_what_was_said_is_written_once_for_all(site: Site) -> None:
    """A hundred beats between two writes are one write, and none when nobody spoke."""
    for _ in range(100):
        site.wait(0.01)
        site.beats.take(site.came(problems=["disk: 300 MiB free below /var/lib"]))
    site.beats.sync()
    site.beats.sync()
    assert site.registry.writes == 1
    assert site.registry.problems[NODE] == ["disk: 300 MiB free below /var/lib"]
    assert site.start().heard(NODE) == site.now


def test_a_restart_and_an_event_are_told_at_once(site: Site) -> None:
    """Another boot id means a restart; the first one ever means nothing."""
    site.beats.take(site.came())
    site.said.clear()
    site.wait(10)
    site.beats.take(site.came(changed=["3f0c8f7e"]))
    assert site.said == ["changed"]
    site.wait(10)
    site.beats.take(site.came(boot_id="b2"))
    assert site.said == ["changed", f"restarted {NODE}"]


def test_a_silent_beacon_is_told_once_and_comes_back(site: Site) -> None:
    """Three intervals: somebody looks whether the node is gone too; the next beat ends it."""
    site.beats.take(site.came())
    site.said.clear()
    site.wait(29)
    site.beats.sync()
    assert site.said == []
    site.wait(1)
    site.beats.sync()
    site.beats.sync()
    assert site.said == ["silent"]
    assert "silent since 2026-11-18 12:00:00 UTC" in site.registry.problems[NODE][0]
    site.beats.take(site.came())
    site.beats.sync()
    assert site.said == ["silent", f"back {NODE}"]
    assert site.registry.problems[NODE] == []


def test_a_node_that_was_removed_is_not_believed_any_more(site: Site) -> None:
    """Its key went with it."""
    site.beats.take(site.came())
    del site.registry.beacons[NODE]
    site.beats.sync()
    site.wait(10)
    with pytest.raises(NotBelieved):
        site.beats.take(site.came())


STEPS = [timedelta(hours=-6), timedelta(hours=6), timedelta(days=1), timedelta(days=-1)]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("restarted", [False, True])
def test_a_beacon_is_believed_after_an_excursion_of_the_clocks(site, step, restarted) -> None:
    """Both clocks are set, and set right again: each time the next beat counts, and once only."""
    site.beats.take(site.came())
    for stepped in (step, timedelta()):
        site.stepped = stepped
        site.wait(10)
        site.beats.sync()
        if restarted:
            site.beats = site.start()
        beat = site.came()
        site.beats.take(beat)
        assert site.beats.silence(NODE) == timedelta()
        with pytest.raises(NotBelieved, match="came before"):
            site.beats.take(beat)


@pytest.mark.parametrize("step", STEPS)
def test_a_step_makes_no_beacon_silent_and_hides_no_silence(site: Site, step: timedelta) -> None:
    """Silence is measured by a clock that nobody sets."""
    site.beats.take(site.came())
    site.said.clear()
    site.stepped = step
    site.wait(29)
    site.beats.sync()
    assert site.said == []
    site.wait(1)
    site.beats.sync()
    assert site.said == ["silent"]


@pytest.mark.parametrize("step", STEPS)
def test_a_beacon_heard_before_a_restart_and_a_step_is_not_alive_for_it(
    site: Site, step: timedelta
) -> None:
    """What an earlier process stored counts for as long as it may; a time in the future not."""
    site.beats.take(site.came())
    site.beats.sync()
    site.stepped = step
    site.beats = site.start()
    silence = site.beats.silence(NODE)
    assert silence is not None
    assert silence >= timedelta(hours=6)


@pytest.mark.parametrize(
    ("seen", "heard", "status"),
    [
        (None, 0, NodeStatus.ACTIVE),
        (None, 29, NodeStatus.ACTIVE),
        (None, 30, NodeStatus.STALE),
        (None, 90, NodeStatus.OFFLINE),
        (20, 45, NodeStatus.ACTIVE),  # a check between the beats stretches nothing …
        (31, 45, NodeStatus.STALE),  # … beyond three intervals of silence
        (100, 130, NodeStatus.ACTIVE),  # seen when the beacon was silent already: only it is gone
        (180, 300, NodeStatus.STALE),
        (179, None, NodeStatus.ACTIVE),
    ],
)
def test_silence_is_judged_by_beats_where_there_are_any(seen, heard, status) -> None:
    """Times are seconds ago; a beacon that alone has died leaves its node to the SSH checks."""

    def ago(seconds: float | None) -> timedelta | None:
        return None if seconds is None else timedelta(seconds=seconds)

    assert with_beacon(ago(seen), ago(heard), BEAT, CHECK) is status
