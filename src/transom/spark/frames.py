"""What the frames between operators look like, and what a run is told.

Columns of a frame: `tick` (marked), `c0`, `c1`, ... the values; `g` the tick at which a stay is over; `w` and `p` the
window of a row and whether it is more than the word that the window exists; `o` what puts rows of one tick or window in
order; `i` the index; `n` the sign of a change; `line` keeps the windows of keys apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.algebra.expressions import Expression, parts
from transom.model.schema import Attribute, Schema
from transom.model.time import Calendar
from transom.model.types import Type
from transom.spark import expressions, terms
from transom.spark.balance import RowCounts
from transom.spark.lateness import Lateness
from transom.spark.marks import TICK, TickTime
from transom.spark.rejected import Rejected

FOREVER = 1 << 60
"""The tick at which what has no known end is gone."""

_NUMBERS = count()
"""Numbers for the names of metrics: Spark refuses a query that has a name twice, for example a union of two answers."""


@dataclass(frozen=True, slots=True)
class LoweringContext:
    """What a lowering is told: the session, time, the frames of the sources, and whether they are live.

    `shared` has the streams that are read once for several nodes; None until the first of them asks. `counts` counts
    the rows of sources. `lateness` tells late rows, except in `settled` sources, whose readers have told them already.
    `source_of` has the extent of a stream that goes by another name. `rows_until` is the last tick of rows of which
    statements are made, where the statements themselves have no end.
    """

    spark: SparkSession
    calendar: Calendar
    streams: Mapping[str, DataFrame]
    tables: Mapping[str, DataFrame]
    live: bool
    start: int = 0
    until: int | None = None
    delays: Mapping[str, int] = field(default_factory=dict)
    beats: Mapping[str, DataFrame] = field(default_factory=dict)
    approximate: bool = False
    kernel: bool = False
    rejected: Rejected = field(default_factory=Rejected)
    counter: Iterator[int] = _NUMBERS
    shared: dict[str, DataFrame | None] = field(default_factory=dict)
    counts: RowCounts = field(default_factory=RowCounts)
    lateness: Lateness | None = None
    settled: frozenset[str] = frozenset()
    source_of: Mapping[str, str] = field(default_factory=dict)
    rows_until: int | None = None

    def for_rows(self) -> LoweringContext:
        """The same for rows of which statements are made: they come to an end in every replay."""
        return self if self.until is not None else replace(self, until=self.rows_until)

    @property
    def time(self) -> TickTime:
        """Ticks as columns."""
        return TickTime(self.calendar)

    def at_most(self, gone: Column) -> Column:
        """The tick at which a row is gone, or the one after `until`: nobody asks for later windows."""
        return gone if self.until is None else F.least(gone, F.lit(self.until + 1))

    def in_time(self, frame: DataFrame) -> DataFrame:
        """The rows between start and until."""
        return frame.where(self.is_in_time())

    def is_in_time(self) -> Column:
        """Whether the tick of a row lies between start and until."""
        tick = self.time.number()
        begun = tick >= F.lit(self.start)
        return begun if self.until is None else begun & (tick <= F.lit(self.until))


def names(schema: Schema) -> list[str]:
    """The columns that hold the values of a schema."""
    return [f"c{place}" for place in range(len(schema))]


def values(schema: Schema) -> list[Column]:
    """Those columns."""
    return [F.col(name) for name in names(schema)]


def columns_of(schema: Schema) -> dict[str, Column]:
    """Those columns by the names of the attributes."""
    return {attribute.name: F.col(f"c{place}") for place, attribute in enumerate(schema)}


def reader(schema: Schema, prefix: str = "c") -> Callable[[Attribute], Column]:
    """The column of each attribute."""
    return lambda attribute: F.col(f"{prefix}{schema.position(attribute)}")


def value(expression: Expression, schema: Schema, run: LoweringContext) -> Column:
    """An expression over a frame; one over terms is computed by the functions of terms."""
    if _reads_terms(expression):
        return terms.value(expression, columns_of(schema))
    return expressions.lower(expression, reader(schema), lambda tag: _tag(tag, run))


def holds(predicate: Expression, schema: Schema, run: LoweringContext) -> Column:
    """Whether a predicate is true of a row of a frame."""
    if _reads_terms(predicate):
        return terms.holds(predicate, columns_of(schema))
    return F.coalesce(value(predicate, schema, run), F.lit(False))


def _reads_terms(expression: Expression) -> bool:
    return any(part.type is Type.TERM for part in parts(expression))


def _tag(tag: str, run: LoweringContext) -> Column:
    return run.time.number() if tag == "tick" else F.col("i")


def carried(frame: DataFrame, *more: str) -> list[Column]:
    """The columns that travel with the values: tick, line, and those of some names that the frame has."""
    kept = [TICK, "line", *more]
    return [F.col(name) for name in kept if name in frame.columns]


def without_markers(frame: DataFrame) -> DataFrame:
    """Rows without window markers."""
    return frame.where("p").drop("p") if "p" in frame.columns else frame


def select_new(frame: DataFrame, kept: Sequence[Column], made: Mapping[str, Column]) -> DataFrame:
    """Some columns of a frame, then new ones, which may take the names of columns that they are computed from.

    The new columns get their names in a second projection. In one projection Spark would resolve a column in the body
    of a lambda to an earlier alias of that name, before it looks for it in the input (lateral column aliases).
    """
    rows = frame.select(*kept, *(column.alias(f"new_{name}") for name, column in made.items()))
    return rows.withColumnsRenamed({f"new_{name}": name for name in made})
