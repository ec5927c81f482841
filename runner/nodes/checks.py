"""What a node must have, judged from what it said; each finding with its cure. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from runner.nodes import distributions
from runner.nodes.distributions import numbers
from runner.ports import Check

OLDEST_PYTHON: Final = (3, 9)
FREE: Final = 1024 * 1024  # KiB below /var/lib: an image and its successor have to fit
CLOCK: Final = 30  # seconds; certificates and logs get confusing beyond it


def read(output: str) -> dict[str, str]:
    """The `name=value` lines of the look script; anything else is passed over."""
    pairs = (line.partition("=") for line in output.splitlines())
    return {name: value.strip() for name, found, value in pairs if found}


def judge(seen: Mapping[str, str], now: datetime) -> tuple[Check, ...]:
    """All checks, in the order in which an operator would cure them."""
    return (
        python(seen.get("python", ""), seen.get("system", "")),
        *_engines(seen),
        _disk(seen.get("free", "")),
        _clock(seen.get("clock", ""), now),
    )


def python(version: str, system: str = "") -> Check:
    """Return the check for a Python that can run Ansible's modules."""
    ok = numbers(version)[:2] >= OLDEST_PYTHON
    cure = "" if ok else distributions.python_cure(system)
    return Check("python", ok, version or "not found", cure)


def _engines(seen: Mapping[str, str]) -> tuple[Check, ...]:
    """A node with Kubernetes alone runs charts, and lacks no Compose."""
    if seen.get("kubeconfig") and not (seen.get("docker") or seen.get("podman_socket")):
        return (_kubernetes(seen),)
    return (_engine(seen), _compose(seen.get("compose", ""), seen.get("system", "")))


def _kubernetes(seen: Mapping[str, str]) -> Check:
    lacking = [name for name in ("kubectl", "helm") if not seen.get(name)]
    detail = f"Kubernetes ({seen['kubeconfig']})"
    if not lacking:
        return Check("engine", True, detail)
    cure = f"install {' and '.join(lacking)} (Helm 3.13 or newer)"
    return Check("engine", False, f"{detail} without {' and '.join(lacking)}", cure)


def _engine(seen: Mapping[str, str]) -> Check:
    if seen.get("docker"):
        return Check("engine", True, f"docker {seen['docker']}")
    if not seen.get("podman"):
        cure = f"{distributions.engine_cure(seen.get('system', ''))}, or install Docker"
        return Check("engine", False, "not found", cure)
    if not seen.get("podman_socket"):
        cure = "turn it on (systemctl enable --now podman.socket)"
        return Check("engine", False, f"podman {seen['podman']} without its socket", cure)
    return Check("engine", True, f"podman {seen['podman']}")


def _compose(version: str, system: str) -> Check:
    if numbers(version)[:2] >= distributions.OLDEST_COMPOSE:
        return Check("compose", True, version)
    detail = f"{version} is too old" if version else "not found"
    return Check("compose", False, detail, distributions.compose_cure(system))


def _disk(free: str) -> Check:
    kibibytes = int(free) if free.isascii() and free.isdigit() else 0
    ok = kibibytes >= FREE
    cure = "" if ok else "make room below /var/lib: at least 1 GiB"
    return Check("disk", ok, f"{kibibytes / FREE:.1f} GiB free", cure)


def _clock(told: str, now: datetime) -> Check:
    if not (told.isascii() and told.isdigit()):
        return Check("clock", False, "not told", "date +%s should print seconds")
    ahead = int(told) - int(now.timestamp())
    ok = abs(ahead) <= CLOCK
    cure = "" if ok else "turn on time synchronisation (timedatectl set-ntp true)"
    return Check("clock", ok, f"{abs(ahead)} s {'ahead' if ahead > 0 else 'behind'}", cure)
