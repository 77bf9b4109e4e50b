"""Read Parquet files with pyarrow, if it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

from transom.connectors.files.records import FileRecord
from transom.errors import DataError, UsageError, install_hint

if TYPE_CHECKING:
    import pyarrow


def read_parquet(path: str) -> Iterator[FileRecord]:
    """Read a Parquet file: yield its column names, and then the Python values of each row."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        message = f"reading {path} needs pyarrow"
        raise UsageError(message, hint=install_hint("parquet")) from error
    try:
        with parquet.ParquetFile(path) as file:
            columns = [str(name) for name in file.schema_arrow.names]
            yield FileRecord(0, list[object](columns))
            number = 0
            for batch in file.iter_batches():
                cells = [python_values(column, arrow) for column in batch.columns]
                for values in zip(*cells):
                    number += 1
                    yield FileRecord(number, list(values))
    except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:
        hint = "add format: csv or jsonl to the source if it is one of these"
        raise DataError("cannot read the file as Parquet", detail=str(error), hint=hint, source=path) from error


def parquet_columns(path: str) -> tuple[tuple[str, ...], str]:
    """Return the column names of a Parquet file, and its schema as text, by which the schemas of files are compared."""
    import pyarrow as arrow
    from pyarrow import parquet

    try:
        schema = parquet.read_schema(path).remove_metadata()
    except (arrow.ArrowException, OSError, ValueError) as error:
        hint = "add format: csv or jsonl to the source if it is one of these"
        raise DataError("cannot read the file as Parquet", detail=str(error), hint=hint, source=path) from error
    return tuple(schema.names), str(schema)


def python_values(column: pyarrow.Array, arrow: ModuleType) -> list[object]:
    """The values of an Arrow column as Python objects; nanosecond timestamps are truncated to microseconds."""
    arrow_type = column.type
    if arrow.types.is_timestamp(arrow_type) and arrow_type.unit == "ns":
        column = column.cast(arrow.timestamp("us", arrow_type.tz), safe=False)
    values: list[object] = column.to_pylist()
    return values
