"""GET /healthz and GET /metrics."""

from __future__ import annotations

import json
import os
import shutil
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from . import VERSION
from .beats import Beacon
from .node import STATE, containers, memory, problems


def health(beacon: Beacon) -> dict:
    """Of the node. Whether the runner hears us is told beside it, and is no illness of the node."""
    found = problems(beacon.engine)
    return {
        "status": "failing" if found else "ok",
        "checks": [{"name": one.split(":")[0], "ok": False, "detail": one} for one in found],
        "node": beacon.config.node or None,
        "beacon": VERSION,
        "beat": {
            "ok": not beacon.trouble,
            "last": beacon.last_beat or None,
            "detail": beacon.trouble,
        },
    }


def metrics(beacon: Beacon) -> str:
    """As Prometheus reads them."""
    disk, ram = shutil.disk_usage(STATE), memory()
    found = problems(beacon.engine)
    return "".join(
        (
            _metric("build_info", "What runs.", {f'version="{VERSION}"': 1}),
            _metric("beats_total", "Beats by result.", _by("result", beacon.beats), "counter"),
            _metric(
                "last_beat_timestamp_seconds", "The last accepted one.", {"": beacon.last_beat}
            ),
            _metric(
                "disk_bytes",
                f"Disk below {STATE}.",
                _by("kind", {"free": disk.free, "total": disk.total}),
            ),
            _metric(
                "memory_bytes",
                "Memory of the node.",
                _by("kind", {"available": ram["MemAvailable"], "total": ram["MemTotal"]}),
            ),
            _metric("load1", "Load of the last minute.", {"": os.getloadavg()[0]}),
            _metric("problems", "Problems that /healthz names.", {"": len(found)}),
            _metric(
                "containers",
                "Containers of deployments.",
                _by("state", containers(beacon.engine)),
            ),
        )
    )


def _by(label: str, values: dict) -> dict:
    return {f'{label}="{name}"': value for name, value in values.items()}


def _metric(name: str, text: str, values: dict, kind: str = "gauge") -> str:
    whole = f"margrave_beacon_{name}"
    lines = [f"# HELP {whole} {text}", f"# TYPE {whole} {kind}"]
    for labels, value in values.items():
        lines.append(f"{whole}{{{labels}}} {value}" if labels else f"{whole} {value}")
    return "".join(f"{line}\n" for line in lines)


class Server(ThreadingHTTPServer):
    """Answers on all addresses of both kinds when none is named."""

    daemon_threads = True

    def __init__(self, bind: str, beacon: Beacon) -> None:
        host, _, port = bind.rpartition(":")
        host = host.strip("[]")
        self.beacon = beacon
        if ":" in host or (not host and socket.has_dualstack_ipv6()):
            self.address_family = socket.AF_INET6
        super().__init__((host, int(port)), Handler)

    def server_bind(self) -> None:
        """IPv4 too, where no address is named."""
        if self.address_family == socket.AF_INET6 and not self.server_address[0]:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()


class Handler(BaseHTTPRequestHandler):
    """GET /healthz and GET /metrics, and nothing else."""

    server_version = f"margrave-beacon/{VERSION}"
    timeout = 10

    def do_GET(self) -> None:
        """Answer."""
        beacon: Beacon = self.server.beacon
        if self.path == "/healthz":
            told = health(beacon)
            self._send(200 if told["status"] == "ok" else 503, "application/json", json.dumps(told))
        elif self.path == "/metrics":
            self._send(200, "text/plain; version=0.0.4; charset=utf-8", metrics(beacon))
        else:
            self._send(404, "text/plain; charset=utf-8", "there are /healthz and /metrics\n")

    def _send(self, status: int, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Who asked is of no interest."""
