"""Package policy: the table of allowed keys, its check, and the reader of authored files.

The table and the check (`compose_rows`, `compose_table`, `compose_values`, `compose_judges`,
`compose_bounds`, `compose_check`) and the rules for paths of other files (`compose_paths`) are
pure, need the standard library of Python 3.9 alone and are copied to the collection by
`python docs/generate.py`: nodes apply the same code to the model that Compose resolved. Everything
else here reads the files that an author wrote and may use `margrave`. Nothing here reads a disk,
runs a program or talks to a network, but for `reference`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from margrave.policy.compose_check import findings
from margrave.policy.compose_source import PROJECT, ROOT, Source
from margrave.policy.compose_values import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Finding", "compose_findings"]


def compose_findings(
    files: Mapping[str, str], variables: Mapping[str, str], policy: Mapping[str, Any]
) -> list[Finding]:
    """Return what the Compose files of a component ask for and a site's policy does not allow.

    `files` are the texts of the component's files by their path in it, `compose.yaml` among them,
    `variables` are the deployment's values, and `policy` has the keys of `policy` of a site's
    document; keys that are missing deny. A finding whose `opens` is None is allowed by no policy;
    files that cannot be resolved are findings, too. Services that only a profile starts, and
    volumes that no service uses, are checked like all others.
    """
    source = Source(files)
    model = source.model(variables)
    refused = findings(model, PROJECT, [ROOT], policy)
    told = [*source.findings, *refused]
    return [
        Finding(path, reason.replace(ROOT, "."), opens)
        for path, reason, opens in dict.fromkeys(told)
    ]
