"""What deployment profiles of older descriptions and deployments have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from margrave.documents._walk import EACH, mapping, texts, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from margrave.documents._walk import Path
    from margrave.documents.generations._draft import Draft

ARCHITECTURES: Final = {"x86_64": "amd64"}

_LOCATIONS: Final = ("packageLocation", "keyLocation")
_OCI: Final = "name its place in an OCI registry: repository: oci://…, and revision"
_OLD_POINTER: Final = "ENV."


def change_profile(draft: Draft, path: Path) -> bool:
    """Changes one profile; whether it was of the oldest generation."""
    oldest = bool(draft.at(*path, "type") == "helm.v3")
    if oldest:
        draft.write((*path, "type"), "helm", '"helm.v3" is called helm since rc.2', "write helm")
    for at, properties in walk(draft.value, *path, "components", EACH, "properties"):
        for key in _LOCATIONS:
            if key in mapping(properties):
                draft.leave((*at, key), "components come from OCI registries since rc.2", _OCI)
    return oldest


def change_pointers(draft: Draft, base: Path, compose: set[str]) -> None:
    """`ENV.NAME` was how some tools wrote the environment variable NAME of a Compose component."""
    for at, target in list(walk(draft.value, *base, "parameters", EACH, "targets", EACH)):
        pointer, components = mapping(target).get("pointer"), mapping(target).get("components")
        if not isinstance(pointer, str) or not isinstance(components, list):
            continue
        plain = pointer.removeprefix(_OLD_POINTER)
        if (
            plain != pointer
            and plain
            and all(isinstance(one, str) and one in compose for one in components)
        ):
            message = f'"{pointer}" is written without {_OLD_POINTER} since rc.2'
            draft.write((*at, "pointer"), plain, message, f"write {plain}")


def component_names(value: Any, *path: object) -> Iterator[str]:
    """The names of the components below a profile."""
    return (name for _, name in texts(value, *path, "components", EACH, "name"))
