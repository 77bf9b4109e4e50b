"""Read data frames that a program passes as rows, through the Arrow C stream interface: pandas, polars, pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.extras import require_library
from transom.catalog.reading.ticks import HintedError, read_tick
from transom.catalog.reading.wording import nearest
from transom.connectors.files.parquet import python_values
from transom.connectors.source_times import formatted_time, with_zone
from transom.errors import DataError
from transom.model.time import Calendar
from transom.model.types import Type

if TYPE_CHECKING:
    import pyarrow

_T = TypeVar("_T")
STATEMENT_COLUMNS = ("s", "p", "o")
"""The columns of a data frame of RDF statements."""
EMPTY = "empty"
"""Optional column of a table's data frame: true in a row that only marks that a version exists."""


def frame_rows(extent: Extent, rows: Any, calendar: Calendar) -> Any:
    """Convert a data frame to rows of an extent, or for a table to rows by tick; anything else is returned unchanged.

    DataError names the extent and the column that is missing or cannot be read, and the row of an invalid time.
    """
    if isinstance(rows, Mapping) and extent.kind is ExtentKind.STORED:
        return {tick: frame_rows(extent, content, calendar) for tick, content in rows.items()}
    if not hasattr(rows, "__arrow_c_stream__"):
        return rows
    frame = _Frame.read(extent, rows)
    cells = list(zip(*(frame.cells(name) for name in _value_columns(extent))))
    time = frame.time_column()
    if extent.kind is not ExtentKind.STORED:
        if time is None:
            raise DataError(
                f"the data frame for {extent.name} has no time column",
                hint="add a column `tick` of integers or timestamps, or name yours in the catalog (source: time)",
            )
        return [(tick, *values) for tick, values in zip(frame.ticks(time, calendar), cells)]
    if time is None or extent.holds_statements:
        return cells
    versions: dict[int, list[tuple[object, ...]]] = {}
    for tick, is_marker, values in zip(frame.ticks(time, calendar), frame.version_markers(), cells):
        version = versions.setdefault(tick, [])
        if not is_marker:
            version.append(values)
    return versions


def _value_columns(extent: Extent) -> Sequence[str]:
    """The columns that a data frame for an extent must have besides its time column."""
    return STATEMENT_COLUMNS if extent.holds_statements else extent.names


@dataclass(frozen=True, slots=True)
class _Frame:
    """A data frame as a pyarrow table, and the extent that it has the rows of."""

    extent: Extent
    table: pyarrow.Table
    arrow: Any

    @classmethod
    def read(cls, extent: Extent, data: Any) -> _Frame:
        """Read a data frame; UsageError if pyarrow is missing, DataError if the data do not fit Arrow's types."""
        arrow = require_library("pyarrow", "reading a data frame", "parquet")
        try:
            table = arrow.RecordBatchReader.from_stream(data).read_all()
        except (arrow.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise DataError(
                f"the data frame for {extent.name} cannot be read as Arrow data",
                detail=str(error),
                hint="let all values of a column have the same type",
            ) from error
        return cls(extent, table, arrow)

    def values(self, name: str) -> list[object]:
        """The values of a column as Python objects; DataError unless there is exactly one column of this name."""
        names = self.table.column_names
        if names.count(name) != 1:
            count = "no" if name not in names else "more than one"
            near = nearest(name, [other for other in names if other not in _value_columns(self.extent)])
            raise DataError(
                f"the data frame for {self.extent.name} has {count} column {name}",
                hint=f"rename {near} to {name}" if near and count == "no" else f"its columns are {', '.join(names)}",
            )
        try:
            return python_values(self.table.column(name), self.arrow)
        except (self.arrow.ArrowException, ValueError, OverflowError) as error:
            raise DataError(
                f"column {name} of the data frame for {self.extent.name} cannot be read", detail=str(error)
            ) from error

    def cells(self, name: str) -> list[object]:
        """The values of an attribute's column; local times of a timestamp become instants by the zone of the source."""
        values, zone = self.values(name), getattr(self.extent.source, "zone", None)
        if zone is None or all(a.name != name or a.type is not Type.TIMESTAMP for a in self.extent.schema):
            return values
        return [self._in_row(number, name, with_zone, value, zone) for number, value in enumerate(values, 1)]

    def time_column(self) -> str | None:
        """The name of the column with the times of the rows; None if there is none."""
        schema = self.table.schema
        timestamps = [field.name for field in schema if self.arrow.types.is_timestamp(field.type)]
        return self.extent.frame_time_column(schema.names, timestamps)

    def ticks(self, column: str, calendar: Calendar) -> Iterator[int]:
        """The ticks of the rows, from a column of ticks or times; DataError names the row of an invalid time.

        Texts have the `time_format` of the extent's source, and times without an offset are in its `zone`.
        """
        for number, value in enumerate(self.values(column), 1):
            yield self._in_row(number, column, self._tick, value, calendar)

    def _tick(self, value: object, calendar: Calendar) -> int:
        """The tick of a time in this frame, read as the extent's source declares; HintedError if it is invalid."""
        source = self.extent.source
        zone, time_format = getattr(source, "zone", None), getattr(source, "time_format", None)
        if isinstance(value, str) and time_format is not None:
            return read_tick(formatted_time(value, time_format, zone), calendar)
        return read_tick(with_zone(value, zone), calendar)

    def _in_row(self, number: int, column: str, read: Callable[..., _T], *arguments: Any) -> _T:
        """Call `read` with the arguments; DataError with the row number and the column instead of a HintedError."""
        try:
            return read(*arguments)
        except HintedError as error:
            raise DataError(f"row {number} of {self.extent.name}: {column}: {error}", hint=error.hint) from error

    def version_markers(self) -> list[object]:
        """A boolean for each row: whether it holds no data and only says that a version of the table exists."""
        if EMPTY in self.table.column_names and EMPTY not in self.extent.names:
            return self.values(EMPTY)
        return [False] * len(self.table)
