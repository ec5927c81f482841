"""Two runners for one site, by mistake or from a backup: one works, the other says so."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lab import Lab
from margrave.lifecycle import Outcome, State
from margrave.sections import State as StateFolder
from runner.app import Runner, build
from runner.execute import AnsibleExecutor
from runner.ports import Node, NodeStatus
from runner.reconcile.commands import Commands
from runner.settings import Git, RunnerSettings, Site, Ssh
from runner.store import Placement, placements
from tests.support.repository import STOREFRONT, Repository, storefront_component
from tests.support.shop import clean

pytestmark = pytest.mark.lab

NODE = "harbor-2"
CAPABILITIES = {
    "architecture": "x86_64",
    "cpus": 4,
    "memory": 4 * 1024**3,
    "storage": 10 * 1024**3,
    "deployment_types": ["compose"],
}


class Place:
    """The site: one node, one repository, and as many runners as somebody starts."""

    def __init__(self, lab: Lab, base: Path) -> None:
        self.lab = lab
        self.base = base
        self.repository = Repository(base)
        self.components = {
            version: storefront_component(self.repository.tree, version)
            for version in ("1.0.0", "1.1.0", "1.2.0")
        }
        self.running: list[Runner] = []

    def want(self, version: str, **extensions: Any) -> None:
        """Push what should run."""
        component = self.components[version]
        self.repository.deploy(version, component=component, timeout="0m15s", **extensions)
        self.repository.push()

    def start(self, folder: str) -> Runner:
        """A runner on a state folder, as its machine would start it."""
        settings = RunnerSettings(
            site=Site(name="harbor"),
            git=Git(remote=str(self.repository.bare)),
            state=StateFolder(dir=self.base / folder),
            ssh=Ssh(key=self.lab.key),
        )
        executor = AnsibleExecutor(settings.state.dir / "execute", connect_timeout=10, warm=False)
        executor.open()
        made = build(settings, executor=executor)
        key = " ".join(
            self.lab.ssh(NODE, "cat /etc/ssh/ssh_host_ed25519_key.pub").stdout.split()[:2]
        )
        made.ground.nodes.save(
            Node(
                NODE,
                self.lab.node(NODE).address,
                user="root",
                host_key=key,
                capabilities=CAPABILITIES,
                last_seen=datetime.now(UTC),
                status=NodeStatus.ACTIVE,
            )
        )
        made.work.operations.resume()
        self.running.append(made)
        return made

    def stop(self, runner: Runner) -> None:
        """End it in order."""
        self.running.remove(runner)
        runner.close()

    def serves(self) -> str:
        """The version that the application on the node says it is."""
        asked = "curl -sf http://127.0.0.1:8000/"
        return self.lab.ssh(NODE, asked).stdout.split('"version": "')[1].split('"')[0]


@pytest.fixture
def place(lab: Lab, tmp_path: Path) -> Iterator[Place]:
    """A site on a node that is nobody's; nobody's again afterwards."""
    clean(lab, NODE)
    made = Place(lab, tmp_path)
    yield made
    for runner in list(made.running):
        made.stop(runner)
    clean(lab, NODE)


def work(runner: Runner) -> dict[str, object]:
    """Look at Git and the node, and do what is due."""
    return runner.work.reconciler.once(60)


def standing(runner: Runner) -> Placement:
    """How the deployment stands, as this runner knows it."""
    with runner.ground.store.read() as tx:
        found = placements.find(tx, STOREFRONT, NODE)
    assert found is not None
    return found


def readiness(runner: Runner) -> tuple[int, str]:
    """What /readyz answers, and why."""
    answer = runner.public.test_client().get("/readyz")
    return answer.status_code, answer.get_json()["reason"]


def test_the_second_runner_says_whose_the_site_is_until_it_takes_it_over(place: Place) -> None:
    """With a state folder of its own it touches nothing; after `takeover` the first one yields."""
    place.want("1.0.0")
    first = place.start("first")
    work(first)
    assert (standing(first).state, place.serves()) == (State.INSTALLED, "1.0.0")
    second = place.start("second")
    place.want("1.1.0")
    work(second)
    code, reason = readiness(second)
    assert code == 503
    assert f"{NODE} belongs to runner" in reason
    assert "margrave runner takeover" in reason
    assert place.serves() == "1.0.0"
    epoch = second.admin.test_client().post("/takeover").get_json()["epoch"]
    assert epoch == 2
    work(second)
    assert (standing(second).state, place.serves()) == (State.INSTALLED, "1.1.0")
    assert readiness(second) == (200, "")
    # The first one slept all the while; it wakes with work of its own in its head.
    place.want("1.0.0")
    work(first)
    assert readiness(first)[0] == 503
    assert place.serves() == "1.1.0"
    work(second)
    assert place.serves() == "1.0.0"


@pytest.mark.full
def test_a_state_folder_from_a_backup_says_so_and_goes_on_after_a_take_over(place: Place) -> None:
    """Numbers that were given before get no answer of the old calls, and nothing is done twice."""
    place.want("1.0.0")
    before = place.start("state")
    work(before)
    place.stop(before)
    shutil.copytree(place.base / "state", place.base / "backup")
    later = place.start("state")
    place.want("1.1.0")
    work(later)
    assert place.serves() == "1.1.0"
    place.stop(later)
    restored = place.start("backup")
    work(restored)
    code, reason = readiness(restored)
    assert (code, "is an older copy" in reason) == (503, True)
    assert place.serves() == "1.1.0"
    restored.admin.test_client().post("/takeover")
    work(restored)
    work(restored)
    one = standing(restored)
    assert (one.state, one.outcome, one.version) == (State.INSTALLED, Outcome.SUCCEEDED, "1.1.0")
    assert readiness(restored) == (200, "")


@pytest.mark.full
def test_retry_heal_and_going_back_work_at_one_and_the_same_commit(place: Place) -> None:
    """Attempts are told apart by their fences: no commit is needed to try again."""
    place.want("1.0.0")
    runner = place.start("state")
    work(runner)
    place.want("1.2.0", failure={"retries": {"health": 0}, "backoff": "1s", "then": "rollback"})
    work(runner)
    work(runner)
    gone_back = standing(runner)
    assert (gone_back.outcome, place.serves()) == (Outcome.ROLLED_BACK, "1.0.0")
    commit = gone_back.commit
    named = f"podman ps -q --filter label=margrave.deployment={STOREFRONT}"
    place.lab.ssh(NODE, f"podman rm -f -t 0 $({named} | head -n 1)")
    work(runner)
    work(runner)
    healed = standing(runner)
    assert (healed.state, healed.drift, place.serves()) == (State.INSTALLED, [], "1.0.0")
    assert healed.outcome is Outcome.ROLLED_BACK
    assert runner.line is None
    retry(runner)
    work(runner)
    work(runner)
    again = standing(runner)
    assert (again.outcome, again.version, again.commit) == (Outcome.ROLLED_BACK, "1.0.0", commit)
    with runner.ground.store.read() as tx:
        rows = tx.connection.exec_driver_sql("select kind, seq from operations order by seq").all()
    kinds = [row[0] for row in rows]
    assert kinds == ["install", "update", "rollback", "update", "update", "rollback"]
    assert len({row[1] for row in rows}) == len(rows)


def retry(runner: Runner) -> None:
    """An operator's retry, as the controller would hand it on."""
    made = Commands(
        runner.ground.store,
        runner.ground.executor,
        runner.work.look_at,
        lambda: None,
        runner.work.wanted_release,
    )
    made.handle({"id": "c1", "kind": "retry", "deployment": STOREFRONT})
