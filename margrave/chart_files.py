"""A chart's own files, looked at without Helm: what is none, what Margo forbids charts, what moves.

What a chart comes to on a node is seen only when it is rendered there; everything found here would
be refused there too, but earlier, and where its author reads it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from margrave import value_paths
from margrave.errors import DocumentError
from margrave.findings import did_you_mean
from margrave.yaml_text import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ROOT: Final = "Chart.yaml"
VALUES: Final = "values.yaml"
# One that hides finds nothing either: a node renders charts without access to the cluster.
_LOOKUP: Final = re.compile(r"\{\{[^}]*\blookup\b")
_HOOK: Final = re.compile(r"^[^#\n]*helm\.sh/hook[\"']?\s*:\s*[\"']?([a-z][a-z, -]*)", re.MULTILINE)
# With a tag or a digest: without one it may be the beginning of what a template makes of it.
_IMAGE: Final = re.compile(
    r"[a-z0-9][A-Za-z0-9._/:-]*(:[A-Za-z0-9_][A-Za-z0-9._-]*|@sha256:[0-9a-f]{64})"
    r"(@sha256:[0-9a-f]{64})?"
)
_WRITTEN: Final = re.compile(
    r"^\s*-?\s*image:\s*[\"']?([a-z0-9][^\s\"'{}]*)[\"']?\s*$", re.MULTILINE
)
_MEND: Final = "mend the chart"
_KIND: Final = re.compile(r"^kind:[ \t]*[\"']?([A-Za-z]+)[\"']?[ \t]*\r?$", re.MULTILINE)
# Those of the API groups that every cluster has and that stay in a namespace: nodes take no others
# where the site's policy denies what is privileged.
KINDS: Final = frozenset(
    (
        *("ConfigMap", "PersistentVolume", "PersistentVolumeClaim", "Pod", "Secret", "Service"),
        *("ServiceAccount", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
        *("HorizontalPodAutoscaler", "CronJob", "Job", "Ingress", "NetworkPolicy"),
        *("PodDisruptionBudget", "Role", "RoleBinding"),
    )
)


@dataclass(frozen=True)
class Flaw:
    """One thing about one file of a chart."""

    where: str
    words: str
    cure: str

    def __str__(self) -> str:
        return f"{self.where}: {self.words}"


def flaws(files: Mapping[str, bytes]) -> list[Flaw]:
    """What refuses the component; empty when nothing does. `files` are by path."""
    if ROOT not in files:
        return [Flaw(ROOT, "is missing", "a chart has one at its component's root")]
    return [*_described(files), *_text(files), *_forbidden(files)]


def remarks(files: Mapping[str, bytes], pointers: Iterable[str]) -> list[Flaw]:
    """What is worth a look and refuses nothing: values that are not there, images that can move.

    `pointers` are where parameters put their values.
    """
    try:
        values = parse(files[VALUES], VALUES).value if VALUES in files else {}
    except DocumentError as error:
        # Helm may read more than we do; its images are left as they are.
        words = f"is not read here ({error.findings[0].message}), and its images are not pinned"
        return [Flaw(VALUES, words, "write it plainly")]
    values = values if isinstance(values, dict) else {}
    seen = [*_in_templates(files), *_far(files), *_lookups(files)]
    return [*_unknown(values, pointers), *_moving(values), *seen]


def is_image(key: object, value: object) -> bool:
    """Whether a value is a whole image reference: `image: host/name:tag`. Publishing pins it."""
    return str(key) == "image" and isinstance(value, str) and bool(_IMAGE.fullmatch(value))


def _described(files: Mapping[str, bytes]) -> Iterator[Flaw]:
    """Chart.yaml says what a chart is, and the charts that it needs lie in it."""
    try:
        chart = parse(files[ROOT], ROOT).value
    except DocumentError as error:
        for one in error.findings:
            yield Flaw(ROOT, one.message, one.cure or _MEND)
        return
    chart = chart if isinstance(chart, dict) else {}
    for key in ("apiVersion", "name", "version"):
        if not chart.get(key):
            yield Flaw(ROOT, f"has no {key}", "add it")
    if chart.get("apiVersion") not in (None, "v2"):
        yield Flaw(ROOT, f"apiVersion is {chart['apiVersion']}", "Margo takes charts of v2")
    if chart.get("type") == "library":
        yield Flaw(ROOT, "is a library, which cannot be installed", "name the chart that uses it")
    needed = chart.get("dependencies")
    for one in needed if isinstance(needed, list) else ():
        name = str(one.get("name") if isinstance(one, dict) else one)
        if not any(_is_of(path, name) for path in files):
            words = f"needs the chart {name}, which is not in charts/"
            yield Flaw(ROOT, words, "run helm dependency update, and publish charts/ too")


def _text(files: Mapping[str, bytes]) -> Iterator[Flaw]:
    try:
        files.get(VALUES, b"").decode()
    except UnicodeDecodeError:
        yield Flaw(VALUES, "is not UTF-8", "save it as UTF-8")


def _is_of(path: str, name: str) -> bool:
    packed = re.fullmatch(rf"charts/{re.escape(name)}-[0-9][^/]*\.tgz", path)
    return packed is not None or path == f"charts/{name}/{ROOT}"


def _forbidden(files: Mapping[str, bytes]) -> Iterator[Flaw]:
    for path, data in sorted(files.items()):
        parts = path.split("/")
        if "templates" not in parts:
            if "crds" in parts[:-1]:
                words = "definitions of resources are not a chart's to manage"
                yield Flaw(path, words, "have the cluster's administrator install them")
            continue
        text = data.decode("utf-8", "replace")
        if parts[0] == "templates" and _LOOKUP.search(text):
            words = "lookup finds nothing where a node renders the chart"
            yield Flaw(path, words, "make a parameter of what is looked up")
        for found in _HOOK.finditer(text):
            kinds = [one.strip() for one in found[1].split(",")]
            if any(kind and not kind.startswith("test") for kind in kinds):
                words = (
                    f"is a hook ({found[1].strip()}), which charts of applications must not have"
                )
                yield Flaw(path, words, "make a job or an init container of it")


def _unknown(values: Mapping[str, Any], pointers: Iterable[str]) -> Iterator[Flaw]:
    for pointer in sorted(set(pointers)):
        steps = value_paths.steps(pointer)
        spot: Any = values
        for place, step in enumerate(steps):
            if isinstance(spot, list) or spot is None:
                break  # an item, or a value that is only made by being set
            if not isinstance(spot, dict) or step not in spot:
                known = [_joined(steps[:place], key) for key in spot if isinstance(spot, dict)]
                words = f"has no value {pointer}, which a parameter sets"
                yield Flaw(VALUES, words, did_you_mean(pointer, known) or "add its default")
                break
            spot = spot[step]


def _joined(steps: tuple[value_paths.Step, ...], key: object) -> str:
    return ".".join(str(step) for step in (*steps, key))


def _moving(values: Mapping[str, Any]) -> Iterator[Flaw]:
    for where, image in sorted(_apart(values, "")):
        words = f"{where}: {image} is not pinned, and its tag may come to mean another image"
        yield Flaw(VALUES, words, "write it as one value, image: HOST/NAME:TAG")


def _apart(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """Images whose repository and tag are values of their own: what a template makes of the two
    nobody knows."""
    if isinstance(value, list):
        for number, one in enumerate(value):
            yield from _apart(one, f"{where}[{number}]")
    if not isinstance(value, dict):
        return
    if isinstance(value.get("repository"), str) and "tag" in value:
        if not value.get("digest"):
            yield where, f"{value['repository']}:{value['tag']}"
        return
    for key, one in value.items():
        yield from _apart(one, f"{where}.{key}" if where else str(key))


def _far(files: Mapping[str, bytes]) -> Iterator[Flaw]:
    """Kinds that a template may make: whether it does is known where it is rendered."""
    for path, data in sorted(files.items()):
        if "templates" in path.split("/"):
            found = set(_KIND.findall(data.decode("utf-8", "replace")))
            for kind in sorted(found - KINDS - {"CustomResourceDefinition"}):
                words = (
                    f"makes a {kind}, which nodes refuse where the site's policy denies privileged"
                )
                yield Flaw(path, words, "do without it, or say at which sites it may run")


def _lookups(files: Mapping[str, bytes]) -> Iterator[Flaw]:
    """Lookups in charts that the chart needs: libraries have some that are not used."""
    for path, data in sorted(files.items()):
        in_library = path.startswith("charts/") and "templates" in path.split("/")
        if in_library and _LOOKUP.search(data.decode("utf-8", "replace")):
            words = "lookup finds nothing where a node renders the chart: each version makes anew"
            yield Flaw(path, f"{words} what it would find", "set passwords by parameters")


def _in_templates(files: Mapping[str, bytes]) -> Iterator[Flaw]:
    for path, data in sorted(files.items()):
        for found in _WRITTEN.finditer(data.decode("utf-8", "replace")):
            if "templates" in path.split("/") and "@" not in found[1]:
                words = f"{found[1]} is not pinned, and its tag may come to mean another image"
                yield Flaw(path, words, f"make a value of it in {VALUES}")
