"""Many rows of one table at once, as fast as the database takes them.

SQLAlchemy's own way binds every value of every row by itself, which costs more than the database
does. Here a column's type is asked once for what it does with a value, and the rows go to the
driver as they are: by executemany on SQLite, by COPY or as one JSON text on PostgreSQL.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import to_json
from sqlalchemy import JSON, DateTime, Enum
from sqlalchemy.exc import DBAPIError

from controller.store.columns import Utc, table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import Connection, Dialect, Table
    from sqlalchemy.orm import Session

    from controller.store.columns import Base

    Row = Mapping[str, Any]

_POSTGRESQL: Final = "postgresql"
_REPEATING: Final = (DateTime, Utc, Enum)  # few different values in many rows


def append(session: Session, kind: type[Base], rows: Sequence[Row]) -> None:
    """Insert rows in this order; all have the same keys, and no default is filled in."""
    if not rows:
        return
    connection, into = session.connection(), table(kind)
    if connection.dialect.name == _POSTGRESQL:
        _copy(connection, into, rows)
        return
    names = tuple(rows[0])
    marks = ", ".join("?" * len(names))
    listed = _quoted(connection, names)
    statement = f"INSERT INTO {into.name} ({listed}) VALUES ({marks})"  # noqa: S608 — our names
    connection.exec_driver_sql(statement, _values(into, names, rows, connection.dialect))


def put(
    session: Session,
    kind: type[Base],
    rows: Sequence[Row],
    key: Sequence[str],
    *,
    adding: Sequence[str] = (),
) -> None:
    """Insert rows, or overwrite those that have the same key; no key stands twice in `rows`.

    What is in `adding` is added to what stands there instead.
    """
    if not rows:
        return
    connection, into = session.connection(), table(kind)
    names = tuple(rows[0])
    quoted = connection.dialect.identifier_preparer.quote
    setting = ", ".join(
        f"{quoted(one)} = "
        + (f"{into.name}.{quoted(one)} + " if one in adding else "")
        + f"excluded.{quoted(one)}"
        for one in names
        if one not in key
    )
    listed = _quoted(connection, names)
    end = f"ON CONFLICT ({_quoted(connection, key)}) DO UPDATE SET {setting}"
    if connection.dialect.name == _POSTGRESQL:
        read, told = _recordset(into, names, connection.dialect)
        source = f"SELECT {', '.join(read.values())} FROM {told}"  # noqa: S608
        given: Any = _as_json(into, rows)
    else:
        source = f"VALUES ({', '.join('?' * len(names))})"
        given = _values(into, names, rows, connection.dialect)
    statement = f"INSERT INTO {into.name} ({listed}) {source} {end}"
    connection.exec_driver_sql(statement, given)


def change(session: Session, kind: type[Base], rows: Sequence[Row], key: str) -> None:
    """Overwrite what the rows name of rows that are there; all have the same keys."""
    if not rows:
        return
    connection, into = session.connection(), table(kind)
    quoted = connection.dialect.identifier_preparer.quote
    names = (*(one for one in rows[0] if one != key), key)
    own = quoted(key)
    if connection.dialect.name == _POSTGRESQL:
        read, told = _recordset(into, names, connection.dialect)
        setting = ", ".join(f"{quoted(one)} = {read[one]}" for one in names[:-1])
        end = f"FROM {told} WHERE {into.name}.{own} = told.{own}"
        given: Any = _as_json(into, rows)
    else:
        setting = ", ".join(f"{quoted(one)} = ?" for one in names[:-1])
        end = f"WHERE {own} = ?"
        given = _values(into, names, rows, connection.dialect)
    connection.exec_driver_sql(f"UPDATE {into.name} SET {setting} {end}", given)  # noqa: S608


def _recordset(into: Table, names: Sequence[str], dialect: Dialect) -> tuple[dict[str, str], str]:
    """How PostgreSQL reads rows of one JSON text: each column's expression, and their source."""
    quoted = dialect.identifier_preparer.quote
    read, kinds = {}, []
    for name in names:
        kind = into.columns[name].type
        # JSON in JSON stays a text until it is read: a text alone may hold the character NUL
        own = "text" if isinstance(kind, JSON) else kind.compile(dialect)
        read[name] = f"told.{quoted(name)}" + ("::json" if isinstance(kind, JSON) else "")
        kinds.append(f"{quoted(name)} {own}")
    return read, f"json_to_recordset(%s::json) AS told({', '.join(kinds)})"


def _as_json(into: Table, rows: Sequence[Row]) -> tuple[str]:
    nested = {one.name for one in into.columns if isinstance(one.type, JSON)}
    texts = {key: iter(_texts([row[key] for row in rows])) for key in nested & rows[0].keys()}
    plain = [
        {key: next(texts[key]) if key in texts else one for key, one in row.items()} for row in rows
    ]
    return (json.dumps(plain, default=_plain),)


def _copy(connection: Connection, into: Table, rows: Sequence[Row]) -> None:
    names = tuple(rows[0])
    statement = f"COPY {into.name} ({_quoted(connection, names)}) FROM STDIN"
    driver = connection.connection.driver_connection
    known = connection.dialect.dbapi
    assert driver is not None
    assert known is not None
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as told:
            for row in _values(into, names, rows, connection.dialect):
                told.write_row(row)
    except known.Error as error:  # the one place that speaks to the driver: as SQLAlchemy says it
        raise DBAPIError.instance(statement, None, error, known.Error) from error


def _values(
    into: Table, names: tuple[str, ...], rows: Sequence[Row], dialect: Dialect
) -> list[tuple[Any, ...]]:
    """Rows as the driver takes them, a column at a time."""
    pick: Callable[[Row], tuple[Any, ...]] = itemgetter(*names)
    columns: list[Sequence[Any]] = list(zip(*map(pick, rows), strict=True))
    for number, (process, repeating) in enumerate(_processes(into, names, dialect)):
        if process is _text:
            columns[number] = _texts(columns[number])
        elif repeating:
            known = {value: process(value) for value in set(columns[number])}
            columns[number] = [known[value] for value in columns[number]]
        elif process is not None:
            columns[number] = [process(value) for value in columns[number]]
    return list(zip(*columns, strict=True))


@lru_cache(maxsize=64)
def _processes(into: Table, names: tuple[str, ...], dialect: Dialect) -> tuple[Any, ...]:
    """What each column's type does with a value, and whether its values are few."""
    found: list[tuple[Any, bool]] = []
    for name in names:
        kind = into.columns[name].type
        if isinstance(kind, JSON):
            found.append((_text, False))
            continue
        process = kind.dialect_impl(dialect).bind_processor(dialect)
        found.append((process, process is not None and isinstance(kind, _REPEATING)))
    return tuple(found)


def _quoted(connection: Connection, names: Sequence[str]) -> str:
    return ", ".join(map(connection.dialect.identifier_preparer.quote, names))


def _texts(values: Sequence[Any]) -> list[str | None]:
    """JSON of each; what is one and the same object in many rows is written once."""
    known: dict[int, str | None] = {}
    for value in values:
        if id(value) not in known:
            known[id(value)] = _text(value)
    return [known[id(value)] for value in values]


def _text(value: Any) -> str | None:
    return None if value is None else to_json(value).decode()


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None).isoformat()
    raise TypeError(f"{type(value).__name__} is not JSON")
