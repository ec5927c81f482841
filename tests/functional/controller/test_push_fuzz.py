"""Some pushes of mutated files; `python -m tests.push_fuzz` is the long form."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.push_fuzz.ground import SITE, Through, ground
from tests.push_fuzz.mutations import Mutations
from tests.push_fuzz.run import run
from tests.support.works import APPS

ENOUGH: Final = {Through.ENDPOINT: 6, Through.FORGE: 10}
SEED: Final = 17


@pytest.mark.parametrize("store", ["sqlite", pytest.param("postgresql", marks=pytest.mark.full)])
@pytest.mark.parametrize("through", list(Through))
def test_another_site_goes_on(
    tmp_path: Path, through: Through, store: str, request: pytest.FixtureRequest
) -> None:
    """Whatever is pushed to one site, refused or not: right after, a change of another site is
    published and shown within five seconds, and everything that shows the first site answers."""
    database = ""
    if store == "postgresql":
        database = request.getfixturevalue("postgresql_server").create()
    with ground(tmp_path, through, database) as made:
        figures = run(made, SEED, ENOUGH[through], tmp_path / "kept")
    assert figures.violations == []
    assert len(figures.shown) == ENOUGH[through]


def test_the_same_seed_makes_the_same_changes() -> None:
    """A violation can be looked at again; and changes are as many kinds as there are."""
    document = {
        "id": "11111111-2222-4333-8444-555555555555",
        "metadata": {"name": "shop", "namespace": "default", "deviceId": f"{SITE}/*"},
        "spec": {
            "applicationId": "shop",
            "deploymentProfile": {"type": "compose", "components": [{"name": "web"}]},
            "parameters": {},
        },
    }
    compose = next(APPS.rglob("compose.yaml")).read_bytes()
    made = []
    for _ in range(2):
        mutations = Mutations(SEED, SITE, document, compose, document["id"])
        made.append([mutations.next() for _ in range(200)])
    assert made[0] == made[1]
    assert len({change.kind for change in made[0]}) == 9
