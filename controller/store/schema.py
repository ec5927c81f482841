"""Forward migrations with Alembic, and whether a database fits this version."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError

from margrave.errors import Refused

if TYPE_CHECKING:
    from sqlalchemy import Engine

_SCRIPTS = Path(__file__).parent / "migrations"


def upgrade(engine: Engine) -> None:
    """Bring the database to the newest schema."""
    with engine.begin() as connection:
        config = _config()
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            found = MigrationContext.configure(connection).get_current_revision()
            words = f"the database has schema {found}, which this version does not know"
            raise Refused(words, "use the version of margrave that made it") from error


def problem(engine: Engine) -> str:
    """Why the schema does not fit, with the cure; empty when it fits."""
    wanted = ScriptDirectory.from_config(_config()).get_current_head()
    with engine.connect() as connection:
        found = MigrationContext.configure(connection).get_current_revision()
    if found == wanted:
        return ""
    if found is None:
        return "the database has no tables yet (run margrave controller migrate)"
    return (
        f"the database has schema {found}, this version needs {wanted}"
        " (run margrave controller migrate; a newer schema needs the newer version)"
    )


def _config() -> Config:
    config = Config()
    # Alembic reads % as interpolation.
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    return config
