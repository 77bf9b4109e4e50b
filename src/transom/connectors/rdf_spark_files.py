"""Streams of statements from the catalog on Spark: each file is read whole, each message alone, by the plain reader.

So ticks, terms, the order of statements and what is set aside are those of the reference engine. Wherever Spark works,
the files must be there under the same paths.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.catalog.catalog import Catalog
from transom.catalog.rdf import Rdf, RdfExtent
from transom.catalog.servers import Kafka
from transom.connectors.files.paths import files_for_spark, find_files, spark_glob
from transom.connectors.kafka.aside import MESSAGE, Aside, dead_letters
from transom.connectors.kafka.spark import _messages as fetched
from transom.connectors.kafka.statements import read_message
from transom.connectors.rdf_files import read_file
from transom.errors import DataError, UsageError
from transom.model.rdf.spelling import encode
from transom.model.rdf.terms import IRI, BlankNode, Triple
from transom.model.time import Calendar
from transom.spark.balance import CountRead, uncounted
from transom.spark.columns import quoted, reserved

if TYPE_CHECKING:
    import pyarrow as pa

_Read: TypeAlias = Callable[[dict[str, Any], int], Iterator[Sequence[object]]]
"""The rows of a file or a message, so many columns wide."""
WHERE = (reserved("place"), reserved("file"), reserved("row"))
"""Columns of frames from files: the place of the file's pattern, the file, and the place of a statement in it."""
_PLACE, _FILE, _ROW = map(quoted, WHERE)
_TOLD = "dead string, words string, at string"
_WHERE = f"{_PLACE} int, {_FILE} string, {_ROW} bigint"
_STATEMENTS = f"tick bigint, {_WHERE}, s string, p string, o string, {_TOLD}"
_MESSAGES = f"tick bigint, {_WHERE}, statements array<struct<s: string, p: string, o: string, row: bigint>>, {_TOLD}"
_BINARY = "path string, modificationTime timestamp, length bigint, content binary"
_ROWS = 10_000
_ROOM = 1 << 21  # a message has at most one statement for each of its bytes
_FOREVER = "36500d"  # Spark would pass over files older than a week


def open_stream(
    spark: SparkSession,
    extent: RdfExtent,
    catalog: Catalog,
    *,
    live: bool,
    may_lose: bool = False,
    checkpoint: Path | None = None,
    count: CountRead = uncounted,
) -> DataFrame:
    """The statements of a stream, and a row for each message that gave none, with the reason in `dead`.

    Where the subjects of the stream are local, a row is a message: all that a file, or a message of a topic, says of a
    subject at a tick. Of a topic, `place` is the partition, `file` the topic, and `row` ascends with the offset. With
    `may_lose` a live one goes on where the broker has deleted messages before they were read. A run with a `checkpoint`
    puts the messages of a topic that gave none into its folder of dead letters. `count` counts the statements, and the
    messages that gave none.
    """
    shape, rows = (_MESSAGES, F.coalesce(F.size("statements"), F.lit(1))) if extent.local else (_STATEMENTS, F.lit(1))
    if extent.topic is not None:
        taken = fetched(spark, extent.topic, live=live, may_lose=may_lose).select(*MESSAGE)
        aside = None
        if live and checkpoint is not None:
            aside = Aside.of(extent, extent.topic, catalog.calendar, catalog.folder, checkpoint, waits=False)
        read: _Read = partial(_message_rows, extent, extent.topic, catalog.calendar)
        return count(taken.mapInArrow(partial(_batches, extent.local, read, aside=aside), shape), rows)
    if not extent.files:
        raise UsageError(f"no statements for {extent.name}", hint="give a DataFrame, or add files to the catalog")
    paths = _live(spark, extent, catalog.folder) if live else _still(spark, extent, catalog.folder)
    known = Catalog(catalog.calendar, rdf=Rdf({}, dict(catalog.rdf.prefixes)))
    read = partial(_file_rows, extent, known)
    return count(paths.mapInArrow(partial(_batches, extent.local, read), shape), rows)


def _still(spark: SparkSession, extent: RdfExtent, folder: Path | None) -> DataFrame:
    """The files that there are."""
    seen: set[str] = set()
    rows: list[tuple[int, str, str]] = []
    for place, pattern in enumerate(extent.files):
        found = [path for path in find_files([pattern], folder, extent.name) if path not in seen]
        seen.update(found)
        rows += [(place, os.path.abspath(path), path) for path in found]
    return spark.createDataFrame(rows, "place int, path string, called string")


def _live(spark: SparkSession, extent: RdfExtent, folder: Path | None) -> DataFrame:
    """The files that there are, and those that come."""
    seen: set[str] = set()
    frames: list[DataFrame] = []
    for place, pattern in enumerate(extent.files):
        found = files_for_spark(pattern, folder, extent.name, may_come=True)
        if seen.intersection(found):
            message = f"{pattern} for {extent.name} covers a file that another path covers"
            raise DataError(message, hint="write paths that share no file")
        seen.update(found)
        reader = spark.readStream.format("binaryFile").schema(_BINARY)
        reader = reader.option("recursiveFileLookup", "true").option("maxFileAge", _FOREVER)
        path = F.regexp_replace("path", "^file:(//)?", "")
        files = reader.load(spark_glob(pattern, folder))
        frames.append(files.select(F.lit(place).alias("place"), path.alias("path"), path.alias("called")))
    return reduce(DataFrame.union, frames)


def _batches(
    local: bool, read: _Read, given: Iterable[pa.RecordBatch], *, aside: Aside | None = None
) -> Iterator[pa.RecordBatch]:
    """Batches of files or messages to batches of what stands in them; for `mapInArrow`.

    With `aside`, the messages that gave no statements become dead letters.
    """
    import pyarrow as pa

    told = [(name, pa.string()) for name in ("dead", "words", "at")]
    one = [(name, pa.string()) for name in ("s", "p", "o")]
    held = [("statements", pa.list_(pa.struct([*one, ("row", pa.int64())])))] if local else one
    where = zip(WHERE, (pa.int32(), pa.string(), pa.int64()))
    schema = pa.schema([("tick", pa.int64()), *where, *held, *told])
    with dead_letters(aside) as keep:
        for batch in given:
            reasons: list[str | None] = []
            rows = chain.from_iterable(_reasoned(read(entry, len(schema)), reasons) for entry in batch.to_pylist())
            while some := list(islice(rows, _ROWS)):
                columns = [[row[place] for row in some] for place in range(len(schema))]
                arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)
            keep(batch, pa.array(reasons, pa.string()))


def _reasoned(rows: Iterator[Sequence[object]], reasons: list[str | None]) -> Iterator[Sequence[object]]:
    """The rows of one message; the reason why it gave no statements is added to those of the messages before it."""
    reason = None
    for row in rows:
        reason = row[-3]
        yield row
    reasons.append(reason)  # type: ignore[arg-type]


def _file_rows(extent: RdfExtent, catalog: Catalog, entry: dict[str, Any], width: int) -> Iterator[Sequence[object]]:
    """What one file gives; messages that gave nothing are called as people call their file."""
    place, path, called = entry["place"], entry["path"], entry["called"]
    statements, aside = read_file(extent, path, catalog)
    yield from _told(extent.local, place, path, statements)
    for number, one in enumerate(aside):
        where = called + one.place.removeprefix(path)
        yield (None, place, path, number, *[None] * (width - 7), one.reason.value, one.words, where)


def _message_rows(
    extent: RdfExtent, source: Kafka, calendar: Calendar, entry: dict[str, Any], width: int
) -> Iterator[Sequence[object]]:
    """What one message of a topic gives."""
    partition, offset, topic, first = entry["partition"], entry["offset"], source.topic, entry["offset"] * _ROOM
    statements, aside = read_message(extent, source, calendar, partition, offset, entry["timestamp"], entry["value"])
    yield from _told(extent.local, partition, topic, [(one.tick, one.triple) for one in statements], first)
    for one in aside:
        yield (None, partition, topic, first, *[None] * (width - 7), one.reason.value, one.words, one.place)


def _told(
    local: bool, place: int, path: str, statements: Sequence[tuple[int, Triple]], first: int = 0
) -> Iterator[Sequence[object]]:
    """Statements as rows, or all of a subject and a tick as one."""
    if not local:
        for number, (tick, triple) in enumerate(statements, first):
            yield (tick, place, path, number, *spelled(triple), None, None, None)
        return
    for number, tick, held in _messages(statements, first):
        yield (tick, place, path, number, held, None, None, None)


def _messages(
    statements: Sequence[tuple[int, Triple]], start: int = 0
) -> Iterator[tuple[int, int, list[dict[str, object]]]]:
    """All that is said of a subject at a tick, with the number of its first statement and the tick."""
    found: dict[tuple[int, IRI | BlankNode], tuple[int, list[dict[str, object]]]] = {}
    for number, (tick, triple) in enumerate(statements, start):
        held = found.setdefault((tick, triple.subject), (number, []))[1]
        held.append({**dict(zip("spo", spelled(triple), strict=True)), "row": number})
    for (tick, _), (first, held) in found.items():
        yield first, tick, held


def spelled(triple: Triple) -> tuple[str, str, str]:
    """The terms of a statement, as N-Triples writes them."""
    return encode(triple.subject), encode(triple.predicate), encode(triple.object)
