"""`python3 -m margrave_beacon`: serve and beat until SIGTERM."""

from __future__ import annotations

import argparse
import signal
import sys
import threading

from .beats import Beacon
from .config import Config
from .engine import ENGINES, Engine
from .face import Server
from .words import log, notify

CONFIG = "/etc/margrave/beacon.json"


def main() -> None:
    """Serve and beat until SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__, prog="margrave_beacon")
    parser.add_argument("--config", default=CONFIG)
    parser.add_argument("--bind", default=":9180", help="address and port of /healthz and /metrics")
    parser.add_argument("--engine", action="append", help="API socket of the container engine")
    given = parser.parse_args()
    beacon = Beacon(Config(given.config), Engine(tuple(given.engine or ENGINES)))
    try:
        server = Server(given.bind, beacon)
    except (OSError, ValueError) as error:
        sys.exit(f"{given.bind}: {error} (--bind ADDRESS:PORT gives another place)")

    def end(*_: object) -> None:
        beacon.ending.set()
        beacon.wake.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    threading.Thread(target=beacon.listen, daemon=True).start()
    log(f"serving on {server.server_address[0]}:{server.server_address[1]}")
    notify("READY=1")
    beacon.run()
    notify("STOPPING=1")


if __name__ == "__main__":
    main()
