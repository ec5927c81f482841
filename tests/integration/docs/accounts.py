"""Every block of every how-to page: which test executes it, or why no test can.

A page that gains, loses or moves a block fails `tests/unit/docs/test_howto_accounts.py` until this
table says so too. Each test of a page ends with `unexecuted`, so a row here is no promise alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tests.integration.docs.pages import blocks

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


@dataclass(frozen=True)
class NotExecuted:
    """A block that cannot be executed here."""

    opening: str
    reason: str


# The test that executes a page.
TESTS: Final[Mapping[str, str]] = {
    "air-gapped": "tests/integration/docs/test_air_gapped.py",
    "application": "tests/integration/docs/test_application.py",
    "backup": "tests/integration/docs/test_backup.py",
    "chart": "tests/integration/docs/test_chart.py",
    "containers": "tests/integration/containers/test_image.py",
    "new-node": "tests/integration/docs/test_new_node.py",
    "own-forge": "tests/integration/docs/test_own_forge.py",
    "postgresql": "tests/integration/docs/test_postgresql.py",
    "rollback": "tests/integration/docs/test_rollback.py",
    "secrets": "tests/integration/docs/test_secrets.py",
    "sign-in": "tests/integration/docs/test_sign_in.py",
    "tls": "tests/integration/docs/test_tls.py",
    "upgrade": "tests/integration/docs/test_upgrade.py",
    "windows": "tests/integration/docs/test_windows.py",
}

# The opening of each block, in the order of the page.
BLOCKS: Final[Mapping[str, tuple[str | NotExecuted, ...]]] = {
    "air-gapped": ("[[registries]]", "[[registries]]", "[site]", "$ margrave runner once"),
    "application": (
        "apps/",
        "apiVersion: v1",
        "services:",
        "$ margrave app lint apps/",
        "$ margrave source add apps",
    ),
    "backup": (
        "$ margrave controller backup",
        "$ margrave controller restore",
        "$ margrave controller rebuild",
    ),
    "chart": (
        "apps/",
        "apiVersion: v1",
        "$ margrave app lint examples/apps/showcase",
        "$ margrave deployment plan thermo",
    ),
    "containers": (
        "$ docker build",
        "$ export MARGRAVE_TOKEN",
        "$ docker compose exec -T runner margrave node add",
        NotExecuted(
            "$ sudo systemctl status margrave-controller.service",
            "it looks at units that the roles controller and site_runner install on Debian; these"
            " need packages of Debian and a package index, which lab nodes have no way to. The"
            " molecule scenarios of both roles (tests/integration/content/test_scenarios.py)"
            " install the units on a node and check that they are active",
        ),
    ),
    "new-node": (
        "$ margrave node add --site harbor",
        "$ margrave node list",
        "$ margrave node add --site harbor --key-in-place --replace",
        '{"action": "drain"',
        "$ margrave node drain press-1",
    ),
    "own-forge": (
        "$ git -C /srv/margrave",
        "[git]",
        "$ margrave lint deployments/",
        "$ margrave controller accept",
    ),
    "postgresql": (
        "$ sudo -u postgres createuser",
        "[database]",
        "$ margrave controller migrate",
        "$ margrave controller restore",
    ),
    "rollback": (
        "$ margrave deployment show storefront",
        "$ margrave deployment release storefront",
        "$ margrave deployment rollback storefront",
        "$ margrave deployment cancel storefront",
        "$ margrave site pause harbor",
    ),
    "secrets": (
        "$ install -d -m 700",
        "[secrets]",
        "$ margrave deployment plan storefront",
        "$ margrave deployment retry storefront",
    ),
    "sign-in": ("[http]", "$ margrave user list"),
    "tls": (
        "[http]",
        "[http]",
        "[controller]",
        "$ SSL_CERT_FILE=",
        "[controller]",
        "$ margrave login https://margrave.example:8800 --cert",
    ),
    "upgrade": (
        "$ margrave controller migrate",
        "$ margrave policy check",
        "$ margrave doctor",
    ),
    "windows": (
        "timezone: Europe/Oslo",
        "spec:",
        "$ margrave deployment explain storefront",
        "$ margrave deployment update storefront",
    ),
}


def unexecuted(page: str, executed: Collection[str]) -> list[str]:
    """Return the commands and texts of a page that were not executed and are not listed."""
    entries = zip(blocks(page), BLOCKS[page], strict=True)
    wanted = [block for block, entry in entries if isinstance(entry, str)]
    return [part for block in wanted for part in block.parts() if part not in executed]
