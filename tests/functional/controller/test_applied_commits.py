"""A site that has applied a later commit than the one it needs is not behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.functional.controller.kit import COMMIT, Api, Runner, add_site

if TYPE_CHECKING:
    from flask.testing import FlaskClient

    from controller.parts import Parts


def test_applied_and_wanted_are_compared_by_ancestry(
    harbor: Runner, parts: Parts, operator: Api, client: FlaskClient
) -> None:
    """In the list, the resource and on the page; what nobody knows is null."""
    operator.post("/sites/harbor/pause", json={"reason": "x"})
    first = operator.get("/sites/harbor").json["wanted_commit"]
    add_site(parts, "depot")
    operator.post("/sites/depot/pause", json={"reason": "x"})
    later = operator.get("/sites/depot").json["wanted_commit"]

    def behind(applied: str) -> bool | None:
        assert harbor.beat(applied_commit=applied).status_code == 200
        shown = operator.get("/sites/harbor").json["behind"]
        listed = {site["name"]: site["behind"] for site in operator.get("/sites").json["items"]}
        assert listed["harbor"] is shown
        found: bool | None = shown
        return found

    def page() -> str:
        return client.get("/sites/harbor", headers={"Authorization": "Bearer viewer"}).text

    assert behind(first) is False
    assert behind(later) is False
    assert f"contains wanted {first[:12]}" in page()
    operator.post("/sites/harbor/resume", json={})
    assert behind(later) is True
    assert "behind: wanted" in page()
    assert behind(COMMIT) is None
