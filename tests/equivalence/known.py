"""Short stories by name: each changes or damages a single thing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tests.equivalence.releases import Release
from tests.equivalence.services import SETTING, SHARED, Service, Shape
from tests.equivalence.stories import IN_SHARED, PACKAGE_FILES, TEXTS, Damage, Deed, Step, Story

ALL = tuple(text.name for text in TEXTS)
BYSTANDER = Service("beta")


def release(*services: Service, moved: int = 1) -> Release:
    """A release of these services with every text and file at its first version."""
    files = tuple((name, 1) for name in PACKAGE_FILES)
    return Release(services, TEXTS, files, moved=moved)


def rotated(before: Release, name: str) -> Release:
    """The same release with another value of a secret or a config."""
    texts = tuple(
        replace(text, version=text.version + 1) if text.name == name else text
        for text in before.texts
    )
    return replace(before, texts=texts)


def rewritten(before: Release, name: str) -> Release:
    """The same release with another content of a package file."""
    files = tuple((file, version + (file == name)) for file, version in before.files)
    return replace(before, files=files)


def beside(before: Release, argument: int) -> Release:
    """The same release with another command of the bystander."""
    changed = replace(BYSTANDER, argument=argument)
    services = tuple(
        changed if service.name == changed.name else service for service in before.services
    )
    return replace(before, services=services)


def updates(*releases: Release) -> Story:
    """Install the first, then update to each of the others."""
    return tuple(Step(Deed.UPDATE, target) for target in releases)


def _stories() -> dict[str, Story]:
    named = {}
    for text in TEXTS:
        first = release(Service("alpha", texts=(text.name,)), BYSTANDER)
        named[f"rotate {text.name}"] = updates(first, rotated(first, text.name))
        beyond = updates(first, beside(first, 1), beside(first, 2))
        # An unchanged service outlives the release that it came with, and the next boot.
        named[f"keep {text.name}"] = (*beyond, Step(Deed.REBOOT))
    owned = release(Service("alpha", texts=ALL, owned=True), BYSTANDER)
    for name in ("secret_file", "config_variable"):
        named[f"rotate {name} of an owner"] = updates(owned, rotated(owned, name))
    named["take texts over"] = updates(release(Service("alpha", texts=ALL)), owned)
    for file in ("motd", SHARED):
        first = release(Service("alpha", files=(file,)), BYSTANDER)
        inside = file if file != SHARED else IN_SHARED[-1]
        named[f"rewrite {file}"] = (
            *updates(first, rewritten(first, inside)),
            Step(Deed.ROLLBACK),
        )
        beyond = updates(first, beside(first, 1), beside(first, 2))
        named[f"keep {file}"] = (*beyond, Step(Deed.REBOOT))
    reader = release(Service("alpha", setting=True), BYSTANDER)
    named["rewrite an env file"] = updates(reader, rewritten(reader, SETTING))
    for shape in (Shape.PROBED, Shape.ONCE):
        shaped = release(Service("alpha", shape=shape, files=("motd",)), BYSTANDER)
        named[f"keep what is {shape}"] = (*updates(shaped, beside(shaped, 1)), Step(Deed.REBOOT))
    pair = release(Service("alpha", twice=True, files=("motd",)), BYSTANDER)
    single = release(Service("alpha", files=("motd",)), BYSTANDER)
    named["one, two and one container"] = updates(single, pair, single)
    damaged = release(Service("alpha", texts=("secret_file",), files=("motd",)), BYSTANDER)
    for damage in Damage:
        named[str(damage)] = (*updates(damaged), Step(Deed.HEAL, damage=damage))
    moving = release(Service("alpha", moving=True), BYSTANDER)
    moved = replace(moving, moved=2)
    named["move a tag"] = updates(moving, moved)
    named["move a tag and go back"] = (
        *updates(moving, moved),
        Step(Deed.ROLLBACK),
        Step(Deed.HEAL, damage=Damage.REMOVE_ALL),
    )
    named["move the tag of what goes back"] = (
        *updates(moving),
        Step(Deed.FAIL, replace(moved, broken=True)),
        Step(Deed.REBOOT),
    )
    return named


STORIES: Mapping[str, Story] = _stories()
# Stories of the normal run, without the reboots at their ends: these take ten seconds each.
QUICK: Mapping[str, Story] = {
    name: tuple(step for step in STORIES[name] if step.deed is not Deed.REBOOT)
    for name in ("keep secret_file", "move a tag and go back")
}
