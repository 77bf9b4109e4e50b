"""Made-up rows as Spark frames: the same rows as `read_generated` makes, in a batch and in a stream."""

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

from transom.catalog.extents import Extent
from transom.catalog.sources import Generate
from transom.connectors.generate.read import read_generated
from transom.errors import DataError, UsageError
from transom.model.bag import Element
from transom.model.time import Calendar
from transom.spark.available_now import SupportsTriggerAvailableNow, register
from transom.spark.clock import Span, completed
from transom.spark.types import spark_type

LONGEST = 10_000_000
"""How many ticks after the epoch a generator may follow the wall clock: it makes its rows from the beginning on."""

_NAME = "transom_generate"


@dataclass(frozen=True, slots=True)
class _Setting:
    extent: Extent
    calendar: Calendar
    until: int | None


def stream(
    spark: SparkSession, extent: Extent, calendar: Calendar, *, live: bool, position: bool, until: int | None = None
) -> DataFrame:
    """The generated rows of an extent: `t`, `c0`, ... and with `position` also `o`, the place in the stream.

    A live frame without `until` follows the wall clock: it holds the ticks that are over.
    """
    if not isinstance(extent.source, Generate):
        raise UsageError(f"{extent.name} is not generated")
    if until is None and not live:
        hint = "say until which tick, with until=600 or --until 600"
        raise UsageError(f"{extent.name} is generated without end", hint=hint)
    if until is None:
        _check_age(extent, completed(calendar))
    register(spark, GeneratedSource)
    words = base64.b64encode(pickle.dumps(_Setting(extent, calendar, until))).decode()
    reader = spark.readStream if live else spark.read
    frame = reader.format(_NAME).option("setting", words).load()
    return frame if position else frame.drop("o")


def _check_age(extent: Extent, tick: int) -> None:
    if tick > LONGEST:
        message = f"{extent.name} would be generated from tick 0 to now, which are {tick} ticks"
        raise DataError(message, hint="set `epoch` in the catalog to a time not long ago, or give until")


class GeneratedSource(DataSource):
    """Spark's way to a generator; `stream` makes it."""

    @classmethod
    def name(cls) -> str:
        """What the source is called in a format."""
        return _NAME

    def schema(self) -> StructType:
        """The columns of a source frame."""
        schema = StructType().add("t", LongType())
        for place, attribute in enumerate(self._setting().extent.schema):
            schema = schema.add(f"c{place}", spark_type(attribute.type))
        return schema.add("o", LongType())

    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader of a batch."""
        return GeneratedReader(self._setting())

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """The reader of a live frame."""
        return GeneratedStreamReader(self._setting())

    def _setting(self) -> _Setting:
        words = base64.b64decode(self.options["setting"])
        setting: _Setting = pickle.loads(words)  # noqa: S301 - written by `stream` in this process
        return setting


class GeneratedReader(DataSourceReader):
    """All rows up to the end."""

    def __init__(self, setting: _Setting) -> None:
        self._setting = setting

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        """The rows in order."""
        return _rows(self._setting, -1, self._setting.until or 0)


class GeneratedStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets are ticks; what lies between two offsets never changes.

    Trigger.AvailableNow pins the last tick when the query starts.
    """

    def __init__(self, setting: _Setting) -> None:
        self._setting = setting
        self._target: int | None = None

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """The tick before the first."""
        return {"tick": -1}

    def latestOffset(  # noqa: N802 - Spark's name
        self, start: Mapping[str, int] | None = None, limit: object = None
    ) -> dict[str, int]:
        """The end, or the last tick that is over by the wall clock; never back (Spark 4.1 gives no start)."""
        latest = self._last() if self._target is None else self._target
        return {"tick": max(latest, -1, start["tick"] if start else -1)}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Pin the last tick: ticks that end while the query runs belong to the next run."""
        self._target = self._last()

    def _last(self) -> int:
        """The end, or the last tick that is over by the wall clock."""
        if self._setting.until is not None:
            return self._setting.until
        latest = completed(self._setting.calendar)
        _check_age(self._setting.extent, latest)
        return latest

    def partitions(self, start: Mapping[str, int], end: Mapping[str, int]) -> list[Span]:
        """One partition, or none where nothing is new."""
        return [Span(start["tick"], end["tick"])] if start["tick"] < end["tick"] else []

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        """The rows after one tick, up to another."""
        return _rows(self._setting, partition.start, partition.end)


_made: dict[bytes, tuple[int, list[Element]]] = {}
"""The stream made last in this process, and up to which tick; only to save work."""


def _rows(setting: _Setting, start: int, end: int) -> Iterator[tuple[Any, ...]]:
    elements = _elements(setting, end)
    first = bisect_right(elements, start, key=lambda element: element.tick)
    last = bisect_right(elements, end, key=lambda element: element.tick)
    for element in elements[first:last]:
        yield (element.tick, *element.row, element.index)


def _elements(setting: _Setting, end: int) -> list[Element]:
    """The stream up to a tick or further: a signal depends on all values before, so it is made from the beginning."""
    key = pickle.dumps((setting.extent, setting.calendar))
    known = _made.get(key)
    if known is not None and known[0] >= end:
        return known[1]
    source = setting.extent.source
    if not isinstance(source, Generate):
        raise UsageError(f"{setting.extent.name} is not generated")
    reach = end if setting.until is not None else end + max(64, end // 8)
    elements = read_generated(setting.extent, source, setting.calendar, reach)
    _made.clear()
    _made[key] = (reach, elements)
    return elements
