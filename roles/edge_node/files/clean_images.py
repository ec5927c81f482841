#!/usr/bin/python3
"""Remove images that applications of this node do not need any more.

An update removes what it has replaced by itself. What stays are images of releases that never came
to run: once their release is neither current, previous nor made ready to be next, and has not been
touched for some days, they go. Images that Margrave did not fetch are never looked at, and one that
a container uses is refused by the engine itself.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time

STATE = "/var/lib/margrave/deployments"
DAY = 86400.0
ENGINES = ("podman", "docker")


def releases(state: str):
    """Every complete release on the node: its images, whether it is kept, when it was touched."""
    for deployment in sorted(os.listdir(state)) if os.path.isdir(state) else ():
        folder = os.path.join(state, deployment)
        kept = {
            os.path.basename(os.readlink(link))
            for link in (os.path.join(folder, name) for name in ("current", "previous", "next"))
            if os.path.islink(link)
        }
        place = os.path.join(folder, "releases")
        for name in sorted(os.listdir(place)) if os.path.isdir(place) else ():
            file = os.path.join(place, name, "release.json")
            try:
                with open(file, encoding="utf-8") as opened:
                    release = json.load(opened)
                yield images(release), name in kept, os.path.getmtime(file)
            except (OSError, ValueError) as error:
                # Half written or of another version: nothing is removed on its word.
                sys.stderr.write(f"{file}: {error}\n")


def images(release: dict) -> dict:
    """Names of its images, each with whether Margrave fetched it."""
    return {
        one["reference"]: bool(one.get("ours"))
        for component in release.get("components", ())
        for one in (component.get("images") or {}).values()
    }


def unneeded(found: list, before: float) -> list:
    """Names that only releases have which are not kept and were last touched before that time."""
    needed = {name for names, kept, at in found if kept or at >= before for name in names}
    ours = {name for names, _, _ in found for name, own in names.items() if own}
    return sorted(ours - needed)


def main() -> None:
    """Remove them, and say which."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", default=STATE)
    parser.add_argument("--days", type=float, default=7.0)
    parser.add_argument("--engine", choices=ENGINES, help="the first that is here, if not given")
    parser.add_argument("--dry-run", action="store_true", help="say it, and remove nothing")
    given = parser.parse_args()
    engine = given.engine or next((one for one in ENGINES if shutil.which(one)), "")
    if not engine:
        sys.exit("neither podman nor docker is here")
    for name in unneeded(list(releases(given.state)), time.time() - given.days * DAY):
        sys.stdout.write(f"{name}\n")
        if given.dry_run:
            continue
        done = subprocess.run(
            [engine, "rmi", name],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.stderr.write(f"{name} stays: {' '.join(done.stderr.split())}\n")


if __name__ == "__main__":
    main()
