"""An index of trigrams over what deployments are searched by, as each database has one."""

from alembic import op

revision = "0006"
down_revision = "0005"

# Of its own narrow rows: the table of deployments has the documents in it.
_SQLITE = (
    "CREATE VIRTUAL TABLE deployment_search USING fts5(words, tokenize = 'trigram')",
    "INSERT INTO deployment_search (rowid, words) SELECT key, search FROM deployments",
    """
    CREATE TRIGGER deployment_search_new AFTER INSERT ON deployments BEGIN
        INSERT INTO deployment_search (rowid, words) VALUES (new.key, new.search);
    END
    """,
    """
    CREATE TRIGGER deployment_search_gone AFTER DELETE ON deployments BEGIN
        DELETE FROM deployment_search WHERE rowid = old.key;
    END
    """,
    """
    CREATE TRIGGER deployment_search_changed
    AFTER UPDATE OF name, app, site, id ON deployments BEGIN
        UPDATE deployment_search SET words = new.search WHERE rowid = new.key;
    END
    """,
)
# Searching works without the extension too, by looking at every row.
_POSTGRESQL = """
DO $$ BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    CREATE INDEX deployment_search ON deployments USING gin (search gin_trgm_ops);
EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN
    RAISE NOTICE 'pg_trgm cannot be had here: searching deployments takes longer';
END $$
"""


def upgrade() -> None:
    """Make the index, and on SQLite what keeps it in step."""
    if op.get_bind().dialect.name == "sqlite":
        for statement in _SQLITE:
            op.execute(statement)
    else:
        op.execute(_POSTGRESQL)
