"""Docker Compose as one file, built once from its Go module, and kept.

For machines whose distribution has none that is new enough, as the role edge_node takes it.

    python -m lab.compose      builds it if it is not there, and prints where it is
"""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING

from lab.commands import environment, run
from lab.errors import NotPossibleHere
from lab.layout import RUN, cache_folder
from lab.locks import held

if TYPE_CHECKING:
    from pathlib import Path

MODULE = "github.com/docker/compose/v2"
VERSION = "v2.39.4"
LOCK = RUN / ".locks" / ".compose"
BUILD_LIMIT = 3600.0


def build() -> Path:
    """The program; some minutes, once for each version."""
    program = cache_folder().parent / f"compose-{VERSION}" / "docker-compose"
    with held(LOCK):
        if not program.exists():
            if shutil.which("go", path=environment()["PATH"]) is None:
                raise NotPossibleHere("Go is not installed", "install Go 1.24 or newer")
            draft = program.parent.with_name(f"{program.parent.name}.new")
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir(parents=True)
            flags = f"-s -w -X {MODULE}/internal.Version={VERSION}"
            told = run(["go", "mod", "download", "-json", f"{MODULE}@{VERSION}"], timeout=600)
            source = json.loads(told)["Dir"]
            # Whoever works on this machine meanwhile goes first.
            words = ["nice", "-n", "15", "go", "build", "-C", source, "-trimpath"]
            run(
                [*words, f"-ldflags={flags}", "-o", draft / program.name, "./cmd"],
                timeout=BUILD_LIMIT,
                env={"CGO_ENABLED": "0"},
            )
            draft.rename(program.parent)
    return program


if __name__ == "__main__":
    sys.stdout.write(f"{build()}\n")
