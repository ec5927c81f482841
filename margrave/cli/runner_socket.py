"""The runner of this machine: where its socket is, by the rules that its own commands follow."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from margrave.cli.api import Api
from margrave.errors import MargraveError, Unreachable

PLACES = (Path("margrave.toml"), Path("/etc/margrave/margrave.toml"))


def connect(config: Path | None) -> Api:
    """The runner's own API, for those who may open its socket."""
    socket = find(config)
    if not socket.exists():
        raise Unreachable(f"no runner listens at {socket}", "margrave runner serve, or --config")
    return Api("http://runner", uds=socket, timeout=180.0)


def find(config: Path | None) -> Path:
    """The socket in the state folder of this configuration, else of the first one found."""
    found = config or next((path for path in PLACES if path.is_file()), None)
    if found is None:
        raise MargraveError("no runner's configuration here", "name it with --config FILE")
    return _state(found) / "runner.sock"


def _state(config: Path) -> Path:
    try:
        value = tomllib.loads(config.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise MargraveError(f"{config}: cannot be read: {error}") from error
    section = value.get("state")
    written = section.get("dir") if isinstance(section, dict) else None
    state = os.environ.get("MARGRAVE_STATE__DIR") or str(written or "state")
    return (config.resolve().parent / state).resolve()
