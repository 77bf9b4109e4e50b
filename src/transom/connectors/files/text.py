"""CSV files: a header, commas, and an empty cell for NULL."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from transom.catalog.ticks import read_value
from transom.catalog.wording import show
from transom.connectors.files.records import Record
from transom.errors import DataError
from transom.model.types import Type, Value, read_text


def read_csv(path: str) -> Iterator[Record]:
    """The header of a CSV file and then its rows; cells are text, an empty one is None, empty lines are passed over."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = next(reader, None)
            if not header:
                raise DataError("no header", hint="the first line names the columns", source=path)
            columns = [name.strip() for name in header]
            yield Record(1, list[object](columns))
            for cells in reader:
                if not cells:
                    continue
                if len(cells) != len(columns):
                    message = f"line {reader.line_num}: {len(cells)} cells, the header has {len(columns)}"
                    raise DataError(message, source=path)
                yield Record(reader.line_num, [cell or None for cell in cells])
    except UnicodeDecodeError as error:
        raise DataError("the file is not UTF-8 text", source=path) from error
    except csv.Error as error:
        raise DataError("the file is not CSV", detail=str(error), source=path) from error


def read_cell(cell: object, kind: Type) -> Value:
    """The value of a cell; ValueError where the text says no such value."""
    if not isinstance(cell, str) or kind is Type.TIMESTAMP:
        return read_value(cell, kind)
    try:
        return read_text(cell, kind)
    except (ValueError, ArithmeticError) as error:
        raise ValueError(f"{show(cell)} is not of type {kind}") from error
