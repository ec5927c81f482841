# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Docker Compose as a program: command lines as values, and the one place that runs them."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from ansible_collections.margrave.edge.plugins.module_utils import _compose_files, _model
from ansible_collections.margrave.edge.plugins.module_utils._compose_words import (
    start_error,
    stop_error,
    tidy,
)
from ansible_collections.margrave.edge.plugins.module_utils._engine import Engine
from ansible_collections.margrave.edge.plugins.module_utils._errors import (
    ConfigError,
    EngineError,
    HealthError,
)
from ansible_collections.margrave.edge.plugins.module_utils._programs import (
    NOBODY,
    Programs,
    Ran,
    remembered,
)
from ansible_collections.margrave.edge.plugins.module_utils._programs import find as find_program
from ansible_collections.margrave.edge.plugins.module_utils._record import record

PROGRAMS = ("/usr/bin/docker-compose", "/usr/local/bin/docker-compose")
PLUGIN_HOSTS = ("/usr/bin/docker", "/usr/local/bin/docker")
RESOLVE_LIMIT = 60.0
# The first that takes more than one env file: an older one leaves out all but the last.
NEEDED = (2, 17)
NEEDED_WORDS = "2.17"
# To collect garbage takes a quarter of the processor time that Compose itself needs, 7 of 28 ms.
# With a heap that may grow to five times what is in use it took no more memory, of 47 MB.
QUICK = {"GOGC": "400"}
# A file that includes an address is refused before Compose runs; were it not, Compose fetches none.
# Versions before 2.21 know neither these names nor such addresses.
LOCAL_ONLY = {
    "COMPOSE_EXPERIMENTAL_GIT_REMOTE": "false",
    "COMPOSE_EXPERIMENTAL_OCI_REMOTE": "false",
}
# A key of the top level that Compose passes on with its variables filled in.
VARIABLES = "x-margrave-variables"
# Compose reads these names itself, so a parameter must not carry them.
RESERVED = re.compile(r"(COMPOSE|DOCKER)_.*")


@record
class Compose:
    """Compose against one engine."""

    program: tuple[str, ...]
    engine: Engine
    programs: Programs

    def resolve(self, project: str, folder: str, env_file: str) -> dict:
        """The model with everything interpolated, as Compose would run it.

        What a compose.yaml includes is read before there is a model to hold the policy against. So
        this runs as a user who can read the component alone: the folder and its variables are
        handed over open, and the folders above them let nobody but root in.
        """
        _compose_files.refuse_overrides(folder)
        model = self._config(project, folder, env_file)
        self._warn(folder, _compose_files.read_env_file(env_file))
        if any(not path.startswith(folder + "/") for path in _model.host_paths(model)):
            # Handed over, the folder has another place: `../x` would be taken from there.
            literal = self._config(project, folder, env_file, "--no-path-resolution")
            _refuse_relative(_model.host_paths(literal))
        return model

    def values(
        self, project: str, folder: str, env_file: str, names: Iterable[str]
    ) -> dict[str, str]:
        """Return those of the variables that the package's own `.env` sets, as Compose reads them.

        Compose tells no variables, but what it made of a key that is ours.
        """
        asked = {name: {"value": f"${{{name}-}}", "is_set": f"${{{name}+1}}"} for name in names}
        given = json.dumps({VARIABLES: asked}).encode()
        model = self._config(project, folder, env_file, given=given)
        return {
            name: str(found["value"]).replace("$$", "$")
            for name, found in (model.get(VARIABLES) or {}).items()
            if found["is_set"]
        }

    def _config(
        self, project: str, folder: str, env_file: str, *more: str, given: bytes = b""
    ) -> dict:
        with _handed_over(folder, env_file) as (shown, variables):
            own = os.path.join(shown, ".env")
            files = [own, variables] if os.path.exists(own) else [variables]
            options = [text for path in files for text in ("--env-file", path)]
            command = ["--project-name", project, "--project-directory", shown, *options]
            command += ["--file", os.path.join(shown, "compose.yaml")]
            command += ["--file", "-"] if given else []
            command += ["config", *more, "--format", "json"]
            handles = tuple(int(os.path.basename(path)) for path in (shown, variables))
            # Paths that are not resolved are opened from where it starts.
            ran = self._run(command, RESOLVE_LIMIT, handles, folder, given)
        if ran.code != 0:
            raise ConfigError(
                "compose-file",
                f"compose.yaml: {tidy(ran.err.replace(shown + '/', ''))}",
                "mend the file and publish the application again",
            )
        for warning in _compose_files.undefined_variables(folder, ran.err):
            self.programs.warn(warning)
        return json.loads(ran.out.replace(shown, folder))

    def _warn(self, folder: str, variables: Iterable[str]) -> None:
        """Report files and variables that have no effect."""
        for warning in (
            *_compose_files.other_compose_files(folder),
            *_compose_files.unused_variables(folder, variables),
        ):
            self.programs.warn(warning)

    def up(
        self, project: str, folder: str, model: str, limit: float, anew: Iterable[str] = ()
    ) -> None:
        """Make containers as the stored model says; those that are right are left alone.

        Those of the services `anew` are made again however right they look, by Compose itself,
        which hands a container's anonymous volumes to the one that takes its place.
        """
        end = time.monotonic() + limit
        command = ["--project-name", project, "--project-directory", folder, "--file", model]
        # Compose makes variables of a package's .env its own environment; here it runs as root.
        command += ["--env-file", "/dev/null", "up"]
        # What is needed was fetched before anything was stopped; nothing is fetched here.
        command += ["--no-build", "--pull", "never"]
        services = sorted(anew)
        if services:
            # Not started yet: the order in which services wait for each other is for all of them.
            self._up([*command, "--no-start", "--no-deps", "--force-recreate", *services], limit)
        self._up([*command, "--detach", "--remove-orphans"], max(end - time.monotonic(), 1.0))

    def _up(self, command: list[str], limit: float) -> None:
        ran = self._run(command, limit)
        if ran.code is None:
            raise HealthError(
                "start-timeout",
                f"not all containers had started after {limit:.0f} s",
                "look at the containers and their logs on the node",
            )
        if ran.code != 0:
            raise start_error(tidy(ran.err))

    def down(self, project: str, limit: float = 300.0) -> None:
        """Stop and remove a project's containers and networks in the right order; volumes stay."""
        ran = self._run(["--project-name", project, "down", "--remove-orphans"], limit)
        if ran.code != 0:
            raise stop_error(f"project {project}: {tidy(ran.err) or 'did not stop in time'}")

    def version(self) -> str:
        """Compose's version."""
        ran = self._run(["version", "--short"], RESOLVE_LIMIT)
        return ran.out.strip().lstrip("v") if ran.code == 0 else ""

    def _run(
        self,
        arguments: list[str],
        limit: float,
        handles: tuple[int, ...] = (),
        folder: str | None = None,
        given: bytes = b"",
    ) -> Ran:
        """Start Compose; with handles as nobody."""
        settings = {"DOCKER_HOST": self.engine.host, **QUICK, **LOCAL_ONLY}
        command = [*self.program, *arguments]
        as_nobody = bool(handles)
        return self.programs.run(command, limit, settings, handles, as_nobody, given, folder)


@contextmanager
def _handed_over(folder: str, env_file: str) -> Iterator[tuple[str, str]]:
    """The folder, and a copy of the variables in memory, as paths of a process that gets them."""
    place, copy = os.open(folder, os.O_RDONLY), os.memfd_create("variables")
    try:
        with open(env_file, "rb") as file:
            os.write(copy, file.read())
        if os.geteuid() == 0:
            os.fchown(copy, NOBODY, NOBODY)
        yield f"/proc/self/fd/{place}", f"/proc/self/fd/{copy}"
    finally:
        os.close(place)
        os.close(copy)


def _refuse_relative(paths: list[str]) -> None:
    """Refuse paths that lead out of the component from where it happens to lie."""
    wrong = [
        path
        for path in paths
        if path.startswith("~") or os.path.normpath(path).split("/")[0] == ".."
    ]
    if wrong:
        raise ConfigError(
            "stray-file",
            f"compose.yaml: {', '.join(sorted(set(wrong)))} leads out of the component",
            "keep the file in the component, or write the node's own path and allow it in"
            " host_paths",
        )


def find(engine: Engine, programs: Programs, notes: str = "") -> Compose:
    """Compose as it is on the node and new enough, or EngineError that tells how to get it.

    A node may have an old one beside a new one: Debian's docker-compose 1.29 beside Docker's own
    plugin. The old one would fail at the file, and blame it.
    """
    older = []
    for command in _commands():
        compose = Compose(command, engine, programs)
        # Docker's plugin is another file than the one that is started: it is asked each time.
        alone = notes if len(command) == 1 else ""
        version = remembered(alone, command[0], compose.version)
        if numbers(version) >= NEEDED:
            return compose
        older += [version] if version else []
    if older:
        raise EngineError(
            "compose-too-old",
            f"Docker Compose {older[0]} is too old: it has to be {NEEDED_WORDS} or newer",
            f"install Docker Compose {NEEDED_WORDS} or newer, as docker-compose or Docker's plugin",
        )
    raise EngineError(
        "no-compose",
        "Docker Compose is not on this node",
        f"install the package docker-compose ({NEEDED_WORDS} or newer), or Docker's plugin",
    )


def _commands() -> Iterator[tuple[str, ...]]:
    """What may start it; Docker is there without the plugin, too."""
    alone, host = find_program(*PROGRAMS), find_program(*PLUGIN_HOSTS)
    if alone:
        yield (alone,)
    if host:
        yield (host, "compose")


def numbers(version: str) -> tuple[int, ...]:
    """The first two numbers of a version, whatever stands around them; none of no version."""
    found = re.match(r"v?(\d+)\.(\d+)", version)
    return tuple(int(one) for one in found.groups()) if found else ()


def env_file(variables: Mapping[str, str]) -> bytes:
    """An env file whose values Compose reads literally, whatever they hold."""
    lines = []
    for name, value in sorted(variables.items()):
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or RESERVED.fullmatch(name):
            raise ConfigError(
                "variable-name",
                f'variables: "{name}" cannot be a variable of a Compose file',
                "use letters, digits and _, and no name that begins with COMPOSE_ or DOCKER_",
            )
        if "\0" in value:
            raise ConfigError("variable-value", f"variables.{name}: holds a zero byte", "remove it")
        literal = value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
        lines.append(f'{name}="{literal}"\n')
    return "".join(lines).encode()
