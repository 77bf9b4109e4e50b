"""Source operators: sensed and pushed streams, stored tables, and rows written in the query."""

from __future__ import annotations

from dataclasses import dataclass, field

from transom.algebra.expressions.expression import Column
from transom.algebra.operator import Operator, Stream, Windows
from transom.errors import PlanError
from transom.model.schema import Schema
from transom.model.types import Value


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class StreamAcquire(Stream):
    """A sensed extent: one reading per site at every acquisition tick.

    Meaning  the acquisition ticks are 0 and all multiples of the extent's interval `every`. At each of these ticks,
             every site gives one tuple, in the order in which the catalog lists the sites. The index counts the tuples
             of the extent from 1.
    Bounds   a missing reading gives no tuple, and leaves no gap in the index (S37).
    Source   000 Fig. 2 acquire, acquireTuples.
    State    none.
    """

    extent: str
    every: int
    sites: tuple[Value, ...]
    schema: Schema = field()

    def __post_init__(self) -> None:
        """Raise PlanError unless the acquisition interval is at least one tick."""
        if self.every < 1:
            raise PlanError("an acquisition interval is at least one tick")


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class StreamReceive(Stream):
    """A pushed extent, whose tuples arrive on their own.

    Meaning  each tuple has the tick of its arrival, or the tick of its timestamp. The index counts the tuples from 1,
             in order of arrival.
    Bounds   a tick may have no tuple, one tuple or several tuples.
    Source   000 Sec. 6.1 receive.
    State    none.
    """

    extent: str
    schema: Schema = field()


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class StoredTable(Operator):
    """A stored extent: a table whose content may change from tick to tick.

    Meaning  at tick t, the table contains the rows of its newest version whose tick is at most t. Before its first
             version, the table is empty.
    Bounds   a window reads the table as it is at the end of a tick (S11).
    Source   000 Fig. 5 scanTable.
    State    none, because the table is stored outside the query.
    """

    extent: str
    schema: Schema = field()


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Values(Windows):
    """A relation whose rows are written in the query.

    Meaning  every row is a tuple at every tick. In the algebra, the Python value None stands for NULL.
    Bounds   duplicate rows are kept.
    Source   W3C 10.2; for GRAPH ?g, the translator adds a Values with the name of the stream (R10).
    State    none.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]

    def __post_init__(self) -> None:
        """Raise PlanError unless every row has one value per column."""
        width = len(self.schema)
        if any(len(row) != width for row in self.rows):
            raise PlanError("every row has as many terms as there are variables")

    @property
    def schema(self) -> Schema:
        """The columns for which rows in the query text give values."""
        return Schema(tuple(column.attribute for column in self.columns))
