# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Generated from margrave/policy/compose_judges.py by `python docs/generate.py`: change it there.

"""Judges of the values that a regular expression cannot decide. Pure.

Each takes the value, its path and its row of the table, and yields what the policy does not allow.
"""

from __future__ import annotations

import posixpath
import re
from functools import cached_property

from ansible_collections.margrave.edge.plugins.module_utils._compose_rows import (
    BIND_OPTIONS,
    BRIDGE_OPTIONS,
    COMMON_CAPABILITIES,
    DEVICE_NAME,
    DURATION_UNITS,
    IMAGE,
    LONGEST_GRACE,
    MEMORY_OPTIONS,
    NAME,
    OWN_NETWORKS,
    PACKAGE_LABELS,
    PROJECT,
    RESERVED_LABELS,
    SYSCTLS,
)
from ansible_collections.margrave.edge.plugins.module_utils._compose_values import (
    LONGEST,
    Finding,
    Policy,
    capability,
    is_below_any,
    is_off,
    is_plain_path,
    registry_of,
    text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from ansible_collections.margrave.edge.plugins.module_utils._compose_rows import (
        Row,
    )


class Judges:
    """Judges of one model."""

    def __init__(
        self, model: Mapping[str, Any], project: str, roots: Iterable[str], policy: Policy
    ) -> None:
        self.model = model
        self.project = project
        self.roots = list(roots)
        self.policy = policy

    def declared(self, kind: str) -> Mapping[str, Any]:
        """Return the services, volumes, networks, configs or secrets that the model declares."""
        declared = self.model.get(kind)
        return declared if isinstance(declared, dict) else {}

    def project_name(self, value: Any, path: str, _row: Row) -> Iterator[Finding]:
        """Judge the project's name."""
        if value != self.project or not re.fullmatch(PROJECT, text(value)):
            yield Finding(path, f"{value} is not the deployment's project", None)

    # -- services -----------------------------------------------------------------------------

    def service(self, value: Any, path: str, _row: Row) -> Iterator[Finding]:
        """Judge a service as a whole: it runs an image."""
        if isinstance(value, dict) and not value.get("image") and not value.get("build"):
            yield Finding(f"{path}.image", "is missing", None)

    def image(self, value: Any, path: str, row: Row) -> Iterator[Finding]:
        """Judge an image by its registry."""
        if value == "":
            return
        if not isinstance(value, str) or not re.fullmatch(IMAGE, value):
            yield Finding(path, f"{value} is not the name of an image of a registry", None)
        elif not self.policy.matches("registries", registry_of(value)):
            yield Finding(path, f"registry {registry_of(value)} is not in registries", row.opens)

    def labels(self, value: Any, path: str, _row: Row) -> Iterator[Finding]:
        """Judge labels: some say whose a container is."""
        if not isinstance(value, dict):
            yield Finding(path, "has to be a mapping", None)
            return
        for name in sorted(map(str, value)):
            if name.startswith(RESERVED_LABELS) and name not in PACKAGE_LABELS:
                yield Finding(f"{path}.{name}", "is a label that packages must not write", None)

    def capability(self, value: Any, path: str, row: Row) -> Iterator[Finding]:
        """Judge a capability that is added."""
        allowed = map(capability, self.policy.entries("capabilities"))
        is_allowed = capability(value) in (*COMMON_CAPABILITIES, *allowed)
        if not is_allowed and not self.policy.opens("privileged"):
            yield Finding(path, f"{value} is not in capabilities", row.opens)

    def grace(self, value: Any, path: str, _row: Row) -> Iterator[Finding]:
        """Judge how long a service may take to stop."""
        parts = re.findall("([0-9]{1,15}(?:\\.[0-9]{1,9})?)([a-zµ]+)", text(value)[:LONGEST])
        seconds = sum(float(number) * DURATION_UNITS.get(unit, 0) for number, unit in parts)
        if seconds > LONGEST_GRACE:
            yield Finding(path, f"{text(value)[:40]} is more than {LONGEST_GRACE} s", None)

    def device_entry(self, value: Any, path: str, row: Row) -> Iterator[Finding]:
        """Judge an item of `devices`, which older versions of Compose leave as text."""
        if not isinstance(value, dict):
            yield from self.device(text(value).split(":", 1)[0], path, row)
        elif not value.get("source"):
            yield Finding(path, "has no source", None)

    def device(self, value: Any, path: str, row: Row) -> Iterator[Finding]:
        """Judge a device's path, or its name where it has one in place of a path."""
        name = text(value)
        if not is_plain_path(name) and not re.fullmatch(DEVICE_NAME, name):
            yield Finding(path, f"{name} is not an absolute path without ..", None)
        elif not self.policy.matches("devices", name):
            yield Finding(path, f"{name} is not in devices", row.opens)

    def service_name(self, value: Any, path: str, _row: Row) -> Iterator[Finding]:
        """Judge what names another container: it has to be one of the application."""
        name = text(value).partition(":")[0]
        if name not in self.declared("services"):
            yield Finding(path, f"{name} is not a service of this application", None)

    def volumes_from(self, value: Any, path: str, row: Row) -> Iterator[Finding]:
        """Judge whose volumes a service takes: `container:` is never a service's name here."""
        if text(value).startswith("container:"):
            yield Finding(path, f"{value} is not of this application", None)
        else:
            yield from self.service_name(value, path, row)

    def network_mode(self, value: Any, path: str, row: Row) -> Iterator[Finding]:
        """Judge the network that a service joins in place of its own."""
        mode = text(value)
        if mode in OWN_NETWORKS or re.fullmatch(f"service:{NAME}", mode):
            return
        if mode.startswith(("container:", "ns:")):
            yield Finding(path, f"{mode} is not of this application", None)
        elif self.policy.opens(row.opens):
            return
        elif mode == "host":
            yield Finding(path, "host is denied by host_namespaces", row.opens)
        elif not self.policy.names("network", mode):
            yield _foreign("network", mode, path)

    def sysctl(self, _value: Any, path: str, row: Row) -> Iterator[Finding]:
        """Judge a kernel setting by its name."""
        name = path.partition(".sysctls.")[2]
        if not re.fullmatch(SYSCTLS, name) and not self.policy.opens(row.opens):
            yield Finding(path, "is not a container's own, and privileged is denied", row.opens)

    # -- files and mounts ---------------------------------------------------------------------

    def path(self, value: Any, path: str, row: Row) -> Iterator[Finding]:
        """Judge a path: a file of the package, or one that the site opened."""
        if not is_plain_path(text(value)):
            yield Finding(path, f"{value} is not an absolute path without ..", None)
        elif not self.policy.has_path(value, self.roots):
            yield Finding(path, f"{value} is not in host_paths", row.opens)
        else:
            yield from self._below_writable(value, path, row)

    def _below_writable(self, value: str, path: str, row: Row) -> Iterator[Finding]:
        """Judge a path by the folders above it: a container could put a link in its place."""
        folder = posixpath.normpath(value)
        above = []
        while folder != "/":
            folder = posixpath.dirname(folder)
            above.append(folder)
        upper = next((folder for folder in above if folder in self._writable), None)
        if upper is not None and not self.policy.opens(row.opens):
            words = f"{value} lies below {upper}, where the application can write and plant links"
            yield Finding(path, words, row.opens)

    @cached_property
    def _writable(self) -> set[str]:
        """Return the node's folders that the application mounts and can write to."""
        sources = [
            text(mount.get("source"))
            for service in self.declared("services").values()
            for mount in (service or {}).get("volumes") or []
            if isinstance(mount, dict) and mount.get("type") == "bind"
            if is_off(mount.get("read_only"))
        ]
        options = [(part or {}).get("driver_opts") for part in self.declared("volumes").values()]
        sources += [text(one.get("device")) for one in options if isinstance(one, dict)]
        absolute = [posixpath.normpath(path) for path in sources if path.startswith("/")]
        return {path for path in absolute if not is_below_any(path, self.roots)}

    def host_path(self, value: Any, path: str, row: Row) -> Iterator[Finding]:
        """Judge a path to which the engine writes: never one of the package."""
        if not self.policy.has_path(text(value)):
            yield Finding(path, f"{value} is not in host_paths", row.opens)

    def bind(self, value: Any, path: str, row: Row) -> Iterator[Finding]:
        """Judge a bind mount as a whole: SELinux labels are written on what it names."""
        if not isinstance(value, dict) or not value.get("source"):
            yield Finding(path, "has no source", None)
            return
        about, source = value.get("bind"), text(value["source"])
        relabels = isinstance(about, dict) and about.get("selinux")
        if relabels and not is_below_any(source, self.roots) and not self.policy.opens(row.opens):
            yield Finding(f"{path}.bind.selinux", f"would relabel {source}", row.opens)

    def declared_name(self, value: Any, path: str, _row: Row) -> Iterator[Finding]:
        """Judge what a service uses: the file has to declare it."""
        kind = path.split(".")[2].partition("[")[0]
        if value and value not in self.declared(kind):
            yield Finding(path, f"{value} is not among the file's {kind}", None)

    # -- networks and volumes -----------------------------------------------------------------

    def network(self, value: Any, path: str, _row: Row) -> Iterator[Finding]:
        """Judge whose a network is."""
        name = self._foreign_name(value)
        if not name or self.policy.opens("host_namespaces"):
            return
        if name == "host":
            yield Finding(path, "host is denied by host_namespaces", "host_namespaces")
        elif not self.policy.names("network", name):
            yield _foreign("network", name, path)

    def bridge_option(self, _value: Any, path: str, row: Row) -> Iterator[Finding]:
        """Judge an option of a network by its name."""
        name = path.partition(".driver_opts.")[2]
        if name not in BRIDGE_OPTIONS and not self.policy.opens(row.opens):
            yield Finding(path, row.reason, row.opens)

    def volume(self, value: Any, path: str, row: Row) -> Iterator[Finding]:
        """Judge whose a volume is."""
        name = self._foreign_name(value)
        if name and not self.policy.opens(row.opens) and not self.policy.names("volume", name):
            yield _foreign("volume", name, path)

    def _foreign_name(self, value: Any) -> str:
        """Return the name on the node of what is not the application's own, or nothing."""
        if not isinstance(value, dict):
            return ""
        name = text(value.get("name") or "")
        own = name.startswith(self.project + "_") and is_off(value.get("external"))
        return "" if own else name or "nothing by name"

    def volume_options(self, value: Any, path: str, row: Row) -> Iterator[Finding]:
        """Judge the options of a volume: they can make it a mount of anything."""
        if self.policy.opens(row.opens):
            return
        if not isinstance(value, dict):
            yield Finding(path, "has to be a mapping", None)
            return
        kind, device, options = (text(value.get(key) or "") for key in ("type", "device", "o"))
        for key in sorted(set(map(str, value)) - {"type", "device", "o"}):
            yield Finding(f"{path}.{key}", "needs / in host_paths", row.opens)
        in_memory = kind == "tmpfs" and device in ("tmpfs", "none", "")
        if in_memory or not (kind or device):
            if not re.fullmatch(MEMORY_OPTIONS, options):
                yield Finding(f"{path}.o", f"{options} needs / in host_paths", row.opens)
        elif kind not in ("", "none", "bind") or not re.fullmatch(BIND_OPTIONS, options):
            words = " ".join(word for word in (kind, options) if word) or device
            yield Finding(path, f"{words} needs / in host_paths", row.opens)
        elif not self.policy.has_path(device):
            yield Finding(f"{path}.device", f"{device} is not in host_paths", row.opens)
        else:
            yield from self._below_writable(device, f"{path}.device", row)


def _foreign(kind: str, name: str, path: str) -> Finding:
    return Finding(
        path,
        f"{name} is not of this application, and {kind}:{name} is not in host_paths",
        "host_paths",
    )
