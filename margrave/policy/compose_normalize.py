"""Short forms of a Compose file in the long form that Compose resolves them to. Pure."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any, Final

from margrave.policy.compose_bounds import PORTS
from margrave.policy.compose_values import is_off, text

if TYPE_CHECKING:
    from collections.abc import Callable

    Locate = Callable[[str], str]

PROPAGATIONS: Final = ("rprivate", "private", "rshared", "shared", "rslave", "slave")
_KEY_VALUE_LISTS: Final = ("annotations", "labels", "sysctls")
_UNIQUE_BY_TARGET: Final = ("configs", "devices", "secrets", "volumes")
_REPLACED: Final = ("command", "entrypoint", "test")
_PORT_RANGE: Final = re.compile(r"(?:^|:)([0-9]{1,5})-([0-9]{1,5})(?:/[a-z]+)?$")
_WINDOWS_DRIVE: Final = re.compile("[A-Za-z]:")


def service(value: Any, locate: Locate) -> Any:
    """Return a service in long form; `locate` makes a relative path one of the package."""
    if not isinstance(value, dict):
        return value
    long = dict(value)
    for key in _KEY_VALUE_LISTS:
        if key in long:
            long[key] = key_values(long[key])
    if isinstance(long.get("deploy"), dict) and "labels" in long["deploy"]:
        long["deploy"] = {**long["deploy"], "labels": key_values(long["deploy"]["labels"])}
    if isinstance(long.get("tmpfs"), str):
        long["tmpfs"] = [long["tmpfs"]]
    if isinstance(long.get("networks"), list):
        long["networks"] = {text(name): None for name in long["networks"]}
    for key, form in (("volumes", _mount), ("devices", _device), ("configs", _source)):
        long[key] = _each(long.get(key), form)
    long["secrets"] = _each(long.get("secrets"), _source)
    long["ports"] = _ports(long.get("ports"))
    for mount in long["volumes"] or () if isinstance(long["volumes"], list) else ():
        if isinstance(mount, dict) and mount.get("type") == "bind" and mount.get("source"):
            mount["source"] = locate(text(mount["source"]))
    return {key: part for key, part in long.items() if part is not None}


def resource(kind: str, name: str, value: Any, project: str, locate: Locate) -> Any:
    """Return a network, volume, config or secret in long form, with its name on the node."""
    if value is None:
        value = {}
    if not isinstance(value, dict):
        return value
    long = dict(value)
    if isinstance(long.get("external"), dict):
        long.setdefault("name", long["external"].get("name"))
        long["external"] = True
    if long.get("name") is None:
        long["name"] = f"{project}_{name}" if is_off(long.get("external")) else name
    if "labels" in long:
        long["labels"] = key_values(long["labels"])
    if kind in ("configs", "secrets") and long.get("file") is not None:
        long["file"] = locate(text(long["file"]))
    options = long.get("driver_opts")
    if kind == "volumes" and isinstance(options, dict) and _is_bind(options):
        long["driver_opts"] = {**options, "device": locate(text(options["device"]))}
    return long


def _is_bind(options: dict[str, Any]) -> bool:
    return options.get("o") == "bind" and bool(options.get("device"))


def key_values(value: Any) -> Any:
    """Return a list of `name=value` as a mapping."""
    if not isinstance(value, list):
        return value
    pairs = (text(item).partition("=") for item in value)
    return {name: content for name, _, content in pairs}


def merged(base: Any, over: Any, key: str = "") -> Any:
    """Return a value with another one merged over it, as `extends` does."""
    if over is None:
        return base
    if isinstance(base, dict) and isinstance(over, dict):
        if key == "logging" and _differ(base.get("driver"), over.get("driver")):
            return over
        both = {**base, **over}
        shared = base.keys() & over.keys()
        return {**both, **{name: merged(base[name], over[name], name) for name in shared}}
    if isinstance(base, list) and isinstance(over, list) and key not in _REPLACED:
        items = [*base, *over]
        return _last_by_target(items) if key in _UNIQUE_BY_TARGET else items
    return over


def _differ(one: Any, other: Any) -> bool:
    return one is not None and other is not None and one != other


def _last_by_target(items: list[Any]) -> list[Any]:
    by_target: dict[Any, Any] = {}
    for number, item in enumerate(items):
        target = item.get("target") or item.get("source") if isinstance(item, dict) else number
        by_target[text(target)] = item
    return list(by_target.values())


def _each(items: Any, form: Callable[[str], Any]) -> Any:
    if not isinstance(items, list):
        return items
    return [dict(item) if isinstance(item, dict) else form(text(item)) for item in items]


def _source(name: str) -> dict[str, Any]:
    return {"source": name}


def _ports(items: Any) -> Any:
    """Return ports with as many items as their ranges have, as far as the number matters."""
    if not isinstance(items, list):
        return items
    long: list[Any] = []
    for item in items:
        if isinstance(item, dict):
            long.append(item)
            continue
        # Every port is allowed, so that only their number matters.
        span = _PORT_RANGE.search(text(item))
        count = int(span[2]) - int(span[1]) + 1 if span else 1
        long += [{"published": text(item)}] * max(1, min(count, PORTS + 1 - len(long)))
    return long


def _device(short: str) -> Any:
    """Return a device in long form; a name that is no path stays as it is."""
    parts = short.split(":")
    if not short.startswith("/") or len(parts) > 3:
        return {"source": short}
    source, target = parts[0], parts[1] if len(parts) > 1 else parts[0]
    return {"source": source, "target": target, "permissions": (parts[2:] or ["rwm"])[0]}


def _mount(short: str) -> dict[str, Any]:
    """Return a mount in long form, read as Compose reads it, on any system."""
    parts = _WINDOWS_DRIVE.sub(lambda drive: drive[0][0] + "\0", short, count=1)
    if not _WINDOWS_DRIVE.match(short):
        parts = short
    fields = [field.replace("\0", ":") for field in parts.split(":")]
    if len(fields) == 1:
        return {"type": "volume", "target": fields[0]}
    source, target, options = fields[0], fields[1], fields[2:]
    if not source or not target or len(options) > 1:
        return {"type": f"{short}, which is not a mount,"}
    mount: dict[str, Any] = {"type": "volume", "source": source, "target": target}
    if source[0] in "./~\\" or _WINDOWS_DRIVE.match(source):
        mount["type"] = "bind"
        mount["bind"] = {"create_host_path": True}
    for option in options[0].split(",") if options else ():
        if option in ("ro", "rw"):
            mount["read_only"] = option == "ro"
        elif option in PROPAGATIONS:
            mount.setdefault("bind", {})["propagation"] = option
        elif option in ("z", "Z"):
            mount.setdefault("bind", {})["selinux"] = option
        elif option == "nocopy":
            mount["volume"] = {"nocopy": True}
    return mount


def located(path: str, folder: str, root: str) -> str:
    """Return a path as Compose resolves it, from a folder of the package at `root`.

    A path that leads out of the package stays relative, and no policy allows it.
    """
    if path.startswith(("/", "~")) or _WINDOWS_DRIVE.match(path):
        return path
    joined = posixpath.normpath(posixpath.join(folder, path))
    if joined.split("/")[0] == "..":
        return joined
    return posixpath.normpath(f"{root}/{joined}")
