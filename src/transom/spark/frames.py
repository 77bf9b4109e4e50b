"""Columns of the frames between operators, and the context of a lowering.

`columns.py` says what each column is; values are in `c0`, `c1`, ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.algebra.expressions.expression import Expression, subexpressions
from transom.model.schema import Attribute, Schema
from transom.model.time import Calendar
from transom.model.types import Type
from transom.physical.nodes.node import PhysicalNode
from transom.spark.columns import INDEX, IS_ROW, TICK, WINDOW_KEY
from transom.spark.event_time import TickTime
from transom.spark.expressions import lower
from transom.spark.input.balance import RowCounts
from transom.spark.input.lateness import Lateness
from transom.spark.input.rejected import RejectedRows
from transom.spark.rdf import expressions as terms

FOREVER = 1 << 60
"""The end of a validity interval whose end is unknown."""

_NUMBERS = count()
"""Suffixes that make metric names unique: Spark rejects a query with a repeated name, e.g. a union of two results."""


@dataclass(frozen=True, slots=True)
class LoweringContext:
    """Context of a lowering: the session, the calendar, the source frames, and whether the run is live.

    `shared_scans` holds the streams that several nodes read from one scan; the value is None until the first node reads
    it. `counts` counts the rows of sources. `lateness` detects late rows, except in `lateness_checked` sources, whose
    readers have done so. `source_of` maps a renamed stream to its extent. `rows_until` is the last tick of rows that
    are converted to statements, used where `until` is None. `nodes` collects the lowered nodes of a live run; the index
    of a node is its number.
    """

    spark: SparkSession
    calendar: Calendar
    streams: Mapping[str, DataFrame]
    tables: Mapping[str, DataFrame]
    live: bool
    start: int = 0
    until: int | None = None
    delays: Mapping[str, int] = field(default_factory=dict)
    heartbeats: Mapping[str, DataFrame] = field(default_factory=dict)
    approximate: bool = False
    kernel: bool = False
    rejected: RejectedRows = field(default_factory=RejectedRows)
    metric_numbers: Iterator[int] = _NUMBERS
    shared_scans: dict[str, DataFrame | None] = field(default_factory=dict)
    counts: RowCounts = field(default_factory=RowCounts)
    lateness: Lateness | None = None
    lateness_checked: frozenset[str] = frozenset()
    source_of: Mapping[str, str] = field(default_factory=dict)
    rows_until: int | None = None
    nodes: list[PhysicalNode] = field(default_factory=list)

    def until_last_row(self) -> LoweringContext:
        """Return the context with `until`, if None, set to the last tick of the rows converted to RDF."""
        return self if self.until is not None else replace(self, until=self.rows_until)

    @property
    def time(self) -> TickTime:
        """The converter between ticks and timestamp columns, which uses this run's calendar."""
        return TickTime(self.calendar)

    def end_within_run(self, end: Column) -> Column:
        """Limit a row's end tick to `until + 1`, the tick after the run's last; unchanged if a run has no end."""
        return end if self.until is None else F.least(end, F.lit(self.until + 1))

    def within_run(self, frame: DataFrame) -> DataFrame:
        """Keep the rows whose tick is between `start` and `until`, both inclusive."""
        return frame.where(self.is_within_run())

    def is_within_run(self) -> Column:
        """Return a boolean column: whether a row's tick lies in the run, `start` to `until` (None: no end)."""
        tick = self.time.tick_number()
        has_started = tick >= F.lit(self.start)
        return has_started if self.until is None else has_started & (tick <= F.lit(self.until))


def value_names(schema: Schema) -> list[str]:
    """The names of the value columns of a schema: `c0`, `c1`, ..."""
    return [f"c{n}" for n in range(len(schema))]


def value_columns(schema: Schema) -> list[Column]:
    """The value columns `c0`, `c1`, ... of a frame, one per attribute of the schema."""
    return [F.col(name) for name in value_names(schema)]


def columns_by_name(schema: Schema) -> dict[str, Column]:
    """The value columns `c0`, `c1`, ... of a frame, by the names of the schema's attributes."""
    return {attribute.name: F.col(f"c{n}") for n, attribute in enumerate(schema)}


def column_reader(schema: Schema, prefix: str = "c") -> Callable[[Attribute], Column]:
    """Return a function from an attribute to its value column: `prefix` and the column's number, such as `c0`."""
    return lambda attribute: F.col(f"{prefix}{schema.position(attribute)}")


def lower_expression(expression: Expression, schema: Schema, run: LoweringContext) -> Column:
    """Translate an expression over a frame's attributes to a Spark column; RDF terms use the SPARQL functions."""
    if _reads_terms(expression):
        return terms.lower_to_column(expression, columns_by_name(schema))
    return lower.lower(expression, column_reader(schema), lambda tag: _tag_column(tag, run))


def holds(predicate: Expression, schema: Schema, run: LoweringContext) -> Column:
    """Whether a predicate is true for a row of a frame; NULL counts as false."""
    if _reads_terms(predicate):
        return terms.holds(predicate, columns_by_name(schema))
    return F.coalesce(lower_expression(predicate, schema, run), F.lit(False))


def _reads_terms(expression: Expression) -> bool:
    """Whether an expression, or a part of it, is an RDF term, so that the SPARQL functions must evaluate it."""
    return any(part.type is Type.TERM for part in subexpressions(expression))


def _tag_column(tag: str, run: LoweringContext) -> Column:
    """Return the column with a row's tick number if `tag` is `tick`, otherwise its row number in the stream."""
    return run.time.tick_number() if tag == "tick" else F.col(INDEX)


def carried_columns(frame: DataFrame, *more: str) -> list[Column]:
    """The columns that an operator passes through: `tick`, `window_key` and those in `more`, if the frame has them."""
    names = [TICK, WINDOW_KEY, *more]
    return [F.col(name) for name in names if name in frame.columns]


def without_markers(frame: DataFrame) -> DataFrame:
    """Drop the marker rows of windows (`is_row` is false) and the column `is_row`, if the frame has it."""
    return frame.where(IS_ROW).drop(IS_ROW) if IS_ROW in frame.columns else frame


def select_computed(frame: DataFrame, carried: Sequence[Column], computed: Mapping[str, Column]) -> DataFrame:
    """Select the columns `carried` and the `computed` ones, whose new names may be those of input columns.

    The new columns get their names in a second projection. In one projection Spark would resolve a column in the body
    of a lambda to an earlier alias of that name, before it looks for it in the input (lateral column aliases).
    """
    rows = frame.select(*carried, *(column.alias(f"new_{name}") for name, column in computed.items()))
    return rows.withColumnsRenamed({f"new_{name}": name for name in computed})
