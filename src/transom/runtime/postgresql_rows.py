"""Rows into a table of PostgreSQL: those that the table does not take are found and left out, all others go in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transom.runtime.sink_dead_letters import Refused


def copy_rows(
    psycopg: Any, connection: Any, copy: Any, names: Sequence[str], rows: Sequence[Sequence[Any]]
) -> list[Refused]:
    """COPY rows within the present transaction; the rows that the table refuses, found by halving.

    Refused are values that PostgreSQL has not (a NUL in text), that do not fit a column, or that break a constraint.
    """
    refused: list[Refused] = []
    waiting = [rows] if rows else []
    while waiting:
        part = waiting.pop()
        problem = _problem(psycopg, connection, copy, part)
        if problem is None:
            continue
        if len(part) == 1:
            refused.append(Refused(dict(zip(names, part[0], strict=True)), problem))
            continue
        middle = len(part) // 2
        waiting += [part[middle:], part[:middle]]
    return refused


def _problem(psycopg: Any, connection: Any, copy: Any, rows: Sequence[Sequence[Any]]) -> str | None:
    """COPY rows in a savepoint; why that failed, and then nothing is left of it."""
    try:
        with connection.transaction(), connection.cursor() as cursor, cursor.copy(copy) as stream:
            for row in rows:
                stream.write_row(row)
    except (psycopg.DataError, psycopg.IntegrityError, UnicodeEncodeError) as error:
        said = getattr(getattr(error, "diag", None), "message_primary", None)
        return str(said or error).partition("\n")[0]
    return None
