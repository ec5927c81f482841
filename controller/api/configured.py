"""The configuration as this controller runs with it; of a secret only whether it is set."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from controller.access.identity import Role
from controller.api.routes import Route
from margrave.secret import Secret
from margrave.sections import Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.api.call import Call

SET: Final = "set"
# Databases and remotes are named by URLs, and people write passwords into those.
_PASSWORD: Final = re.compile(r"(?<=://)([^/@\s:]*):[^/@\s]*@")


def shown(call: Call) -> dict[str, Any]:
    """GET /meta/settings: every key with its value, and whether that is the default."""
    settings = call.parts.settings
    return {"items": list(told(settings, type(settings)())), "next": None}


def told(section: Section, default: Section | None, above: str = "") -> Iterator[dict[str, Any]]:
    """The keys of a section and of those below it."""
    for name, info in type(section).model_fields.items():
        key, value = f"{above}{name}", getattr(section, name)
        usual = getattr(default, name, None)
        if isinstance(value, Section):
            yield from told(value, usual, f"{key}.")
        elif isinstance(value, tuple) and value and isinstance(value[0], Section):
            for number, one in enumerate(value):
                yield from told(one, None, f"{key}[{number}].")
        else:
            same = default is not None and value == usual
            about = info.description or ""
            yield {"key": key, "value": plain(value), "default": same, "about": about}


def plain(value: Any) -> Any:
    """A value that may be seen by an admin: no secret, and no password within a URL."""
    if isinstance(value, Secret):
        return SET
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return _PASSWORD.sub(r"\1:…@", str(value))


ROUTES: Final = (
    Route("GET", "/meta/settings", shown, Role.ADMIN, "The configuration that it runs with"),
)
