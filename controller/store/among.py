"""Rows whose column has one of many values, asked for with one parameter.

A thousand parameters of their own cost more to write and to read than the rows that they find.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import any_, bindparam, func, select
from sqlalchemy.dialects.postgresql import ARRAY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session


def among(session: Session, column: Any, values: Iterable[str | int]) -> ColumnElement[bool]:
    """Whether the column has one of the values."""
    listed = list(values)
    found: ColumnElement[bool]
    if session.get_bind().dialect.name == "postgresql":
        found = column == any_(bindparam(None, listed, type_=ARRAY(column.type)))
    else:
        told = func.json_each(json.dumps(listed)).table_valued("value")
        found = column.in_(select(told.c.value))
    return found
