"""Forward migrations with Alembic, and whether a database fits this version."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import inspect, text

from margrave.errors import Refused

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection, Engine

_SCRIPTS: Final = Path(__file__).parent / "migrations"
# Each migration's file begins with its number: to compare, nobody has to load Alembic, which
# would be an eighth of a controller's memory.
KNOWN: Final = sorted(path.name[:4] for path in (_SCRIPTS / "versions").glob("[0-9]*.py"))
NEWEST: Final = KNOWN[-1]


def upgrade(engine: Engine) -> None:
    """Bring the database to the newest schema."""
    from alembic import command
    from alembic.util import CommandError

    with engine.begin() as connection:
        config = _config()
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            words = (
                f"the database has schema {_found(connection)}, which this version does not know"
            )
            raise Refused(words, "use the version of margrave that made it") from error


def problem(engine: Engine) -> str:
    """Why the schema does not fit, with the cure; empty when it fits."""
    with engine.connect() as connection:
        found = _found(connection)
    if found == NEWEST:
        return ""
    if found is None:
        return "the database has no tables yet (run margrave controller migrate)"
    older = "run margrave controller migrate"
    cure = older if found in KNOWN else "use the version of margrave that made it"
    return f"the database has schema {found}, this version needs {NEWEST} ({cure})"


def _found(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return found


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    # Alembic reads % as interpolation.
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    return config
