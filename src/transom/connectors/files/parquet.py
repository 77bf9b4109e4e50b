"""Parquet files, read with pyarrow if it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

from transom.connectors.files.records import Record
from transom.errors import DataError, UsageError

if TYPE_CHECKING:
    import pyarrow


def read_parquet(path: str) -> Iterator[Record]:
    """The columns of a Parquet file and then its rows, as Python values."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        message = f"reading {path} needs pyarrow"
        raise UsageError(message, hint="in a checkout of Transom: pip install '.[parquet]'") from error
    try:
        with parquet.ParquetFile(path) as file:
            columns = [str(name) for name in file.schema_arrow.names]
            yield Record(0, list[object](columns))
            number = 0
            for batch in file.iter_batches():
                cells = [_python(column, arrow) for column in batch.columns]
                for values in zip(*cells):
                    number += 1
                    yield Record(number, list(values))
    except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:
        hint = "add format: csv or jsonl to the source if it is one of these"
        raise DataError("cannot read the file as Parquet", detail=str(error), hint=hint, source=path) from error


def parquet_columns(path: str) -> tuple[tuple[str, ...], str]:
    """The columns of a Parquet file, and its schema as text."""
    import pyarrow as arrow
    from pyarrow import parquet

    try:
        schema = parquet.read_schema(path).remove_metadata()
    except (arrow.ArrowException, OSError, ValueError) as error:
        hint = "add format: csv or jsonl to the source if it is one of these"
        raise DataError("cannot read the file as Parquet", detail=str(error), hint=hint, source=path) from error
    return tuple(schema.names), str(schema)


def _python(column: pyarrow.Array, arrow: ModuleType) -> list[object]:
    """The values of a column; instants finer than a microsecond are cut, as Python has none."""
    kind = column.type
    if arrow.types.is_timestamp(kind) and kind.unit == "ns":
        column = column.cast(arrow.timestamp("us", kind.tz), safe=False)
    values: list[object] = column.to_pylist()
    return values
