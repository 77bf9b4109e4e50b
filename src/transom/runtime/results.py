"""The results of one planned query: what a user gets, and the same as the reference engine has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.model.schema import Schema
from transom.model.time import Calendar
from transom.model.types import Type
from transom.physical.node import Physical
from transom.reference.sources import Inputs
from transom.runtime.options import RunOptions
from transom.spark.columns import quoted
from transom.spark.marks import TICK, TickTime
from transom.spark.result import OWN, column_names

AnswerType = TypeVar("AnswerType")
_PARTS = {
    "windows": "windows",
    "tagged-tuples": "tuples",
    "stream": "tuples",
    "solutions": "solutions",
    "sequences": "sequences",
    "triples": "statements",
    "boolean": "truth values",
}


@dataclass(frozen=True)
class Results(Generic[AnswerType]):
    """The results of one planned query. `own` are the columns of a result that are no attributes, `tick` aside."""

    plan: Physical
    columns: tuple[str, ...]
    kind: Any
    calendar: Calendar
    own: ClassVar[tuple[str, ...]] = OWN[1:]

    @property
    def parts(self) -> str:
        """What an answer has some of."""
        return _PARTS[self.kind]

    @property
    def names(self) -> list[str]:
        """The columns of the result that are attributes."""
        return column_names(self.plan.schema, (TICK, *self.own))

    def plain(self, frame: DataFrame) -> DataFrame:
        """A result with ticks and instants as numbers, and columns by their places."""
        return plain(frame, self.plan.schema, self.calendar, self.own)

    def last_of(self, inputs: Inputs, whole: AnswerType, until: int | None) -> int:
        """The last tick of which a stream says anything."""
        return inputs.until

    def rejected(self, inputs: Inputs) -> dict[str, dict[str, int]]:
        """How many messages the reference engine rejected, by stream and reason; a message of rows stops it."""
        return {name: dict(Counter(one.reason.value for one in aside)) for name, aside in inputs.aside.items()}

    def last_tick(self, options: RunOptions, sources: Mapping[str, DataFrame]) -> int | None:
        """Where a replay ends: with the last tick of any source if nobody says so."""
        return last_tick(options, sources)


def plain(frame: DataFrame, schema: Schema, calendar: Calendar, own: Sequence[str] = OWN[1:]) -> DataFrame:
    """A result with ticks as numbers and instants as microseconds, so that no time zone can bend them.

    Places and lines stay well-known texts, whose numbers are read as the floats that they were.
    """
    tick = TickTime(calendar).number() if TICK in frame.columns else F.lit(0).cast("long")
    columns: list[Column] = [tick.alias("t"), *(F.col(name) for name in own if name in frame.columns)]
    for place, (attribute, name) in enumerate(zip(schema, column_names(schema, (TICK, *own)), strict=True)):
        column = F.col(quoted(name))
        columns.append((F.unix_micros(column) if attribute.type is Type.TIMESTAMP else column).alias(f"c{place}"))
    return frame.select(*columns)


def last_tick(options: RunOptions, sources: Mapping[str, DataFrame]) -> int:
    """The last tick of a run, or of any source if nobody says so."""
    if options.until is not None:
        return options.until
    found = [frame.agg(F.max("v" if "v" in frame.columns else "t")).first()[0] for frame in sources.values()]
    return max([options.start, *(tick for tick in found if tick is not None)])
