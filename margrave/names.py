"""Names of deployments, sites and nodes: DNS labels, and nothing else ever becomes a path.

And ids: of deployments, and of the requests that something is done for.
"""

from __future__ import annotations

import re
from typing import Final

from margrave.errors import Refused

LABEL: Final = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
UUID: Final = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
TRACE: Final = r"[A-Za-z0-9._:-]{1,128}"  # of a request: X-Request-Id
LABEL_CURE: Final = "small letters a-z, digits and inner dashes, 63 at most"

_LABEL = re.compile(LABEL)
_UUID = re.compile(UUID)
_TRACE = re.compile(TRACE)


def is_label(name: object) -> bool:
    """Whether the name may name a deployment, a site or a node."""
    return isinstance(name, str) and _LABEL.fullmatch(name) is not None


def is_uuid(text: object) -> bool:
    """Whether the text is a UUID written in hex groups of 8-4-4-4-12."""
    return isinstance(text, str) and _UUID.fullmatch(text) is not None


def is_trace(text: object) -> bool:
    """Whether the text may be the id that a request is followed by: it goes into logs as it is."""
    return isinstance(text, str) and _TRACE.fullmatch(text) is not None


def check_label(name: str, what: str) -> str:
    """The name itself, or Refused with the rule."""
    if not is_label(name):
        raise Refused(f'{what}: "{name}" is not a name', LABEL_CURE)
    return name
