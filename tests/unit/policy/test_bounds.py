"""No package makes the check of its Compose files slow or large."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from margrave.policy import compose_findings
from margrave.policy.compose_check import findings
from margrave.yaml_text import SIZE_LIMIT

SECONDS = 1.0  # the bar is 0.1 s; what is unbounded takes minutes
IMAGE = "image: registry.site/web:1"
SERVICE = f"services: {{web: {{{IMAGE}, hostname: $Z}}}}\n"


def _services(*services: str) -> dict[str, str]:
    return {"compose.yaml": "services:\n" + "".join(f"  {one}\n" for one in services)}


def _many(count: int, service: str) -> list[str]:
    return [service.replace("N", str(number)) for number in range(count)]


def _keys(count: int) -> str:
    return "{" + ", ".join(f"k{number}: 1" for number in range(count)) + "}"


def _filled(text: str, size: int = SIZE_LIMIT - 1000) -> str:
    return text * (size // len(text))


HOSTILE: dict[str, Mapping[str, str]] = {
    "variables that double": {
        "compose.yaml": SERVICE,
        ".env": "A0=xxxxxxxxxx\n"
        + "".join(f"A{n}=${{A{n - 1}}}${{A{n - 1}}}\n" for n in range(1, 40))
        + "Z=$A39\n",
    },
    "many variables": {
        "compose.yaml": SERVICE,
        ".env": "".join(f"A{number}=x\n" for number in range(15_000)),
    },
    "a long variable many times": {
        ".env": "A=" + "x" * 250_000,
        **_services(f"web: {{{IMAGE}, command: {'$A' * 40_000}}}"),
    },
    "white space in a variable": {"compose.yaml": SERVICE, ".env": f"A=x{' ' * 100_000}y\n"},
    "defaults within defaults": {
        "compose.yaml": SERVICE.replace("$Z", f"'{'${a:-' * 5}{'{}' * 200_000}{'}' * 5}'")
    },
    "services that extend a large one": _services(
        f"base: {{{IMAGE}, labels: {_keys(3_000)}}}",
        *_many(95, "sN: {extends: base, labels: {kN: 2}}"),
    ),
    "services that extend one another": _services(
        f"s0: {{{IMAGE}}}",
        *(f"s{number}: {{extends: s{number - 1}, command: [{number}]}}" for number in range(1, 99)),
    ),
    "services that extend a file": {
        **_services(*_many(45, "sN: {extends: {file: base.yaml, service: base}}")),
        "base.yaml": f"services: {{base: {{{IMAGE}, labels: {_keys(4_900)}}}}}",
    },
    "files that are included": {
        "compose.yaml": f"include: [{', '.join(f'f{n}.yaml' for n in range(45))}]",
        **{f"f{n}.yaml": f"x-a: {_keys(4_900)}" for n in range(45)},
    },
    "a file of labels many times": {
        **_services(*_many(95, f"sN: {{{IMAGE}, label_file: l.env}}")),
        "l.env": _filled("A=1\n", 100_000),
    },
    "a file of variables many times": {
        "compose.yaml": f"include: [{{path: a.yaml, env_file: [{'v.env,' * 9_000}]}}]",
        "a.yaml": SERVICE,
        "v.env": _filled("A=1\n", 2_000),
    },
    "many mounts": _services(f"web: {{{IMAGE}, volumes: [{'./a:/a,' * 9_000}]}}"),
    "many mounts of the node": _services(
        f"web: {{{IMAGE}, volumes: [{','.join(f'/data/{n}:/a{n}' for n in range(9_000))}]}}"
    ),
    "a deep mount": _services(
        f"web: {{{IMAGE}, volumes: ['/data{'/a' * 200_000}:/a', '/data:/c']}}"
    ),
    "a path that climbs": _services(
        f'web: {{{IMAGE}, volumes: [{{type: tmpfs, target: "{"/../a" * 50_000}\\n\\n"}}]}}'
    ),
    "many services": _services(*_many(1_200, f"sN: {{{IMAGE}, links: [s1, s2]}}")),
    "ranges of ports": _services(f"web: {{{IMAGE}, ports: [{'1-65535:1-65535,' * 9_000}]}}"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_answered_in_time(name: str) -> None:
    """Each gets its answer within a bounded time, whatever a site allows."""
    policy = {"registries": ["*"], "host_paths": ["/data"]}
    begin = time.process_time()

    compose_findings(HOSTILE[name], {}, policy)

    assert time.process_time() - begin < SECONDS


def _refused(model: dict[str, Any]) -> list[tuple[str, str | None]]:
    model = {"name": "p", **model}
    everything = {"registries": ["*"], "host_paths": ["/"], "privileged": "allow"}
    return [(one.path, one.opens) for one in findings(model, "p", ["/p"], everything)]


def _service(**keys: Any) -> dict[str, Any]:
    return {"image": "registry.site/web:1", **keys}


def _named(count: int, value: Any) -> dict[str, Any]:
    return {f"n{number}": value for number in range(count)}


def _volumes(count: int) -> list[dict[str, str]]:
    return [{"type": "tmpfs", "target": "/t"}] * count


@pytest.mark.parametrize(
    ("most", "path", "model"),
    [
        (100, "services", lambda count: {"services": _named(count, _service())}),
        (50, "networks", lambda count: {"networks": _named(count, {"name": "p_n"})}),
        (200, "volumes", lambda count: {"volumes": _named(count, {"name": "p_n"})}),
        (200, "configs", lambda count: {"configs": _named(count, {"content": "x"})}),
        (200, "secrets", lambda count: {"secrets": _named(count, {"content": "x"})}),
        (100, "services.n0.scale", lambda count: {"services": {"n0": _service(scale=count)}}),
        (
            100,
            "services.n0.deploy.replicas",
            lambda count: {"services": {"n0": _service(deploy={"replicas": count})}},
        ),
        (50, "services", lambda count: {"services": _named(4, _service(scale=count))}),
        (1000, "services", lambda n: {"services": {"n0": _service(ports=[{"target": 1}] * n)}}),
        (500, "services", lambda n: {"services": {"n0": _service(volumes=_volumes(n))}}),
        (
            2 * 1024 * 1024 - 1000,
            "services",
            lambda count: {"services": {"n0": _service(command="x" * (count + count % 2 * 2000))}},
        ),
    ],
)
def test_an_application_has_bounds_that_no_policy_opens(
    most: int, path: str, model: Callable[[int], dict[str, Any]]
) -> None:
    """As many as a bound says are allowed, and one more is refused under every policy."""
    assert _refused(model(most)) == []
    assert _refused(model(most + 1)) == [(path, None)]


def test_ranges_of_ports_count_as_their_ports() -> None:
    """A range in the short form is as many ports as it names, before Compose writes them out."""
    ports = ["8000-8999:1-1000/udp", "127.0.0.1:80:80"]

    def refused(*items: str) -> list[str]:
        files = _services(f"web: {{{IMAGE}, ports: {list(items)}}}")
        return [one.path for one in compose_findings(files, {}, {"registries": ["*"]})]

    assert refused(ports[0]) == refused("1-60000:80") == []
    assert refused(*ports) == ["services"]
