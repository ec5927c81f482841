"""Commands that install an engine and Docker Compose, for each distribution. Pure."""

from __future__ import annotations

from typing import Final

# The oldest Docker Compose that the modules work with.
OLDEST_COMPOSE: Final = (2, 17)
_DOWNLOAD: Final = (
    "put docker-compose 2.17 or newer from https://github.com/docker/compose/releases at"
    " /usr/local/bin/docker-compose, or run the role edge_node with edge_node_compose"
)
_INSTALL: Final = {
    "debian": "apt-get install",
    "raspbian": "apt-get install",
    "ubuntu": "apt-get install",
    "fedora": "dnf install",
    "rhel": "dnf install",
    "centos": "dnf install",
    "rocky": "dnf install",
    "almalinux": "dnf install",
    "opensuse-leap": "zypper install",
    "opensuse-tumbleweed": "zypper install",
    "arch": "pacman -S",
    "alpine": "apk add",
}
# The package that has Compose 2.17 or newer, and the first release of the distribution with it.
_COMPOSE: Final = {
    "debian": ("docker-compose", (13,)),
    "raspbian": ("docker-compose", (13,)),
    "ubuntu": ("docker-compose-v2", (22, 4)),
    "fedora": ("docker-compose", (41,)),
    "opensuse-tumbleweed": ("docker-compose", ()),
    "arch": ("docker-compose", ()),
    "alpine": ("docker-cli-compose", (3, 18)),
}


def engine_cure(system: str) -> str:
    """Return how to install podman on a system (`ID VERSION_ID` of its os-release)."""
    install = _INSTALL.get(_name(system))
    command = f" ({install} podman)" if install else ""
    return f"install podman{command} and turn it on (systemctl enable --now podman.socket)"


def python_cure(system: str) -> str:
    """Return how to install Python on a system."""
    install = _INSTALL.get(_name(system))
    command = f" ({install} python3)" if install else ""
    return f"install Python 3.9 or newer as /usr/bin/python3{command}"


def compose_cure(system: str) -> str:
    """Return how to install a Compose that is new enough on a system."""
    package, first = _COMPOSE.get(_name(system), ("", ()))
    if package and numbers(system.partition(" ")[2]) >= first:
        return f"install Docker Compose 2.17 or newer ({_INSTALL[_name(system)]} {package})"
    packaged = f"; the package of {system} is too old or missing" if system.strip() else ""
    return f"{_DOWNLOAD}{packaged}"


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, up to the first part that is none."""
    found: list[int] = []
    for part in version.strip().lstrip("v").split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits.isascii() or not digits:
            break
        found.append(int(digits))
    return tuple(found)


def _name(system: str) -> str:
    return system.partition(" ")[0]
