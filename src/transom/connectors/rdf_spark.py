"""Statements on Spark, in Arrow batches: files and messages of the catalog's sources, and any column of payloads.

The plain reader reads each file whole, and each message alone. So ticks, terms, the order of statements and what is
rejected are those of the reference engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transom.catalog.extents import Extent
from transom.connectors.kafka.aside import Aside as DeadLetters
from transom.connectors.kafka.aside import dead_letters
from transom.connectors.rdf_payloads import SCHEMA, RdfReader, Stamped, arrow_batches, batches
from transom.errors import UsageError
from transom.model.rdf.answer import Aside
from transom.model.reasons import Reason
from transom.spark.balance import CountRead, uncounted
from transom.spark.statements import MESSAGES, PLACE

if TYPE_CHECKING:
    import pyarrow as pa

_WHERE = "place int, file string, row bigint"
_TOLD = "dead string, words string, at string"
_TERMS = "c0 string, c1 string, c2 string"
_LIST = f"{MESSAGES} array<struct<s: string, p: string, o: string, row: bigint>>"


class Part(NamedTuple):
    """What a file or a message gives: where it stands, from which row on, its statements, and what is rejected."""

    place: int
    file: str
    first: int
    statements: Sequence[Stamped]
    rejected: Sequence[Aside]


Read: TypeAlias = Callable[[dict[str, Any]], Part]
"""What reads a row of a frame that is a file or a message."""


def decoded(
    frame: DataFrame, extent: Extent, read: Read, *, letters: DeadLetters | None = None, count: CountRead = uncounted
) -> DataFrame:
    """Files or messages as a source frame `t c0 c1 c2 o`, and a row for each message that gave none.

    The reason is in `dead`, more in `words`, its place in `at`. Where the subjects of the stream are local, a row is
    all that a file or message says of a subject at a tick, in `statements`. With `letters`, messages that gave none
    become dead letters. `count` counts the statements, and the messages that gave none.
    """
    held, rows = (_LIST, F.coalesce(F.size(MESSAGES), F.lit(1))) if extent.local else (_TERMS, F.lit(1))
    shape = f"t bigint, {_WHERE}, {held}, {_TOLD}"
    found = count(frame.mapInArrow(partial(_decode, extent.local, read, letters), shape), rows)
    others = [name for name in found.columns if name not in PLACE]
    return found.select(*others, F.struct(*PLACE).alias("o"))


def _decode(
    local: bool, read: Read, letters: DeadLetters | None, given: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Batches of files or messages to batches of what stands in them; for `mapInArrow`."""
    import pyarrow as pa

    terms = [(name, pa.string()) for name in ("s", "p", "o")]
    flat = [(name, pa.string()) for name in ("c0", "c1", "c2")]
    held = [(MESSAGES, pa.list_(pa.struct([*terms, ("row", pa.int64())])))] if local else flat
    where = zip(PLACE, (pa.int32(), pa.string(), pa.int64()), strict=True)
    schema = pa.schema([("t", pa.int64()), *where, *held, *((name, pa.string()) for name in ("dead", "words", "at"))])
    with dead_letters(letters) as keep:
        for batch in given:
            reasons: list[str | None] = []
            parts = (_reasoned(read(entry), reasons) for entry in batch.to_pylist())
            yield from arrow_batches(chain.from_iterable(part_rows(one, local=local) for one in parts), schema)
            keep(batch, pa.array(reasons, pa.string()))


def _reasoned(part: Part, reasons: list[str | None]) -> Part:
    """A part; the reason why it gave no statements is added to those of the parts before it."""
    reasons.append(part.rejected[-1].reason.value if part.rejected else None)
    return part


def part_rows(part: Part, *, local: bool) -> Iterator[Sequence[object]]:
    """Statements as rows, or all of a subject and a tick as one; then what is rejected."""
    nothing = (None, None, None)
    if local:
        for number, tick, held in _by_subject(part):
            yield (tick, part.place, part.file, number, held, *nothing)
    else:
        for number, (tick, row) in enumerate(part.statements, part.first):
            yield (tick, part.place, part.file, number, *row, *nothing)
    for number, one in enumerate(part.rejected, part.first):
        none = (None,) if local else nothing
        yield (None, part.place, part.file, number, *none, one.reason.value, one.words, one.place)


def _by_subject(part: Part) -> Iterator[tuple[int, int, list[dict[str, object]]]]:
    """All that is said of a subject at a tick, with the number of its first statement and the tick."""
    found: dict[tuple[int, str], tuple[int, list[dict[str, object]]]] = {}
    for number, (tick, (s, p, o)) in enumerate(part.statements, part.first):
        found.setdefault((tick, s), (number, []))[1].append({"s": s, "p": p, "o": o, "row": number})
    for (tick, _), (first, held) in found.items():
        yield first, tick, held


def parse_payloads(frame: DataFrame, reader: RdfReader, payload: str = "payload", time: str | None = "t") -> DataFrame:
    """The statements of messages as rows `tick position s p o g`, terms as N-Triples writes them.

    `position` is the place of a statement in its message, and `g` is NULL for the default graph. `time` is the column
    that says when a message came, as a tick, a timestamp or text; None where messages state it themselves. A message
    that cannot be read is one row with its reason in `dead`, more in `words`, and itself in `payload`.
    """
    if time is None and reader.time is None:
        raise UsageError("these messages have no time", hint="name a column, or a predicate that states it")
    columns = [payload] if time is None else [payload, time]
    for name in columns:
        if name not in frame.columns:
            raise UsageError(f"no column {name}", hint=f"the columns are {', '.join(frame.columns)}")
    chosen = frame.select(*(F.col(f"`{name}`") for name in columns))
    return chosen.mapInArrow(partial(batches, reader, timed=time is not None), SCHEMA)


def only_statements(frame: DataFrame, name: str | None = None) -> DataFrame:
    """The statements of what `parse_payloads` gives, as queries take them; with `name`, the others are counted."""
    if name is not None:
        counted = [F.count_if(F.col("dead") == F.lit(reason.value)).alias(reason.name.lower()) for reason in Reason]
        frame = frame.observe(name, *counted)
    return frame.where(F.col("dead").isNull()).select("tick", "position", "s", "p", "o", "g")


def set_aside(frame: DataFrame) -> DataFrame:
    """The messages that `parse_payloads` could not read: `dead`, `words`, `payload`."""
    return frame.where(F.col("dead").isNotNull()).select("dead", "words", "payload")
