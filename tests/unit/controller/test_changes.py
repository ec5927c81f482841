"""Changes as functions of the document as it stands."""

from __future__ import annotations

from typing import Any

import pytest

from controller.publish.changes import Change, content_in
from controller.publish.rendering import Material
from margrave.documents.deployment import read_deployment, render
from margrave.documents.description import read_description
from margrave.errors import DocumentError, NotFound

ID = "3f0c4a52-5f3e-4c3e-9d57-6d2b7a4c1f10"
OURS = "x-margrave-extensions"
SOURCE = {"compose": "components/" + "a" * 64}


def description(version: str, **parameters: Any) -> str:
    lines = "".join(
        f"  {name}: {{value: {value}, targets: [{{pointer: {name}, components: [web]}}]}}\n"
        for name, value in parameters.items()
    )
    return f"""\
apiVersion: v1
id: shop
metadata: {{name: Shop, version: {version}, catalog: {{organization: [{{name: Us}}]}}}}
deploymentProfiles:
  - type: compose
    id: shop-compose
    components:
      - name: web
        properties: {{repository: oci://r/x, revision: {version}, timeout: 0m15s}}
        x-margrave-extensions: {{path: ./compose}}
parameters:
{lines}"""


VERSIONS = {
    "1.0.0": Material(read_description(description("1.0.0", greeting="hello", old="one")), SOURCE),
    "2.0.0": Material(read_description(description("2.0.0", greeting="moin", new="two")), SOURCE),
}


def shelf(app: str, version: str) -> Material | None:
    return VERSIONS.get(version) if app == "shop" else None


def created(**parameters: Any) -> dict[str, Any]:
    target = {"id": ID, "name": "shop", "device_id": "harbor/*"}
    change = Change(
        "create", app="shop", version="1.0.0", parameters=parameters, targets={ID: target}
    )
    made = change.applied(ID, None, shelf)
    assert made is not None
    return made


def applied(change: Change, document: dict[str, Any]) -> dict[str, Any]:
    new = change.applied(ID, document, shelf)
    assert new is not None
    return new


def values(document: dict[str, Any]) -> dict[str, Any]:
    return read_deployment(render(document)).values


def test_create_renders_margo() -> None:
    """A created document is a valid ApplicationDeployment with defaults and the version."""
    document = read_deployment(render(created(greeting="ahoy")))
    assert (document.name, document.device_id, document.version) == ("shop", "harbor/*", "1.0.0")
    assert document.values == {"greeting": "ahoy", "old": "one"}
    assert document.components[0].source == SOURCE["compose"]
    assert document.components[0].timeout_seconds == 15


def test_secret_is_only_named() -> None:
    """A secret is rendered as its name, to be resolved at the site."""
    assert values(created(greeting={"secret": "word"}))["greeting"] == "secret://word"


def test_created_twice_is_the_same() -> None:
    """What this request has already made is left as it stands, with a person's edits."""
    document = created()
    document["spec"]["parameters"]["greeting"]["value"] = "edited"
    change = Change("create", app="shop", version="1.0.0", targets={ID: {}})
    assert applied(change, document) == document


def test_update_keeps_what_was_chosen() -> None:
    """On a new version chosen values stay, defaults follow, and parameters come and go."""
    new = applied(Change("update", version="2.0.0"), created(greeting="ahoy"))
    assert values(new) == {"greeting": "ahoy", "new": "two"}
    assert values(applied(Change("update", version="2.0.0"), created())) == {
        "greeting": "moin",
        "new": "two",
    }


def test_update_touches_nothing_else() -> None:
    """What a person wrote elsewhere in the document survives an update."""
    document = created()
    document["metadata"]["labels"] = {"by": "hand"}
    document["spec"][OURS]["drift"] = "report"
    document["spec"]["x-other-extensions"] = {"a": 1}
    new = applied(Change("update", parameters={"greeting": "ahoy"}), document)
    assert new["metadata"]["labels"] == {"by": "hand"}
    assert new["spec"]["x-other-extensions"] == {"a": 1}
    assert new["spec"][OURS] == {"drift": "report", "version": "1.0.0"}
    assert values(new)["greeting"] == "ahoy"


def test_same_version_again_changes_nothing() -> None:
    """An update to the version that stands is the document itself."""
    document = created(greeting="ahoy")
    assert applied(Change("update", version="1.0.0"), document) == document


def test_policies_are_merged() -> None:
    """Policies are merge patches: keys beside the given ones stay, null removes."""
    document = created()
    document["spec"][OURS]["health"] = {"timeout": "90s", "grace": "1s"}
    document["spec"][OURS]["drift"] = "report"
    change = Change("update", extensions={"health": {"grace": "2s"}, "drift": None})
    ours = applied(change, document)["spec"][OURS]
    assert ours == {"health": {"timeout": "90s", "grace": "2s"}, "version": "1.0.0"}


def test_urgency_is_spent() -> None:
    """An urgent request's urgency does not stay for the next one."""
    document = created()
    document["spec"][OURS] |= {"priority": "urgent", "reason": "line stands still"}
    ours = applied(Change("update", parameters={"greeting": "x"}), document)["spec"][OURS]
    assert ours == {"version": "1.0.0"}


def test_rollback_is_older_content_under_newer_policies() -> None:
    """A rollback brings content and version back, and leaves policies as they are now."""
    old = created(greeting="ahoy")
    new = applied(Change("update", version="2.0.0"), old)
    new["spec"][OURS]["drift"] = "report"
    change = Change("rollback", contents={ID: {**content_in(old), "commit": "c" * 40}})
    back = applied(change, new)
    before, after = read_deployment(render(old)), read_deployment(render(back))
    assert after.revision == before.revision
    assert back["spec"][OURS] == {"version": "1.0.0", "drift": "report"}


def test_delete_is_nothing() -> None:
    """A delete leaves no document, also of one that is gone already."""
    assert Change("delete").applied(ID, created(), shelf) is None
    assert Change("delete").applied(ID, None, shelf) is None


def test_gone_meanwhile() -> None:
    """An update of a document that was deleted meanwhile says so."""
    with pytest.raises(NotFound, match="gone from Git"):
        Change("update", version="2.0.0").applied(ID, None, shelf)


def test_unknown_parameter_of_a_handwritten_document() -> None:
    """A document that names no version takes only the parameters that it has."""
    document = created()
    del document["spec"][OURS]
    with pytest.raises(DocumentError, match="is no parameter of the document"):
        applied(Change("update", parameters={"greting": "x"}), document)
    assert (
        values(applied(Change("update", parameters={"greeting": "x"}), document))["greeting"] == "x"
    )
