"""What the state folder keeps, and for how long, on a site with pretended nodes."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path

from runner.store import outbox, placements, site
from tests.support.repository import STOREFRONT
from tests.support.site import World
from tests.support.waiting import eventually

OTHER = "9d0c8f7e-5d0e-4c7a-9b1e-2f7f2a1c9d99"


def test_the_state_folder_does_not_grow_for_ever(running: World, tmp_path: Path) -> None:
    """The chore drops what is old: reports, operations with their logs, commands, and what was
    taken off; a deployment that returns after years still gets an incarnation of its own."""
    store = running.runner.ground.store
    for _ in range(2):
        running.repository.remove(f"deployments/harbor/{STOREFRONT}.yaml")
        running.repository.push()
        running.settle()
        running.repository.deploy("1.0.0")
        running.repository.push()
        running.settle()
    running.repository.remove(f"deployments/harbor/{STOREFRONT}.yaml")
    running.repository.push()
    running.settle()
    with store.write() as tx:
        site.note_command(tx, "c1", "done", "")
        last = site.identity_of(tx)
        outbox.acknowledge(tx, last.epoch, last.report_seq)
    assert len(list((tmp_path / "state/logs").glob("*.log.gz"))) == 12

    def rows() -> dict[str, int]:
        names = ("outbox", "operations", "commands", "placements")
        with store.read() as tx:
            sql = tx.connection.exec_driver_sql
            return {name: sql(f"select count(*) from {name}").scalar_one() for name in names}

    run, stop = running.runner.threads()["tidy"]
    thread = threading.Thread(target=run)
    thread.start()
    try:
        before = rows()
        assert (before["placements"], before["operations"]) == (6, 12)
        running.later = timedelta(days=8)
        running.runner.work.tidying.hint()
        eventually(lambda: rows() == before | {"outbox": 0, "placements": 2})
        assert set(running.placements()) == {"harbor-1", "harbor-2"}
        running.later = timedelta(days=31)
        running.runner.work.tidying.hint()
        eventually(lambda: rows() == dict.fromkeys(before, 0) | {"placements": 2})
        eventually(lambda: not list((tmp_path / "state/logs").iterdir()))
    finally:
        stop()
        thread.join(10)
    assert running.placements() == {}
    running.repository.deploy("1.0.0")
    running.repository.push()
    running.settle()
    assert {one.incarnation for one in running.placements().values()} == {4}
    with store.read() as tx:
        assert placements.find(tx, STOREFRONT, "harbor-1") is not None


def test_the_log_of_an_operation_is_read_at_the_site(running: World) -> None:
    """From the page that lists it; without the token from this machine alone."""
    client = running.runner.public.test_client()
    operation = running.placements()["harbor-1"].operation
    assert f'href="operations/{operation}/log"' in client.get("/").text
    assert client.get(f"/operations/{operation}/log").text.endswith(" install begins\n")
    assert client.get(f"/operations/{OTHER}/log").status_code == 404
    assert client.get("/operations/..%2Frunner.db/log").status_code == 404
    far = {"REMOTE_ADDR": "203.0.113.9"}
    assert client.get(f"/operations/{operation}/log", environ_base=far).status_code == 401
