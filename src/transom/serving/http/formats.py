"""Rows of answers as JSON, CSV and Arrow."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from transom.errors import UsageError
from transom.serving.answers import AnswerRows
from transom.serving.json_text import plain_value, to_json

MEDIA_TYPES = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "arrow": "application/vnd.apache.arrow.stream",
}


def encode(answers: AnswerRows, format: str) -> bytes:
    """Return rows in a format: json, csv with a header, or a stream of Arrow; UsageError if Arrow lacks a type."""
    if format == "json":
        return to_json({"columns": answers.columns, "rows": answers.rows, "more": answers.more})
    if format == "csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns = answers.columns
        writer.writerow(columns)
        writer.writerows([_cell(row.get(name)) for name in columns] for row in answers.rows)
        return text.getvalue().encode()
    return _arrow(answers)


def _cell(value: Any) -> Any:
    """Return a value as a cell of CSV; NULL is empty."""
    plain = plain_value(value)
    if isinstance(plain, list | dict):
        return json.dumps(plain, ensure_ascii=False)
    return plain if not isinstance(plain, bool) else str(plain).lower()


def _arrow(answers: AnswerRows) -> bytes:
    """Return rows as a stream of Arrow; types of JSON lines are those of the values."""
    import pyarrow as pa

    try:
        table = pa.Table.from_pylist(answers.rows, schema=answers.schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise UsageError(
            "the rows have no types of Arrow", detail=str(error).splitlines()[0], hint="ask for format=json"
        ) from error
    output = pa.BufferOutputStream()
    with pa.ipc.new_stream(output, table.schema) as writer:
        writer.write_table(table)
    return bytes(output.getvalue())
