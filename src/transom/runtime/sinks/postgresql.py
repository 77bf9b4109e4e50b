"""COPY rows into a PostgreSQL table, skipping and returning those that the table refuses; read its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transom.catalog.extras import require_library
from transom.runtime.sinks.dead_letters import RefusedRow


def copy_rows(
    psycopg: Any, connection: Any, copy: Any, column_names: Sequence[str], rows: Sequence[Sequence[Any]]
) -> list[RefusedRow]:
    """Run the COPY statement `copy` of PostgreSQL for rows; return the refused rows, which bisection finds.

    `column_names` are the columns of the rows. A row is refused if a value cannot be stored (a NUL in text), does not
    fit its column or violates a constraint.
    """
    refused: list[RefusedRow] = []
    parts = [rows] if rows else []
    while parts:
        part = parts.pop()
        problem = _copy_error(psycopg, connection, copy, part)
        if problem is None:
            continue
        if len(part) == 1:
            refused.append(RefusedRow(dict(zip(column_names, part[0], strict=True)), problem))
            continue
        middle = len(part) // 2
        parts += [part[middle:], part[:middle]]
    return refused


def _copy_error(psycopg: Any, connection: Any, copy: Any, rows: Sequence[Sequence[Any]]) -> str | None:
    """Run the COPY statement `copy` in a savepoint; return None on success, else the error's text, after a rollback."""
    try:
        with connection.transaction(), connection.cursor() as cursor, cursor.copy(copy) as stream:
            for row in rows:
                stream.write_row(row)
    except (psycopg.DataError, psycopg.IntegrityError, UnicodeEncodeError) as error:
        message = getattr(getattr(error, "diag", None), "message_primary", None)
        return str(message or error).partition("\n")[0]
    return None


def table_columns(connection: Any, table: str) -> list[str] | None:
    """Return the names of the columns of a PostgreSQL table; None if there is no such table."""
    sql = require_library("psycopg", "postgresql", "postgresql").sql
    target = sql.Identifier(*table.split("."))
    if connection.execute("SELECT to_regclass(%s)", (target.as_string(connection),)).fetchone()[0] is None:
        return None
    empty = connection.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(target))
    return [column.name for column in empty.description]
