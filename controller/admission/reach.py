"""How far a package would reach into a node, held against the site's policy before it is let in.

Read from the Compose files as their author wrote them, so that a plan says no at once. What decides
in the end is the node, on the model that Compose makes of the same files.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from typing import TYPE_CHECKING, Any, Final

from controller import compose
from controller.admission import outside
from controller.admission.outside import below_any
from margrave.compose_files import flat, many
from margrave.errors import DocumentError
from margrave.yaml_text import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from margrave.documents.extensions import Policy

ROOT: Final = "compose.yaml"
NAMESPACES: Final = ("network_mode", "pid", "ipc", "uts", "userns_mode", "cgroup")
CONFINING: Final = re.compile(r"(no-new-privileges|mask)([:=].*)?|seccomp[:=](builtin|default)")
OF_THE_ENGINE: Final = ("runtime", "cgroup_parent", "annotations", "use_api_socket")
HOOKS: Final = ("pre_start", "post_start", "pre_stop")
_DEPTH: Final = 8
Found = tuple[str, str]  # where in the file, and what


class Reach:
    """What the services of a component ask of a node."""

    def __init__(self, files: Mapping[str, str], variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._services: list[tuple[str, dict[str, Any]]] = []
        self._volumes: list[tuple[str, dict[str, Any]]] = []
        self._networks: list[tuple[str, dict[str, Any]]] = []
        self._read(files, ROOT, 0)

    def beyond(self, policy: Policy) -> Iterator[Found]:
        """Each thing that the policy does not allow."""
        for name, service in self._services:
            for where, words in self._service(service, policy):
                yield f"services.{name}.{where}", words
        for name, volume in self._volumes:
            for where, words in outside.volume(name, volume, policy, self._filled):
                yield f"volumes.{name}{where}", words
        for name, network in self._networks:
            for where, words in outside.network(name, network, policy, self._filled):
                yield f"networks.{name}{where}", words

    def _read(self, files: Mapping[str, str], name: str, depth: int) -> None:
        if depth > _DEPTH or name not in files:
            return
        try:
            value = parse(files[name], name).value
        except DocumentError:
            return  # that it cannot be read is told where the package is listed
        if not isinstance(value, dict):
            return
        base, whole = posixpath.dirname(name), flat(value)
        for kind, kept in (
            ("services", self._services),
            ("volumes", self._volumes),
            ("networks", self._networks),
        ):
            kept += [(one, flat(part)) for one, part in _pairs(whole.get(kind))]
        others = [_path(one) for one in many(whole.get("include"))]
        others += [
            flat(part["extends"]).get("file")
            for _, part in self._services
            if isinstance(part.get("extends"), dict)
        ]
        for other in others:
            for path in many(other):
                joined = posixpath.normpath(posixpath.join(base, str(path)))
                if joined != name:
                    self._read(files, joined, depth + 1)

    def _service(self, service: Mapping[str, Any], policy: Policy) -> Iterator[Found]:
        yield from self._image(service, policy)
        yield from self._privileges(service, policy)
        yield from self._others(service)
        for key in NAMESPACES:
            mode = self._filled(service.get(key))
            if mode == "host" and policy.host_namespaces != "allow":
                yield key, "host is denied by host_namespaces"
            if mode.startswith(("container:", "ns:")):
                yield key, f"{mode} is not of this application"
            elif key == "network_mode":
                yield from outside.mode(mode, policy)
        for device in many(service.get("devices")):
            source = device.get("source") if isinstance(device, dict) else device
            path = self._filled(source).split(":")[0]
            if not any(fnmatch.fnmatchcase(path, one) for one in policy.devices):
                yield "devices", f"{path} is not in devices"
        logged = outside.texts(service.get("logging"), "options", self._filled).items()
        files = [(f"logging.options.{name}", one) for name, one in logged if one.startswith("/")]
        for where, path in (*(("volumes", one) for one in self._mounts(service)), *files):
            if not below_any(path, policy.host_paths):
                yield where, f"{path} is not in host_paths"

    def _others(self, service: Mapping[str, Any]) -> Iterator[Found]:
        """Things of others, which no policy opens."""
        for key in ("provider", "models"):
            if service.get(key):
                yield key, "a program of the node is not an application's to start"
        for other in map(self._filled, many(service.get("external_links"))):
            yield "external_links", f"{other} is not of this application"

    def _image(self, service: Mapping[str, Any], policy: Policy) -> Iterator[Found]:
        if service.get("build"):
            yield "build", "nodes do not build; push an image and name it"
        for where, part in (("", service), *_hooks(service)):
            yield from _foreign(f"{where}image", self._filled(part.get("image")), policy)

    def _privileges(self, service: Mapping[str, Any], policy: Policy) -> Iterator[Found]:
        if policy.privileged == "allow":
            return
        for where, part in (("", service), *_hooks(service)):
            if outside.is_true(self._filled(part.get("privileged"))):
                yield f"{where}privileged", "is denied"
        for option in map(self._filled, many(service.get("security_opt"))):
            if not CONFINING.fullmatch(option):
                yield "security_opt", f"{option} is as good as privileged, which is denied"
        for key in OF_THE_ENGINE:
            if service.get(key):
                yield key, "is as good as privileged, which is denied"
        allowed = {_capability(one) for one in policy.capabilities}
        for name in map(self._filled, many(service.get("cap_add"))):
            if _capability(name) not in allowed:
                yield "cap_add", f"{name} is not in capabilities"

    def _mounts(self, service: Mapping[str, Any]) -> Iterator[str]:
        """Folders of the node that are mounted; the package's own and named volumes are none."""
        for mount in many(service.get("volumes")):
            if isinstance(mount, dict):
                source = self._filled(mount.get("source"))
                bound = mount.get("type") == "bind"
            else:
                text = self._filled(mount)
                source, colon, _ = text.partition(":")
                bound = bool(colon)
            leaves = posixpath.normpath(source).startswith("..")
            if bound and (source.startswith(("/", "~")) or leaves):
                yield source

    def _filled(self, value: object) -> str:
        """The text with the deployment's values put in; nothing of what is no text."""
        if value is None:
            return ""
        return compose.filled(str(value), self._variables)


def of_chart(repository: str | None, images: Iterable[str], policy: Policy) -> Iterator[Found]:
    """What is known of a chart before a node renders it: where it and its images come from.

    `repository` is the chart's own, or None where Git delivers it.
    """
    if repository:
        yield from _foreign("repository", repository.removeprefix("oci://"), policy)
    for image in images:
        yield from _foreign("values.yaml", image, policy)


def _foreign(where: str, image: str, policy: Policy) -> Iterator[Found]:
    """An image, or a chart, of a registry that the policy does not name."""
    host = image.partition("/")[0]
    named = "/" in image and ("." in host or ":" in host or host == "localhost")
    registry = host if named else "docker.io"
    if image and not any(fnmatch.fnmatchcase(registry, one) for one in policy.registries):
        yield where, f"registry {registry} is not in registries"


def _hooks(service: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for kind in HOOKS:
        for one in many(service.get(kind)):
            if isinstance(one, dict):
                yield f"{kind}.", one


def _capability(name: str) -> str:
    return name.upper().removeprefix("CAP_")


def _path(include: object) -> object:
    return include.get("path") if isinstance(include, dict) else include


def _pairs(value: object) -> list[tuple[str, dict[str, Any]]]:
    if not isinstance(value, dict):
        return []
    return [(str(name), part) for name, part in flat(value).items() if isinstance(part, dict)]
