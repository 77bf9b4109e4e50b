"""Generated rows as Spark DataFrames, batch and streaming, identical to those of `read_generated`."""

from __future__ import annotations

import base64
import pickle
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import LongType, StructType

from transom.catalog.extent import Extent
from transom.catalog.sources import Generator
from transom.connectors.generate.read import read_generated
from transom.errors import DataError, UsageError
from transom.model.bag import Element
from transom.model.time import Calendar
from transom.spark.columns import ORDER, TICK_NUMBER
from transom.spark.expressions.types import spark_type
from transom.spark.input.available_now import SupportsTriggerAvailableNow, register
from transom.spark.input.clock import TickRange, last_completed_tick

LONGEST = 10_000_000
"""Maximum ticks between epoch and wall clock for a live generator, which generates from tick 0."""

_NAME = "transom_generate"


@dataclass(frozen=True, slots=True)
class _GeneratorSettings:
    """The extent whose rows are generated, the calendar, and the last tick; None without an end."""

    extent: Extent
    calendar: Calendar
    until: int | None


def stream(
    spark: SparkSession, extent: Extent, calendar: Calendar, *, live: bool, with_order: bool, until: int | None = None
) -> DataFrame:
    """Generate the rows of a stream as a Spark DataFrame, streaming if `live`, up to tick `until` (None: endless).

    Its columns are `tick_number`, `c0`, ... and, if `with_order`, `row_order`. A live frame without `until` follows the
    wall clock and contains the completed ticks.
    """
    if not isinstance(extent.source, Generator):
        raise UsageError(f"{extent.name} is not generated")
    if until is None and not live:
        hint = "say until which tick, with --until 600 (until=600)"
        raise UsageError(f"{extent.name} is generated without end", hint=hint)
    if until is None:
        _check_age(extent, last_completed_tick(calendar))
    register(spark, GeneratedSource)
    encoded_settings = base64.b64encode(pickle.dumps(_GeneratorSettings(extent, calendar, until))).decode()
    reader = spark.readStream if live else spark.read
    frame = reader.format(_NAME).option("setting", encoded_settings).load()
    return frame if with_order else frame.drop(ORDER)


def _check_age(extent: Extent, tick: int) -> None:
    """Raise DataError if `tick` is too large for a live generator, which generates all rows from tick 0 on."""
    if tick > LONGEST:
        message = f"{extent.name} would be generated from tick 0 to now, which are {tick} ticks"
        raise DataError(message, hint="set `epoch` in the catalog to a time not long ago, or give until")


class GeneratedSource(DataSource):
    """The Spark data source of a generator; `stream` registers it."""

    @classmethod
    def name(cls) -> str:
        """The name by which Spark knows the data source of generated rows."""
        return _NAME

    def schema(self) -> StructType:
        """The columns of a frame of generated rows: `tick_number`, `c0`, ... and `row_order`."""
        schema = StructType().add(TICK_NUMBER, LongType())
        for index, attribute in enumerate(self._settings().extent.schema):
            schema = schema.add(f"c{index}", spark_type(attribute.type))
        return schema.add(ORDER, LongType())

    def reader(self, schema: StructType) -> DataSourceReader:
        """Create Spark's reader of generated rows for a batch query."""
        return GeneratedReader(self._settings())

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Create Spark's reader of generated rows for a streaming query."""
        return GeneratedStreamReader(self._settings())

    def _settings(self) -> _GeneratorSettings:
        """Decode the generator's settings from the Spark option in which `stream` has put them."""
        pickled = base64.b64decode(self.options["setting"])
        settings: _GeneratorSettings = pickle.loads(pickled)  # noqa: S301 - written by `stream` in this process
        return settings


class GeneratedReader(DataSourceReader):
    """Reads all rows up to the end, as a batch."""

    def __init__(self, settings: _GeneratorSettings) -> None:
        """Create the batch reader of the rows that a generator with these settings produces."""
        self._settings = settings

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        """Yield all generated rows as (tick, values..., row number), in order; there is one partition."""
        return _rows(self._settings, -1, self._settings.until or 0)


class GeneratedStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Streams generated rows; offsets are ticks, and the rows between two offsets never change.

    Trigger.AvailableNow pins the last tick when the query starts.
    """

    def __init__(self, settings: _GeneratorSettings) -> None:
        """Create the streaming reader of the rows that a generator with these settings produces."""
        self._settings = settings
        self._target: int | None = None

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """The offset before the first row: tick -1."""
        return {"tick": -1}

    def latestOffset(  # noqa: N802 - Spark's name
        self, start: Mapping[str, int] | None = None, limit: object = None
    ) -> dict[str, int]:
        """Return the last tick to read now: the last completed one or the generator's end, but at least `start`.

        It never decreases. Spark 4.1 passes no start.
        """
        latest = self._latest_tick() if self._target is None else self._target
        return {"tick": max(latest, -1, start["tick"] if start else -1)}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Fix the last tick of a Trigger.AvailableNow run to the current tick.

        Ticks that end while the query runs belong to the next run.
        """
        self._target = self._latest_tick()

    def _latest_tick(self) -> int:
        """Return the generator's last tick or, if it is endless, the last completed tick."""
        if self._settings.until is not None:
            return self._settings.until
        latest = last_completed_tick(self._settings.calendar)
        _check_age(self._settings.extent, latest)
        return latest

    def partitions(self, start: Mapping[str, int], end: Mapping[str, int]) -> list[TickRange]:
        """Return the ticks after offset `start` up to `end` as one partition; an empty list if there are none."""
        return [TickRange(start["tick"], end["tick"])] if start["tick"] < end["tick"] else []

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        """Yield the rows in a partition's ticks, in order, as (tick, values..., row number)."""
        return _rows(self._settings, partition.start, partition.end)


_element_cache: dict[bytes, tuple[int, list[Element]]] = {}
"""Cache of the last stream generated in this process, with its last tick."""


def _rows(settings: _GeneratorSettings, start: int, end: int) -> Iterator[tuple[Any, ...]]:
    """Yield the generated rows for the ticks after `start` up to `end`, as (tick, values..., row number)."""
    elements = _elements(settings, end)
    first = bisect_right(elements, start, key=lambda element: element.tick)
    last = bisect_right(elements, end, key=lambda element: element.tick)
    for element in elements[first:last]:
        yield (element.tick, *element.row, element.index)


def _elements(settings: _GeneratorSettings, end: int) -> list[Element]:
    """Generate the stream from tick 0 to at least `end`; it is cached, since generators can only begin at the start."""
    key = pickle.dumps((settings.extent, settings.calendar))
    cached = _element_cache.get(key)
    if cached is not None and cached[0] >= end:
        return cached[1]
    source = settings.extent.source
    if not isinstance(source, Generator):
        raise UsageError(f"{settings.extent.name} is not generated")
    last_tick = end if settings.until is not None else end + max(64, end // 8)
    elements = read_generated(settings.extent, source, settings.calendar, last_tick)
    _element_cache.clear()
    _element_cache[key] = (last_tick, elements)
    return elements
