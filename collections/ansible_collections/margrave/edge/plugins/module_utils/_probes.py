# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Probes over HTTP and TCP that a service declares with a label, asked from the node.

They are for images with no program to check themselves; where Compose's own `healthcheck` is
there, it alone counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._record import record

LABEL = "margrave.probe"
FORM = re.compile(r"tcp://:(?P<tcp>\d{1,5})|http://:(?P<http>\d{1,5})(?P<path>/[!-~]*)?")
# Who answers later than this is not ready; the wait goes on, and asks again.
PATIENCE = 2.0


@record
class Probe:
    """A port of the container, and the path that has to be found there; none for plain TCP."""

    port: int
    path: str = ""

    def passes(self, addresses: Iterable[str]) -> bool:
        """Whether the container answers at one of its addresses."""
        return any(self._answers(one) for one in addresses)

    def _answers(self, address: str) -> bool:
        import socket  # what it costs to import is for those who declare a probe

        try:
            with socket.create_connection((address, self.port), PATIENCE) as line:
                if not self.path:
                    return True
                line.sendall(f"GET {self.path} HTTP/1.0\r\nHost: {address}\r\n\r\n".encode())
                said = b""
                while b"\n" not in said and len(said) < 256:
                    part = line.recv(256)
                    if not part:
                        break
                    said += part
        except OSError:
            return False
        # Any 2xx or 3xx, as Kubernetes has it.
        return re.match(rb"HTTP/1\.[01] [23]\d\d\b", said) is not None


def of(labels: Mapping[str, str], where: str = "") -> Probe | None:
    """The probe that the labels declare; ConfigError where it cannot be read."""
    written = labels.get(LABEL)
    if written is None:
        return None
    found = FORM.fullmatch(str(written))
    port = int(found["tcp"] or found["http"]) if found else 0
    if found is None or not 0 < port < 65536:
        raise ConfigError(
            "probe",
            f'{where}label {LABEL}: "{written}" is no probe',
            "write http://:PORT/PATH or tcp://:PORT",
        )
    return Probe(port, "" if found["tcp"] else found["path"] or "/")


def check(component: str, services: Mapping[str, dict]) -> None:
    """Refuse probes that cannot be read, before anything changes."""
    for name, service in sorted(services.items()):
        of(service.get("labels") or {}, f"components.{component}: services.{name}: ")
