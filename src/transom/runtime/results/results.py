"""Results of a planned query: the part that rows and RDF share."""

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
from transom.physical.nodes.node import PhysicalNode
from transom.reference.sources import Inputs
from transom.runtime.options import RunOptions
from transom.spark.columns import TICK, TICK_NUMBER, VERSION, quoted
from transom.spark.event_time import TickTime
from transom.spark.result import RESULT_COLUMNS, column_names

AnswerType = TypeVar("AnswerType")
_PART_NAMES = {
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
    """The results of one planned query; `meta_columns` are those besides `tick` that are not attributes."""

    plan: PhysicalNode
    columns: tuple[str, ...]
    kind: Any
    calendar: Calendar
    meta_columns: ClassVar[tuple[str, ...]] = RESULT_COLUMNS[1:]

    @property
    def part_name(self) -> str:
        """The plural noun for the parts of an answer, such as tuples or solutions."""
        return _PART_NAMES[self.kind]

    @property
    def names(self) -> list[str]:
        """The names of the result's attribute columns, made distinct from each other and from `tick`."""
        return column_names(self.plan.schema, (TICK, *self.meta_columns))

    def plain(self, frame: DataFrame) -> DataFrame:
        """Convert a result so that it can be collected: ticks and timestamps become numbers, attributes c0, c1, ..."""
        return plain_frame(frame, self.plan.schema, self.calendar, self.meta_columns)

    def last_verified_tick(self, inputs: Inputs, answer: AnswerType, until: int | None) -> int:
        """Return the last tick that `verify` compares: that of `inputs`; `answer` and `until` matter only over RDF."""
        return inputs.until

    def rejected(self, inputs: Inputs) -> dict[str, dict[str, int]]:
        """Count the messages that the reference engine rejected, by stream and reason; bad rows raise an error."""
        return {
            name: dict(Counter(message.reason.value for message in messages))
            for name, messages in inputs.rejected.items()
        }

    def last_tick(self, options: RunOptions, sources: Mapping[str, DataFrame]) -> int | None:
        """Return the last tick of a replay: `until`, else the latest tick in any of the source DataFrames."""
        return last_tick(options, sources)


def plain_frame(
    frame: DataFrame, schema: Schema, calendar: Calendar, meta_columns: Sequence[str] = RESULT_COLUMNS[1:]
) -> DataFrame:
    """Convert a result to collectable values: instants as numbers, attributes as c0, c1, ...; keep `meta_columns`.

    Columns in `meta_columns` stay as they are. No time zone can shift such values. Points and lines stay well-known
    text, from which the same floats can be read again.
    """
    tick = TickTime(calendar).tick_number() if TICK in frame.columns else F.lit(0).cast("long")
    columns: list[Column] = [tick.alias(TICK_NUMBER), *(F.col(name) for name in meta_columns if name in frame.columns)]
    for number, (attribute, name) in enumerate(zip(schema, column_names(schema, (TICK, *meta_columns)), strict=True)):
        column = F.col(quoted(name))
        columns.append((F.unix_micros(column) if attribute.type is Type.TIMESTAMP else column).alias(f"c{number}"))
    return frame.select(*columns)


def last_tick(options: RunOptions, sources: Mapping[str, DataFrame]) -> int:
    """Return the last tick of a replay: `until`, else the latest in any source DataFrame, but at least `start`."""
    if options.until is not None:
        return options.until
    ticks = [
        frame.agg(F.max(VERSION if VERSION in frame.columns else TICK_NUMBER)).first()[0] for frame in sources.values()
    ]
    return max([options.start, *(tick for tick in ticks if tick is not None)])
