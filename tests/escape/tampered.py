"""Documents and components that no controller writes, and that a person can push to Git."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.escape.catalogue import ENGINES, IDLE, NEIGHBOUR, Expectation, Package

COMPOSE = f"services: {{web: {{image: {IDLE}}}}}\n".encode()
PRIVILEGED = f"services: {{web: {{image: {IDLE}, privileged: true}}}}\n"


@dataclass(frozen=True)
class Trick:
    """A change of a component's folder or of its document, after both were written properly."""

    tries: str
    tamper: Callable[[Path, dict[str, Any]], None]


def packages() -> dict[str, Package]:
    """Return the plain package of each trick, by the trick's name."""
    return {
        name: Package(
            name=f"git_{name}",
            kind="compose",
            tries=trick.tries,
            changes="The node runs, or shows, what the package says.",
            expect=Expectation.REFUSED,
            engines=ENGINES["compose"],
            files={"compose.yaml": COMPOSE + f"# {name}\n".encode()},
        )
        for name, trick in TRICKS.items()
    }


def _link(place: Path, _document: dict[str, Any]) -> None:
    (place / "x").symlink_to("/root/escape-secret")


def _linked_compose(place: Path, _document: dict[str, Any]) -> None:
    (place / "compose.yaml").unlink()
    (place / "compose.yaml").symlink_to("/etc/escape.yaml")


def _linked_folder(place: Path, _document: dict[str, Any]) -> None:
    (place / "shared").symlink_to("/")


def _other_content(place: Path, _document: dict[str, Any]) -> None:
    (place / "compose.yaml").write_text(PRIVILEGED)


def _more_content(place: Path, _document: dict[str, Any]) -> None:
    (place / "compose.override.yaml").write_text(PRIVILEGED)


def _source(path: str) -> Callable[[Path, dict[str, Any]], None]:
    def tamper(_place: Path, document: dict[str, Any]) -> None:
        component = document["spec"]["deploymentProfile"]["components"][0]
        component["x-margrave-extensions"]["source"] = path

    return tamper


def _identity(_place: Path, document: dict[str, Any]) -> None:
    document["id"] = NEIGHBOUR


def _component_name(_place: Path, document: dict[str, Any]) -> None:
    document["spec"]["deploymentProfile"]["components"][0]["name"] = "../../neighbour"


TRICKS: Mapping[str, Trick] = {
    "link": Trick("Brings a link to a file of the node.", _link),
    "linked_compose": Trick("Lets its Compose file be a link to the node's.", _linked_compose),
    "linked_folder": Trick("Brings a link to the node's root.", _linked_folder),
    "other_content": Trick("Changes a component under the name it had.", _other_content),
    "more_content": Trick("Adds a file to a component under the name it had.", _more_content),
    "source_climbs": Trick("Names a component outside of components.", _source("components/../x")),
    "source_absolute": Trick("Names a folder of the runner as component.", _source("/etc")),
    "identity": Trick("Takes the id of another deployment.", _identity),
    "component_name": Trick("Names its component like a path.", _component_name),
}
